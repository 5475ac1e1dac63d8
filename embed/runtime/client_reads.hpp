// Reads of locks that a client node asks of its member (S46). They belong to no session, so they
// are asked again of the next member, until their time is over.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/agent/call.hpp"
#include "embed/runtime/entry_line.hpp"

namespace mortise::detail {

// Runs on the core thread.
class ClientReads {
public:
    // `answered` is called later, never from within a call.
    explicit ClientReads(std::function<void(core::CallAnswer)> answered)
        : answered_{std::move(answered)} {}

    void add(core::InspectCall call, core::Instant gives_up);
    // They are asked of this member from now on; null: of none.
    void use(std::shared_ptr<EntryLine> line);
    // Answers those whose time is over, and asks again what the member had no capacity for.
    void on_timer(core::Instant now);
    // On the steady clock.
    [[nodiscard]] core::Instant deadline() const;
    // None is answered any more.
    void clear() { reads_.clear(); }

private:
    struct Read {
        core::InspectCall call;
        core::Instant gives_up;
        std::vector<core::LockView> found{};  // of the pages so far
    };

    void ask_next();
    void ask(const Read& read);
    void take(core::CallTag tag, core::Result<transport::ListAnswer> answer);
    void take_page(Read& read, transport::ListReply page);
    void end(core::CallTag tag, core::CallAnswer answer);

    std::function<void(core::CallAnswer)> answered_;
    std::map<core::CallTag, Read> reads_;
    std::set<core::CallTag> asked_;  // of these, the ones without an answer; few at a time
    core::Instant ask_again_at_ = core::Instant::never();  // the member has no capacity until then
    std::shared_ptr<EntryLine> line_;
    // Answers to what was asked before do not count.
    std::shared_ptr<bool> asking_ = std::make_shared<bool>(true);
};

}  // namespace mortise::detail
