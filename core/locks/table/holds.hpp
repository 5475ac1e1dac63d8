// How holds begin, change and end on the record of a name, with their effect on the token, the time
// limits (S8, S9), and the value, which a lost holder may have left half changed (S36). Each of
// these changes is noted for observers (S46).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/locks/outcome.hpp"
#include "core/locks/table/closure_book.hpp"
#include "core/locks/table/lock_record.hpp"
#include "core/locks/table/name_changes.hpp"
#include "core/locks/table/value_book.hpp"
#include "core/locks/table/wait_queue.hpp"

namespace mortise::core {

// The answers `granted` and `converted`, for operations that waited and for a new one.
using Grants = std::vector<Answered>;

class Holds {
public:
    // Called before the commands of that entry.
    void begin(LogIndex index) { index_ = index; }

    // The waiter gets the name, which must admit it.
    FencingToken grant(std::string_view name, LockRecord& record, const Waiter& waiter);
    void grant(std::string_view name, LockRecord& record, const Waiter& waiter, Grants& grants);
    // The hold is exclusive from now on, with a new token.
    FencingToken convert(std::string_view name, LockRecord& record, OperationId hold);
    // The hold keeps its token in this mode, which its present one covers.
    void lower(std::string_view name, LockRecord& record, OperationId hold, LockMode mode);
    // The cached grant is an ordinary one from now on.
    void publish(std::string_view name, LockRecord& record, OperationId hold, const Publish& as);
    // Ends the hold, which may still block the name for a time. False if there is none.
    bool release(std::string_view name, LockRecord& record, OperationId hold, Predecessor how);
    // Ends all holds for which `left` has a result.
    void release_if(std::string_view name, LockRecord& record, const LockRecord::Left& left);
    // Marks the hold as broken. It blocks the name for the time that the renewal at `since` gave to
    // the session.
    void mark_broken(std::string_view name, LockRecord& record, OperationId hold, LogIndex since,
                     const OpenSession& session);
    // Removes former holders with this token that still block the name. False if there are none.
    bool remove_left(std::string_view name, LockRecord& record, FencingToken token);
    // Begins the count of its max_hold, and returns true, unless it is counted already.
    bool count_max_hold(std::string_view name, const Holder& hold);
    // Writes of the value by this holder; see ValueBook.
    bool set_value(std::string_view name, const Holder& by, std::string bytes);
    bool mark_consistent(std::string_view name, const Holder& by);

    [[nodiscard]] ClosureBook& closures() { return closures_; }
    [[nodiscard]] const ClosureBook& closures() const { return closures_; }
    [[nodiscard]] ValueBook& values() { return values_; }
    [[nodiscard]] const ValueBook& values() const { return values_; }
    [[nodiscard]] NameChanges& changes() { return changes_; }
    // Returns whether the name has a value or a timer, and so is kept without holders and waiters
    // (S37).
    [[nodiscard]] bool has_more(std::string_view name) const {
        return values_.find(name) != nullptr || !closures_.of(name).empty();
    }
    [[nodiscard]] FencingToken newest_token() const { return newest_token_; }
    void restore_newest(FencingToken token) { newest_token_ = token; }

private:
    void begin_terms(std::string_view name, const HoldTerms& terms, Grant& grant);
    void begin_cached(LockRecord& record, std::uint32_t tokens, Grant& grant);
    // Valid as long as `name` exists.
    [[nodiscard]] LockRecord::Keeps keeps_on(const std::string_view& name);
    bool stays_on(std::string_view name, const Holder& holder, Predecessor how);
    void note_end(std::string_view name, const Holder& holder, Predecessor how);
    void mark_dirty(std::string_view name, const Holder& lost);

    ClosureBook closures_;
    ValueBook values_;
    NameChanges changes_;
    FencingToken newest_token_;
    LogIndex index_;
};

// Returns whether the operation holds the name exclusively, and was not broken.
[[nodiscard]] bool holds_alone(const LockRecord* record, OperationId hold);

}  // namespace mortise::core
