// What one change makes of a membership. Voters come and go by joint consensus (thesis 4.3): both
// the old and the new ones have to agree until that is committed, and then the old ones are left.
#pragma once

#include <cstdint>
#include <string>

#include "core/raft/configuration.hpp"

namespace mortise::core {

// Why a change is not begun. Nothing has happened then.
enum class MembershipRefusal : std::uint8_t {
    not_leader,          // ask the leader
    leader_not_ready,    // it is new, or handing over: ask again
    change_in_progress,  // ask again when that is done
    unknown_member,
    already_member,
    already_voter,
    not_connected,  // it has not said hello
    other_cluster,  // its directory belongs to another one
    not_caught_up,  // ask again later
    last_voter,
    would_lose_quorum,  // too many of those who would vote do not answer
    too_many_members,
    invalid_address,
    not_a_voter,                // and so nobody who could lead
    overtaken,                  // somebody else changed it meanwhile: look, and ask again
    too_old,                    // its version does not read what the log has
    not_allowed,                // the certificate of the node that asks does not allow it
    not_a_members_certificate,  // the newcomer's is neither a voter's nor a learner's
    not_a_voters_certificate,
};

// What somebody wants to be so. Asking for what is so already is not an error: it is done.
struct MembershipGoal {
    enum class Kind : std::uint8_t {
        learner,  // a member, at that address; a voter is one, too
        voter,
        gone,
        leader,
        address,  // a member is reached there, and stays what it is
    };

    Kind kind = Kind::learner;
    NodeId member;
    std::string address;  // of a learner, and of a member that moved

    friend bool operator==(const MembershipGoal&, const MembershipGoal&) = default;
};

// Of a goal that a configuration can reach, so not of a leader.
[[nodiscard]] bool is_reached(const MembershipGoal& goal, const Configuration& by);
// Worth waiting for.
[[nodiscard]] bool passes_by_itself(MembershipRefusal refusal);

// With this learner; of the same id at most one stays a learner.
[[nodiscard]] Configuration with_learner(Configuration before, const Member& learner);
// That member, in whatever it is, has that address. Who decides stays the same.
[[nodiscard]] Configuration with_address(Configuration before, NodeId id,
                                         const std::string& address);
// Joint: that learner votes, in the place of a voter with its id if there is one.
[[nodiscard]] Configuration with_promoted(Configuration before, NodeId learner);
// Without that id. Joint if it was a voter. Requires another voter.
[[nodiscard]] Configuration without_member(Configuration before, NodeId id);
// What is left of a joint one.
[[nodiscard]] Configuration without_outgoing(Configuration before);

}  // namespace mortise::core
