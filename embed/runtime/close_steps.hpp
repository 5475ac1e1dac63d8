// How far the close of a node has come: it releases what it holds, a member then hands its
// leadership over, and then nothing of it needs the network any more.
#pragma once

#include <functional>
#include <utility>

#include "core/agent/call.hpp"

namespace mortise::detail {

class CloseSteps {
public:
    // `done` is called by finish().
    void begin(std::function<void()> done) { done_ = std::move(done); }
    [[nodiscard]] bool is_awaited() const { return static_cast<bool>(done_); }

    // `owes_nothing`: nobody used a hold, and no call or release was under way. Then only idle
    // grants and the session end.
    void release(core::CallTag tag, bool owes_nothing) {
        releases_ = tag;
        owes_nothing_ = owes_nothing;
    }
    [[nodiscard]] bool is_closing() const { return releases_.is_set(); }
    // Whether this is the answer to the releases.
    [[nodiscard]] bool is_answer(core::CallTag answered) const {
        return releases_.is_set() && answered == releases_;
    }

    // The end of the session alone is worth no wait for members that are gone.
    [[nodiscard]] bool is_useless(bool is_heard) const {
        return is_awaited() && is_closing() && owes_nothing_ && !is_heard;
    }

    void hand_over() { is_handing_over_ = true; }
    [[nodiscard]] bool is_handing_over() const { return is_handing_over_; }

    // The last step, whether or not the others came before. `done` is called once.
    void finish() {
        is_handing_over_ = false;
        if (done_) std::exchange(done_, {})();
    }

private:
    // whom to tell that everything is done: from begin() to finish()
    std::function<void()> done_;
    // the call that releases everything: set by release()
    core::CallTag releases_;
    // nobody used a hold, and no call or release was under way: set by release()
    bool owes_nothing_ = false;
    // a transfer of the leadership is under way, or was not needed: from hand_over() to finish()
    bool is_handing_over_ = false;
};

}  // namespace mortise::detail
