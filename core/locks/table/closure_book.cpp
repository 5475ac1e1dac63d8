#include "core/locks/table/closure_book.hpp"

#include <algorithm>
#include <set>

#include "core/base/check.hpp"

namespace mortise::core {

namespace {

// A timer of a hold that is gone has no purpose. A hold that has ended is kept only by its min_hold
// and its lock_delay, and a broken hold only by the timer of the break.
bool is_over(const Holder* hold, const Closure& closure) {
    using enum Closure::Kind;
    if (hold == nullptr) return true;
    if (hold->has_left()) return closure.kind == max_hold || closure.kind == broken;
    return hold->broken && closure.kind != broken;
}

}  // namespace

ClosureId ClosureBook::take_numbers_of_a_hold() {
    const auto first = newest_.next();
    newest_ = ClosureId{newest_.raw() + closures_of_a_hold};
    return first;
}

void ClosureBook::begin(std::string_view name, const Closure& closure) {
    auto& all = by_name_.try_emplace(std::string{name}).first->second;
    all.insert(std::ranges::upper_bound(all, closure.id, {}, &Closure::id), closure);
    names_[closure.id] = name;
    begun_.push_back({std::string{name}, closure});
}

template <class IsOver>
void ClosureBook::end_if(std::string_view name, const IsOver& is_over) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return;
    std::erase_if(found->second, [&](const Closure& closure) {
        if (!is_over(closure)) return false;
        names_.erase(closure.id);
        ended_.push_back(closure.id);
        return true;
    });
    if (found->second.empty()) by_name_.erase(found);
}

void ClosureBook::end(std::string_view name, ClosureId id) {
    end_if(name, [&](const Closure& closure) { return closure.id == id; });
}

// Thousands of holders may share a name, and many may end at once. So each is looked up in
// an index.
void ClosureBook::end_over(std::string_view name, const LockRecord* record) {
    if (!by_name_.contains(name)) return;
    std::map<OperationId, const Holder*> holds;
    if (record != nullptr) {
        for (const auto& grant : record->holders())
            holds.emplace(grant.operation, &grant);
    }
    end_if(name, [&](const Closure& closure) {
        const auto hold = holds.find(closure.hold);
        return is_over(hold == holds.end() ? nullptr : hold->second, closure);
    });
}

// The other holds' timers have not changed.
void ClosureBook::end_over(std::string_view name, const LockRecord* record, OperationId hold) {
    if (!by_name_.contains(name)) return;
    const auto* grant = record == nullptr ? nullptr : record->find(hold);
    end_if(name,
           [&](const Closure& closure) { return closure.hold == hold && is_over(grant, closure); });
}

// --- reading ------------------------------------------------------------------------------------

std::optional<ClosureBook::Named> ClosureBook::find(ClosureId id) const {
    const auto found = names_.find(id);
    if (found == names_.end()) return std::nullopt;
    return Named{found->second, *std::ranges::find(of(found->second), id, &Closure::id)};
}

const ClosureBook::Closures& ClosureBook::of(std::string_view name) const {
    static const Closures none;
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? none : found->second;
}

bool ClosureBook::keeps(std::string_view name, OperationId hold) const {
    using enum Closure::Kind;
    return std::ranges::any_of(of(name), [&](const Closure& closure) {
        const bool keeps = closure.kind == min_hold || closure.kind == lock_delay;
        return keeps && closure.hold == hold;
    });
}

// --- loading and checking -----------------------------------------------------------------------

bool ClosureBook::restore(std::string_view name, Closures closures) {
    if (closures.empty()) return true;
    for (const auto& closure : closures) {
        if (!names_.emplace(closure.id, name).second) return false;
    }
    return by_name_.emplace(std::string{name}, std::move(closures)).second;
}

void ClosureBook::check_invariants() const {
    std::size_t closures = 0;
    for (const auto& [name, all] : by_name_) {
        MORTISE_CHECK(!all.empty());
        closures += all.size();
    }
    MORTISE_CHECK(closures == names_.size());
}

void ClosureBook::check(std::string_view name, const LockRecord& record,
                        const Closure& closure) const {
    using enum Closure::Kind;
    MORTISE_CHECK(names_.at(closure.id) == name && closure.id <= newest_);
    MORTISE_CHECK(!is_over(record.find(closure.hold), closure));
    const auto& hold = *record.find(closure.hold);
    if (closure.kind == broken) return MORTISE_CHECK(hold.broken);
    MORTISE_CHECK(hold.closures().is_set() &&
                  closure.id == closure_of(hold.closures(), closure.kind));
    if (closure.kind == lock_delay) MORTISE_CHECK(hold.left == Predecessor::expired);
}

void ClosureBook::check_name(std::string_view name, const LockRecord& record) const {
    std::set<OperationId> kept;
    for (const auto& closure : of(name)) {
        check(name, record, closure);
        if (closure.kind != Closure::Kind::max_hold) kept.insert(closure.hold);
    }
    for (const auto& hold : record.holders()) {
        MORTISE_CHECK(hold.is_held() || kept.contains(hold.operation));
        MORTISE_CHECK(!hold.broken || !hold.has_left());
        MORTISE_CHECK(hold.terms().is_set() == hold.closures().is_set());
        MORTISE_CHECK(hold.closures().raw() + closures_of_a_hold <= newest_.raw() + 1 ||
                      !hold.closures().is_set());
    }
}

}  // namespace mortise::core
