// What each locker holds and waits for: a search for deadlocks begins at lockers that do both
// (S33). It is derived from the operations of live sessions, and not part of the saved state.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "core/base/ids.hpp"

namespace mortise::core {

struct LockerId {
    SessionId session;
    std::uint64_t number = 0;  // zero: no locker

    friend constexpr bool operator==(const LockerId&, const LockerId&) = default;
    friend constexpr auto operator<=>(const LockerId&, const LockerId&) = default;
};

class LockerBook {
public:
    struct Operations {
        std::set<Seq> held;
        std::set<Seq> waiting;

        // It waits for something, and holds or wants something else: only such lockers are part of
        // a cycle.
        [[nodiscard]] bool is_tied() const {
            return !waiting.empty() && held.size() + waiting.size() > 1;
        }
    };

    // These have no effect if the locker's number is zero.
    void begin(LockerId locker, Seq operation);
    void grant(LockerId locker, Seq operation);
    void end(LockerId locker, Seq operation);
    void forget(SessionId session);

    // Null unless it is tied.
    [[nodiscard]] const Operations* find_tied(LockerId locker) const;
    [[nodiscard]] bool is_anybody_tied() const { return tied_ > 0; }

private:
    template <class Change>
    void change(LockerId locker, const Change& change);

    std::map<LockerId, Operations> lockers_;
    std::size_t tied_ = 0;
};

}  // namespace mortise::core
