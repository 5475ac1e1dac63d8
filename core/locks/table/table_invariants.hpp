// What holds of a lock table at every index:
//   (1) the modes of all holders of a name are pairwise compatible (P2);
//   (2) a name with waiters has a holder, or a request for all of several names leads its queue;
//       and no waiter could enter;
//   (3) no token is above the cluster's counter; exclusive grants of a name only grow (P1);
//   (4) a record has a holder, a waiter or a value (S37); a former holder in the way is a holder;
//   (5) a hold whose upgrade waits has the mode update, and is not alone (S27);
//   (6) a hold that was broken, or left early, stays exactly as long as a quorum timer keeps it
//       there (S8, S9, S24).
// While a name is being swept in parts, the second half of (2) does not apply to it.
#pragma once

#include <set>
#include <string_view>

#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

using NameViews = std::set<std::string_view>;

// All of them; `unfinished`: names that are swept in part.
void check_invariants(const LockTable& table, const NameViews& unfinished = {});
// (2) for requests for several names.
void check_groups(const LockTable& table, const NameViews& unfinished);
// (1)-(6) of one name, which must exist.
void check_name(const LockTable& table, std::string_view name, bool is_unfinished);

}  // namespace mortise::core
