// Changes of the membership, as a program or an operator asks for them. One at a time; each is
// answered once: with the index of the entry that it begins with, or with why not. What was
// accepted takes effect when that entry commits, unless this leader is deposed before.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/agent/call.hpp"

namespace mortise::core {

// As a learner. It must be running and connected: only it knows what its directory is.
struct AddMember {
    CallTag tag;
    NodeId id;
    std::string address;
};

// A learner that has caught up becomes a voter.
struct PromoteMember {
    CallTag tag;
    NodeId id;
};

// Voter or learner; the leader too, which then hands over.
struct RemoveMember {
    CallTag tag;
    NodeId id;
};

enum class MembershipRefusal : std::uint8_t {
    not_leader,          // ask the leader
    leader_not_ready,    // it is new, or handing over: ask again
    change_in_progress,  // ask again when that is done
    unknown_member,
    already_member,
    already_voter,
    not_connected,  // it has not said hello
    not_caught_up,  // ask again later
    last_voter,
    too_many_members,
    invalid_address,
};

struct MembershipAnswer {
    CallTag tag;
    std::variant<LogIndex, MembershipRefusal> result;
};

}  // namespace mortise::core
