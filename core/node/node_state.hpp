// What a node finds on its disk at its start.
#pragma once

#include "core/base/ids.hpp"
#include "core/leases/countdowns.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

struct NodeState {
    RaftState raft;
    LockMachine machine;  // includes everything up to raft.applied
    SavedCountdowns countdowns;
    // Set if this directory belonged to a cluster but its log and state are gone. The node
    // bootstraps no other cluster; it follows, as a learner, when a leader of that cluster sends to
    // it.
    ClusterId former_cluster{};
};

}  // namespace mortise::core
