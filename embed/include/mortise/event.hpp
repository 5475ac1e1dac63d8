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
        ready,      // calls are answered
        not_ready,  // they are not, `text` says why
        became_leader,
        lost_leadership,
        leader_changed,   // `peer` leads now; 0: no node
        peer_up,          // `peer` is connected with this node
        peer_down,        // `peer` is not connected any more
        session_opened,   // `session`
        session_expired,  // `session`; its holds are lost
        hold_lost,        // `name`, `token`, `reason`
        not_held,         // `name` was unlocked by a thread that did not hold it
        // `took`: a step of this node took longer than 5 ms. At most one a second; Metrics counts
        // all of them.
        loop_overrun,
        // `took`: a callback of the program took longer than 10 ms. At most one in ten seconds.
        slow_callback,
        stopped,  // the node failed, `text` says why; the last event. Not sent after close()
        members_changed,  // `text` lists the members; member_added and so on say what is different
        removed,          // this node was removed from its cluster
        // `name`, `token`; node `peer` asked for it, for the user `asked_by` if there is one;
        // `text` is the reason. Sent only for names that this node may observe.
        lock_broken,
        certificate_expires,  // within 30, 7 or 1 days, or it has expired; `text` names it
        member_added,         // `peer` is a member now, at the address `text`
        member_removed,       // `peer` is no member any more
        // The node takes no part for now, and its holds are lost: its disk is full, or it has no
        // descriptors or threads left. `text` says why, and `error` is
        // std::errc::no_space_on_device or std::errc::too_many_files_open; or its data directory
        // was rolled back, without `error`.
        suspended,
        resumed,  // the node takes part again; `ready` follows
        // `peer` is configured with other times than this node, which `text` lists; empty: with the
        // same times again
        timing_differs,
        // See ObservabilityConfig. `name`, `token`, `label`; `took` is how long it has been held.
        // `text` has all of it, and how many wait.
        slow_hold,
        // `name` and `label` of the request; `took` is how long it has waited. Node `peer` holds
        // the name with the token `token`, if somebody does and this node may observe it. `text`
        // has all of it.
        long_wait,
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
    std::string label{};     // of the hold or of the request: AcquireOptions::label

    friend bool operator==(const NodeEvent&, const NodeEvent&) = default;
};

[[nodiscard]] std::string_view to_string(NodeEvent::Kind kind) noexcept;

}  // namespace mortise
