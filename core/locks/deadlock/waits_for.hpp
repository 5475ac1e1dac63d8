// What a request waits for on a name (S33). It goes on when all of these do:
//   - the lockers of the holders that it conflicts with;
//   - the waiters in front that it will not overtake by policy and phase: until they are granted,
//     and if they conflict with it then, until their lockers release the name again.
// Traces of ended sessions do not count.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/locks/table/lock_table.hpp"
#include "core/locks/table/locker_book.hpp"
#include "core/locks/table/session_table.hpp"

namespace mortise::core {

struct WaitsFor {
    std::vector<OperationId> requests;
    std::vector<LockerId> lockers;  // only tied ones, because the others go on
};

class WaitFinder {
public:
    WaitFinder(const LockTable& table, const SessionTable& sessions, const LockerBook& lockers)
        : table_{table}, sessions_{sessions}, lockers_{lockers} {}

    // `enough`: as many as are needed so that all others can be reached from them.
    enum class Extent : std::uint8_t { enough, all };
    // The request must wait for that name. Adds its cost to `steps`.
    [[nodiscard]] WaitsFor find(std::string_view name, OperationId request, Extent extent,
                                std::size_t& steps) const;

    // Null if the operation or its session has ended.
    [[nodiscard]] const Operation* operation(OperationId id) const;
    [[nodiscard]] const LockerBook& lockers() const { return lockers_; }
    [[nodiscard]] const LockTable& table() const { return table_; }
    [[nodiscard]] const SessionTable& sessions() const { return sessions_; }

private:
    struct Asking;
    void add_holders(Asking& asking) const;
    void add_conversion(Asking& asking) const;
    void add_phase(Asking& asking) const;
    void add_ahead(Asking& asking, Extent extent) const;
    void add(Asking& asking, OperationId request, bool until_released) const;
    [[nodiscard]] bool is_live(OperationId id) const { return operation(id) != nullptr; }

    const LockTable& table_;
    const SessionTable& sessions_;
    const LockerBook& lockers_;
};

}  // namespace mortise::core
