// The membership changes that this node's program requested, until the cluster has answered. The
// leader stores nothing about them: this node first asks for the present state, unless the caller
// says what it saw, then requests the change on that basis, and repeats this until it is done. So
// leaders may change, and messages may be lost.
#pragma once

#include <optional>
#include <vector>

#include "core/agent/call.hpp"
#include "core/node/message.hpp"

namespace mortise::core {

constexpr std::size_t membership_calls_max = 64;  // beyond it, the oldest is dropped (P11)

class MembershipCalls {
public:
    struct Pacing {
        Nanoseconds give_up;    // after a reply
        Nanoseconds ask_again;  // after a request
    };
    // The state that this node knows by itself.
    struct View {
        std::optional<NodeId> leader;
        Term term;
        const Configuration& configuration;
        LogIndex index;           // of the configuration
        bool is_settled = false;  // committed, and not joint
    };

    MembershipCalls(BootEpoch epoch, Pacing pacing) : epoch_{epoch}, pacing_{pacing} {}

    [[nodiscard]] bool is_empty() const { return pending_.empty(); }
    [[nodiscard]] bool is_full() const { return pending_.size() >= membership_calls_max; }
    void add(ChangeCall call, Instant now);
    // Ends the call that has waited longest, in favour of a new one: many calls that wait for an
    // event that does not happen must not exclude one that could be done at once. There must be a
    // call.
    CallAnswer give_way();
    // A request that should go to the leader now; empty if there is none.
    std::optional<MembershipRequest> take_due(NodeId leader, Instant now);
    // The reply of `from`.
    void replied(NodeId from, const MembershipReply& reply, Instant now);
    // The node that was asked may never answer.
    void ask_all_again(Instant now);
    // The calls that have ended: by a reply, by the state that is known here, or by their deadline.
    std::vector<CallAnswer> take_finished(const View& view, Instant now);
    // Ends all calls with that error, except those that may have begun: their outcome is unknown.
    std::vector<CallAnswer> end_all(CallError error);

    // Without a leader no request can be sent.
    [[nodiscard]] Instant deadline(bool has_leader) const;

private:
    struct Pending {
        ChangeCall call;
        Instant ask_at;
        ChangeId id{};  // of the newest request
        NodeId asked{};
        bool is_open = false;  // no reply to that one yet
        LogIndex configuration{};
        Term term{};
        bool begun = false;  // the last reply said that it has begun
        // a request to change something got no reply, and will never get one
        bool uncertain = false;
        std::optional<MembershipRefusal> why{};
        std::optional<decltype(CallAnswer::result)> result{};
    };

    static void give_up_request(Pending& pending);
    static bool may_have_begun(const Pending& pending);
    static bool is_done(const Pending& pending, const View& view);
    static decltype(CallAnswer::result) overdue(const Pending& pending);
    static decltype(CallAnswer::result) ended_by(const Pending& pending, CallError error);

    BootEpoch epoch_;
    Pacing pacing_;
    std::uint64_t asked_ = 0;
    std::vector<Pending> pending_;
};

}  // namespace mortise::core
