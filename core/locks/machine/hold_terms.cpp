// The time limits of holds (S8, S9), which a quorum counts, and for which a hold stays in the way
// after it has ended: the effect on the table, and the outcomes for a session.
#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// --- closures -----------------------------------------------------------------------------------

void LockTable::begin_closure(const std::string& name, const Closure& closure) {
    auto& all = extras_[name].closures;
    all.insert(std::ranges::upper_bound(all, closure.id, {}, &Closure::id), closure);
    closures_[closure.id] = name;
    begun_closures_.push_back({name, closure});
    changes_.insert(name);
}

std::optional<LockTable::Closed> LockTable::find_closure(ClosureId id) const {
    const auto found = closures_.find(id);
    if (found == closures_.end()) return std::nullopt;
    const auto& all = extras_.at(found->second).closures;
    return Closed{found->second, *std::ranges::find(all, id, &Closure::id)};
}

template <class IsOver>
void LockTable::end_closures_if(const std::string& name, const IsOver& is_over) {
    const auto extras = extras_.find(name);
    if (extras == extras_.end()) return;
    std::erase_if(extras->second.closures, [&](const Closure& closure) {
        if (!is_over(closure)) return false;
        closures_.erase(closure.id);
        ended_closures_.push_back(closure.id);
        return true;
    });
    forget_extras(name);
}

// A hold that is gone is in nobody's way. A hold that has left is kept only by its own time limits,
// and a broken hold only by its node.
bool LockTable::is_over(const Grant* hold, const Closure& closure) {
    using enum Closure::Kind;
    if (hold == nullptr) return true;
    if (hold->left) return closure.kind == max_hold || closure.kind == broken;
    return hold->broken && closure.kind != broken;
}

// Thousands of holders may share a name, and many may leave at once: each is looked up in an index.
void LockTable::end_closures(const std::string& name) {
    if (extras_of(name) == nullptr) return;
    std::map<OperationId, const Grant*> holds;
    if (const auto* record = find(name)) {
        for (const auto& grant : record->holders())
            holds.emplace(grant.operation, &grant);
    }
    end_closures_if(name, [&](const Closure& closure) {
        const auto hold = holds.find(closure.hold);
        return is_over(hold == holds.end() ? nullptr : hold->second, closure);
    });
}

// The other holds' timers have not changed.
void LockTable::end_closures_of(const std::string& name, OperationId hold) {
    const auto* record = find(name);
    const auto* grant = record == nullptr ? nullptr : record->find(hold);
    end_closures_if(name, [&](const Closure& closure) {
        return closure.hold == hold && is_over(grant, closure);
    });
}

void LockTable::end_closure(const std::string& name, ClosureId id, Grants& grants) {
    const auto hold = find_closure(id)->closure.hold;
    end_closures_if(name, [&](const Closure& closure) { return closure.id == id; });
    changes_.insert(name);
    auto& record = records_.at(name);
    if (!record.find(hold)->left || is_kept(name, hold)) return;
    record.remove_left(hold);
    note_turn(name);
    settle({name}, grants);
}

bool LockTable::open(const std::string& name, FencingToken token) {
    const auto record = records_.find(name);
    if (record == records_.end()) return false;
    std::vector<OperationId> gone;
    for (const auto& grant : record->second.holders()) {
        if (grant.left && grant.token == token) gone.push_back(grant.operation);
    }
    for (const auto hold : gone)
        record->second.remove_left(hold);
    if (gone.empty()) return false;
    end_closures(name);
    note_turn(name);
    return true;
}

// --- of a hold ----------------------------------------------------------------------------------

// A shared hold that has left is charged to no session, but stays in the record all the same.
bool LockTable::is_left_by_too_many(const std::string& name, const HoldTerms& terms) const {
    if (terms.min_hold_ms == 0 && terms.lock_delay_ms == 0) return false;
    const auto* record = find(name);
    if (record == nullptr || record->holders().size() < left_max) return false;
    const auto left = std::ranges::count_if(
        record->holders(), [](const Grant& grant) { return grant.left.has_value(); });
    return static_cast<std::size_t>(left) >= left_max;
}

void LockTable::begin_terms(const std::string& name, const HoldTerms& terms, Grant& grant) {
    grant.terms = terms;
    grant.closures = newest_closure_.next();
    newest_closure_ = ClosureId{newest_closure_.raw() + closures_of_a_hold};
    if (terms.min_hold_ms == 0) return;
    constexpr auto kind = Closure::Kind::min_hold;
    begin_closure(name, {closure_of(grant.closures, kind), kind, grant.operation, index_,
                         terms.min_hold_ms, 0});
}

bool LockTable::count_max_hold(const std::string& name, OperationId hold, LogIndex known) {
    constexpr auto kind = Closure::Kind::max_hold;
    const auto& grant = *records_.at(name).find(hold);
    const auto id = closure_of(grant.closures, kind);
    if (grant.since > known) return false;
    if (!closures_.contains(id) && grant.is_held())
        begin_closure(name, {id, kind, hold, index_, grant.terms.max_hold_ms, 0});
    return true;
}

bool LockTable::is_kept(const std::string& name, OperationId hold) const {
    using enum Closure::Kind;
    const auto* extras = extras_of(name);
    return extras != nullptr && std::ranges::any_of(extras->closures, [&](const Closure& closure) {
               const bool keeps = closure.kind == min_hold || closure.kind == lock_delay;
               return keeps && closure.hold == hold;
           });
}

LockRecord::Keeps LockTable::keeps_on(const std::string& name) {
    return [this, &name](const Grant& grant, Predecessor how) {
        if (how != Predecessor::clean && grant.mode == LockMode::exclusive) value_is_dirty(name);
        return grant.terms.is_set() && stays_on(name, grant, how);
    };
}

// A break is meant to open the name.
bool LockTable::stays_on(const std::string& name, const Grant& grant, Predecessor how) {
    constexpr auto kind = Closure::Kind::lock_delay;
    if (how == Predecessor::broken) return false;
    if (how == Predecessor::expired && grant.terms.lock_delay_ms != 0) {
        begin_closure(name, {closure_of(grant.closures, kind), kind, grant.operation, index_,
                             grant.terms.lock_delay_ms, 0});
    }
    return is_kept(name, grant.operation);
}

// --- for a session ------------------------------------------------------------------------------

// The node should have ended the hold by its own clock. It is told in case it has not.
void LockMachine::end_max_hold(const LockTable::Closed& over, LockTable::Grants& grants) {
    const auto hold = over.closure.hold;
    auto& owner = *sessions_.change(hold.session);
    owner.broken.insert(hold.seq);
    cancel_upgrade(owner, over.name, hold);
    lose_name(hold, over.name);
    table_.take_off(over.name, {hold}, Predecessor::expired, grants);
}

}  // namespace mortise::core
