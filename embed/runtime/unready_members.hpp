// When an observer from outside leaves a member, which Remote and client nodes decide alike.
#pragma once

#include <chrono>
#include <cstddef>

#include "core/base/instant.hpp"
#include "transport/wire/client_messages.hpp"

namespace mortise::detail {

// A member that is gone without a word, or cut off from the others, is noticed after this time.
constexpr core::Nanoseconds observe_poll_time = std::chrono::seconds{5};
// Between two rounds in which no member answered.
constexpr core::Nanoseconds observe_round_pause = std::chrono::seconds{1};

// A member without a leader may have missed much. If none has one, the last one that was asked is
// as good as the others until it has told what it knows. After that each of them is asked again: it
// may be this one that never gets ready, for example because it was removed.
class UnreadyMembers {
public:
    [[nodiscard]] bool leaves(const transport::ObserveReply& reply, std::size_t members) {
        if (reply.is_ready) {
            left_ = 0;
            return false;
        }
        if (left_ + 1 < members) {
            ++left_;
            return true;
        }
        if (reply.events.empty() && !reply.more) left_ = 0;
        return false;
    }

private:
    std::size_t left_ = 0;  // members in turn that were not ready
};

}  // namespace mortise::detail
