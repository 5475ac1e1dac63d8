// Whom a request waits for on a name (S33). It goes on when all of them do:
//   - the lockers of the holders that it conflicts with;
//   - those in front whom it will not overtake by policy and phase: until they are granted, and
//     where they are in its way then as well, until their lockers let go of that again.
// What ended sessions left counts for nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/locks/lock_table.hpp"
#include "core/locks/locker_book.hpp"
#include "core/locks/session_table.hpp"

namespace mortise::core {

struct WaitsFor {
    std::vector<OperationId> requests;
    std::vector<LockerId> lockers;  // tied ones only: the others go on
};

class WaitFinder {
public:
    WaitFinder(const LockTable& table, const SessionTable& sessions, const LockerBook& lockers)
        : table_{table}, sessions_{sessions}, lockers_{lockers} {}

    // `enough`: as many as it takes to know from whom all of them can be reached.
    enum class Extent : std::uint8_t { enough, all };
    // Requires that the request waits for that name. Adds to `steps` what it cost.
    [[nodiscard]] WaitsFor find(const std::string& name, OperationId request, Extent extent,
                                std::size_t& steps) const;

    // Null when it is over, or its session is.
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
