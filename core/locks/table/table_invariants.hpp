// The invariants of a lock table, which are true at every index:
//   (1) the modes of all holders of a name are pairwise compatible, and a slot of a semaphore has
//       one holder (P2, S15);
//   (2) a name with waiters has a holder, or a request for all of several names leads its queue,
//       or the first waiter of a semaphore wants more permits than there are; and no waiter could
//       be granted;
//   (3) no token is above the cluster's counter; the tokens of a name's exclusive grants ascend
//       (P1);
//   (4) a record has a holder, a waiter, a value or a limit that was changed (S37); a former holder
//       counts as a holder;
//   (5) a hold whose upgrade waits has the mode update or shared, and is not alone (S27);
//   (6) a hold that was broken, or ended early, stays exactly as long as a quorum timer keeps it
//       there (S8, S9, S24);
//   (7) the waiters of a semaphore ask for permits of it alone, and it has no value (S34).
// While a name is being swept in parts, the second half of (2) does not apply to it.
#pragma once

#include <set>
#include <string_view>

#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

using NameViews = std::set<std::string_view>;

// Checks all of them. `unfinished` has the names that are swept in part.
void check_invariants(const LockTable& table, const NameViews& unfinished = {});
// Checks (2) for requests for several names.
void check_groups(const LockTable& table, const NameViews& unfinished);
// Checks (1)-(6) for one name, which must exist.
void check_name(const LockTable& table, std::string_view name, bool is_unfinished);

}  // namespace mortise::core
