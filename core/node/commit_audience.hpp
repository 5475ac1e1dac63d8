// Which nodes have to learn of a commit at once: those that wait for what it decided, or whose
// holds it concerns. The others learn of it with the next entry or heartbeat, so that an entry of
// one caller costs the other nodes nothing but the entry.
#pragma once

#include <cstddef>
#include <set>

#include "core/locks/machine/lock_machine.hpp"
#include "core/node/effects.hpp"
#include "core/node/session_members.hpp"

namespace mortise::core {

struct CommitAudience {
    bool everybody = false;
    std::set<NodeId> nodes;  // if not everybody
};

// The entry was applied to the machine just now; the cluster has that many members.
[[nodiscard]] CommitAudience audience_of(const Applied& applied, const LockMachine& machine,
                                         const SessionMembers& session_members,
                                         std::size_t members);

}  // namespace mortise::core
