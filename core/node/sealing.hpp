// Which entries a leader seals, so that no voter forgets them once they are acknowledged, and when
// it raises the ceiling of tokens (docs/decisions/0095).
#pragma once

#include "core/base/ids.hpp"

namespace mortise::core {

class LockMachine;
class Raft;

struct Sealing {
    // An entry is sealed if one of its commands has to be. False: the cluster syncs everything.
    bool is_on = false;
    bool of_all = false;  // and so is every other entry: it might grant tokens above the ceiling
    FencingToken raise_to{};  // set: the next entry raises the ceiling to this token
};

// Returns how a leader seals its next entries. `raised_to` is the ceiling of its newest entry that
// raises it, which may not be applied yet.
[[nodiscard]] Sealing sealing_of(const Raft& raft, const LockMachine& machine,
                                 FencingToken raised_to);

}  // namespace mortise::core
