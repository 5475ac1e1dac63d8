#include "core/observe/observer.hpp"

#include <set>
#include <utility>

#include "core/locks/machine/lock_machine.hpp"

namespace mortise::core {

namespace {

Origin origin_of(SessionId session, const LockMachine& machine) {
    const auto* origin = machine.views().origin_of(session);
    return origin == nullptr ? Origin{} : *origin;
}

NameState state_of(std::string_view name, const LockMachine& machine) {
    NameState state;
    state.name = name;
    if (const auto* record = machine.table().find(name)) {
        for (const auto& holder : record->holders()) {
            if (!holder.is_held()) continue;
            state.holders.push_back(holder.as_grant());
            state.nodes.push_back(machine.views().node_of(holder.operation.session));
            state.origins.push_back(origin_of(holder.operation.session, machine));
        }
    }
    if (const auto* value = machine.table().values().find(name)) state.value = *value;
    return state;
}

}  // namespace

void Observer::begin_anew() noexcept {
    position_ = {};
    is_reading_ = false;
    has_more_ = true;
}

void Observer::take(const ChangeRing& changes, const LockMachine& machine, ObserverBudget& budget,
                    std::vector<Observed>& told) {
    const Out out{budget, told};
    has_more_ = false;
    if (position_.is_foreign_to(changes.cluster())) begin_anew();
    if (is_ahead(changes)) return;
    if (!changes.has_all_after(position_)) begin_anew();
    if (!position_.is_set()) {
        has_more_ = out.is_full();
        if (has_more_) return;
        position_ = changes.end();
        is_reading_ = position_.is_set();  // no state was ever applied here
        told_to_.clear();
        if (is_reading_) out.tell({{}, Gap{}});
    }
    if (is_reading_) read(changes, machine, out);
    if (!is_reading_) follow(changes, machine, out);
}

void Observer::follow(const ChangeRing& changes, const LockMachine& machine, Out out) {
    auto at = changes.first_after(position_);
    for (; at < changes.size() && !out.is_full(); ++at) {
        const auto& entry = changes[at];
        --out.budget.looks;
        if (names_.has(entry.change.name)) {
            out.tell({entry.position, entry.change, origin_of(entry.change.hold.session, machine)});
        }
        position_ = entry.position;
    }
    has_more_ = at < changes.size();
    if (!has_more_) position_ = changes.end();
}

void Observer::read(const ChangeRing& changes, const LockMachine& machine, Out out) {
    has_more_ = true;
    if (!tell_again(changes, machine, out) || !read_page(machine, out)) return;
    out.tell({position_, StateComplete{}});
    is_reading_ = false;
}

// Tells the states of the names that were told and have changed since. False if there are more.
bool Observer::tell_again(const ChangeRing& changes, const LockMachine& machine, Out out) {
    auto at = changes.first_after(position_);
    std::set<std::string_view> changed;
    for (; at < changes.size() && out.budget.looks > 0 && changed.size() < out.budget.told; ++at) {
        const auto& entry = changes[at];
        --out.budget.looks;
        if (was_told(entry.change.name)) changed.insert(entry.change.name);
        position_ = entry.position;
    }
    for (const auto name : changed)
        out.tell({{}, state_of(name, machine)});
    if (at < changes.size()) return false;
    position_ = changes.end();
    return true;
}

// Tells the next names. False if there may be more, or no room for what follows them.
bool Observer::read_page(const LockMachine& machine, Out out) {
    const auto& records = machine.table().records();
    auto record = told_to_.empty() ? records.lower_bound(std::string_view{names_.prefix})
                                   : records.upper_bound(std::string_view{told_to_});
    for (; record != records.end() && names_.has((*record)->name()); ++record) {
        if (out.is_full()) return false;
        --out.budget.looks;
        told_to_ = (*record)->name();
        auto state = state_of(told_to_, machine);
        if (!state.holders.empty() || state.value) out.tell({{}, std::move(state)});
    }
    return !out.is_full();
}

}  // namespace mortise::core
