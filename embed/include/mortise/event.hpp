// What a program can be told as it happens, of its own node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <mortise/duration.hpp>
#include <mortise/enums.hpp>
#include <mortise/fencing_token.hpp>
#include <mortise/node_id.hpp>

namespace mortise {

struct NodeEvent {
    enum class Kind : std::uint8_t {
        ready,
        not_ready,
        became_leader,
        lost_leadership,
        leader_changed,   // `peer` leads now; 0: nobody
        peer_up,          // `peer`
        peer_down,        // `peer`
        session_opened,   // `session`
        session_expired,  // `session`; its holds are lost
        hold_lost,        // `name`, `token`, `reason`
        not_held,         // `name` was unlocked by somebody who did not hold it
        loop_overrun,     // `took`: this node was late with everything
        slow_callback,    // `took`: the program kept a callback of its own
        stopped,          // the node failed, `text` says why; the last event. Not after close()
        members_changed,  // `text` says who is one now
        removed,          // this node is not a member of its cluster any more
        lock_broken,      // `name`, `token`; by node `peer`, on behalf of `asked_by`, if
                          // anybody, who says why in `text`. Of names that this node may observe
        certificate_expires,  // within 30, 7 or 1 days, or it has expired; `text` says which
    };

    Kind kind = Kind::ready;
    std::string text{};  // one line for a person, where the other members do not say it all
    NodeId peer = 0;
    SessionId session = 0;
    std::string name{};
    FencingToken token{};
    LossReason reason = LossReason::none;
    std::error_code error{};
    Duration took{};
    std::string asked_by{};  // "user alice": an operator, with TLS

    friend bool operator==(const NodeEvent&, const NodeEvent&) = default;
};

[[nodiscard]] std::string_view to_string(NodeEvent::Kind kind) noexcept;

}  // namespace mortise
