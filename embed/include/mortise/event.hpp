// Events of its own node that a program can subscribe to.
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
        leader_changed,   // `peer` leads now; 0: no node
        peer_up,          // `peer`
        peer_down,        // `peer`
        session_opened,   // `session`
        session_expired,  // `session`; its holds are lost
        hold_lost,        // `name`, `token`, `reason`
        not_held,         // `name` was unlocked by a thread that did not hold it
        loop_overrun,     // `took`: a step of this node took too long
        slow_callback,    // `took`: a callback of the program took too long
        stopped,  // the node failed, `text` says why; the last event. Not sent after close()
        members_changed,  // `text` lists the members
        removed,          // this node was removed from its cluster
        // `name`, `token`; node `peer` asked for it, for the user `asked_by` if there is one;
        // `text` is the reason. Sent only for names that this node may observe.
        lock_broken,
        certificate_expires,  // within 30, 7 or 1 days, or it has expired; `text` names it
    };

    Kind kind = Kind::ready;
    std::string text{};  // one line for a person, if the other members do not express everything
    NodeId peer = 0;
    SessionId session = 0;
    std::string name{};
    FencingToken token{};
    LossReason reason = LossReason::none;
    std::error_code error{};
    Duration took{};
    std::string asked_by{};  // "user alice": the operator, with TLS

    friend bool operator==(const NodeEvent&, const NodeEvent&) = default;
};

[[nodiscard]] std::string_view to_string(NodeEvent::Kind kind) noexcept;

}  // namespace mortise
