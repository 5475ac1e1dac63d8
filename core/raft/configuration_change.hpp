// The effect of one change on a configuration. Voters change by joint consensus (thesis 4.3): the
// old and the new ones both have to agree until the change is committed, and then the old ones are
// removed.
#pragma once

#include <cstdint>
#include <string>

#include "core/raft/configuration.hpp"

namespace mortise::core {

// The reason why a change was not begun. The request then has no effect.
enum class MembershipRefusal : std::uint8_t {
    not_leader,          // ask the leader
    leader_not_ready,    // it is new, is transferring leadership, or was removed: ask again
    change_in_progress,  // ask again when that change is done
    unknown_member,
    already_member,
    already_voter,
    not_connected,  // it has not said hello
    other_cluster,  // its directory belongs to another one
    not_caught_up,  // ask again later
    last_voter,
    would_lose_quorum,  // too few of the new voters answer at present
    too_many_members,
    invalid_address,
    not_a_voter,                // so it could not lead
    overtaken,                  // another change was made meanwhile: look, and ask again
    too_old,                    // its version cannot read the log
    not_allowed,                // the certificate of the node that asks does not allow it
    not_a_members_certificate,  // the new node's certificate is not that of a voter or learner
    not_a_voters_certificate,
};

// The requested result of a change. A result that is already reached is not an error.
struct MembershipGoal {
    enum class Kind : std::uint8_t {
        learner,  // there is a member at that address; a voter counts, too
        voter,
        gone,
        leader,
        address,  // the member has that address, and keeps its role
    };

    Kind kind = Kind::learner;
    NodeId member;
    std::string address;  // for a learner, and for a member that moved

    friend bool operator==(const MembershipGoal&, const MembershipGoal&) = default;
};

// Returns whether the configuration shows the result. It cannot show who leads, so for that goal
// the answer is false.
[[nodiscard]] bool is_reached(const MembershipGoal& goal, const Configuration& by);
// Returns whether the same request may succeed later.
[[nodiscard]] bool passes_by_itself(MembershipRefusal refusal);

// Adds the learner. A learner with the same id is replaced.
[[nodiscard]] Configuration with_learner(Configuration before, const Member& learner);
// Changes the address of the member. The voters stay the same.
[[nodiscard]] Configuration with_address(Configuration before, NodeId id,
                                         const std::string& address);
// Makes the learner a voter, which replaces a voter with its id if there is one. The result is
// joint.
[[nodiscard]] Configuration with_promoted(Configuration before, NodeId learner);
// Removes the members with that id. The result is joint if one of them was a voter. There must be
// another voter.
[[nodiscard]] Configuration without_member(Configuration before, NodeId id);
// Leaves only the new part of a joint configuration.
[[nodiscard]] Configuration without_outgoing(Configuration before);

}  // namespace mortise::core
