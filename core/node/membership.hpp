// Single steps of a leader, begun by hand: what programs ask for is a ChangeCall. One at a time;
// each is answered once: with the index of the entry that it begins with, or with why not. What was
// accepted takes effect when that entry commits, unless this leader is deposed before.
#pragma once

#include <string>
#include <variant>

#include "core/agent/call.hpp"
#include "core/raft/configuration_change.hpp"

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

struct MembershipAnswer {
    CallTag tag;
    std::variant<LogIndex, MembershipRefusal> result;
};

}  // namespace mortise::core
