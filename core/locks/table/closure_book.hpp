// The quorum timers of all names (closures; S8, S9, S24): their numbers, which of them run, and
// which have ended because their hold is gone or has changed.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/locks/name_extras.hpp"
#include "core/locks/table/lock_record.hpp"

namespace mortise::core {

class ClosureBook {
public:
    struct Named {
        std::string name;
        Closure closure;
    };
    using Closures = std::vector<Closure>;

    // Returns the number for the timer of a broken hold.
    ClosureId take_number() { return newest_ = newest_.next(); }
    // Returns the first of the numbers for the time limits of a new hold; see closure_of().
    ClosureId take_numbers_of_a_hold();
    void begin(std::string_view name, const Closure& closure);
    // The timer must be running.
    void end(std::string_view name, ClosureId id);
    // Ends the timers of that name, or of one of its holds, that have no effect any more because
    // their hold is gone or has changed. Ends all of them if `record` is null.
    void end_over(std::string_view name, const LockRecord* record);
    void end_over(std::string_view name, const LockRecord* record, OperationId hold);

    [[nodiscard]] bool has(ClosureId id) const { return names_.contains(id); }
    // Empty if it does not run.
    [[nodiscard]] std::optional<Named> find(ClosureId id) const;
    // Oldest first.
    [[nodiscard]] const Closures& of(std::string_view name) const;
    // Returns whether a timer lets that hold block the name after its end.
    [[nodiscard]] bool keeps(std::string_view name, OperationId hold) const;
    using ByName = std::map<std::string, Closures, std::less<>>;  // names that have some
    [[nodiscard]] const ByName& all() const { return by_name_; }
    [[nodiscard]] ClosureId newest() const { return newest_; }

    // The timers that began or ended since the last call. Those that ended need not be counted any
    // more.
    [[nodiscard]] std::vector<Named> take_begun() { return std::exchange(begun_, {}); }
    [[nodiscard]] std::vector<ClosureId> take_ended() { return std::exchange(ended_, {}); }

    // For loading. False if one of them is known: then the book is invalid.
    bool restore(std::string_view name, Closures closures);
    void restore_newest(ClosureId id) { newest_ = id; }

    // Every timer belongs to the name under which it is kept, and to a hold of that name. A hold
    // that was broken, or ended early, stays in the record exactly as long as a timer keeps it
    // there.
    void check_invariants() const;
    void check_name(std::string_view name, const LockRecord& record) const;

private:
    template <class IsOver>
    void end_if(std::string_view name, const IsOver& is_over);
    void check(std::string_view name, const LockRecord& record, const Closure& closure) const;

    ByName by_name_;
    std::map<ClosureId, std::string> names_;  // the name of each
    std::vector<Named> begun_;
    std::vector<ClosureId> ended_;
    ClosureId newest_;
};

}  // namespace mortise::core
