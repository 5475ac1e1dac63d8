#include "tests/spec/replay.hpp"

#include <algorithm>
#include <utility>

#include "tests/spec/mode_rules.hpp"
#include "tests/spec/words.hpp"

namespace mortise::spec {

using core::NameChange;
using core::Position;

namespace {

// What observers are told of a hold.
core::Grant as_told(core::Grant grant) {
    grant.terms = {};
    grant.closures = {};
    return grant;
}

core::Grant grant_of(const NameChange& change) {
    return {.operation = change.hold,
            .mode = change.mode,
            .token = change.token,
            .since = change.since,
            .label = change.label,
            .locker = change.locker,
            .cached_tokens = change.cached_tokens,
            .slots = change.slots};
}

// Holders of permits exclude each other from their slots (S15).
bool excludes(const core::Grant& holder, const NameChange& change) {
    if (holder.slots.empty() || change.slots.empty()) return clash(holder.mode, change.mode);
    return std::ranges::any_of(change.slots, [&](std::uint32_t slot) {
        return std::ranges::find(holder.slots, slot) != holder.slots.end();
    });
}

}  // namespace

std::string Replay::take(const core::Observed& told) {
    return std::visit([&](const auto& one) { return on(one, told.position); }, told.what);
}

std::string Replay::take(Position at, const NameChange& change) {
    return on(change, at);
}

std::string Replay::on(const core::Gap& /*gap*/, Position at) {
    names_.clear();
    position_ = {};
    is_complete_ = false;
    return at.is_set() ? "a gap has a position" : "";
}

std::string Replay::on(const core::NameState& state, Position at) {
    if (is_complete_) return "a state without a gap";
    Name name;
    for (const auto& holder : state.holders)
        name.holders.push_back(as_told(holder));
    name.value = state.value;
    names_[state.name] = std::move(name);
    return at.is_set() ? "a part of a state has a position" : "";
}

std::string Replay::on(const core::StateComplete& /*complete*/, Position at) {
    if (is_complete_) return "the end of no state";
    std::erase_if(names_, [](const auto& entry) { return entry.second.is_nothing(); });
    is_complete_ = true;
    position_ = at;
    return at.is_set() ? "" : "a complete state without a position";
}

std::string Replay::on(const NameChange& change, Position at) {
    if (!is_complete_) return "a change within a state";
    if (at <= position_) return "a change at " + to_text(at) + " after " + to_text(position_);
    position_ = at;
    const auto place = names_.try_emplace(change.name).first;
    auto wrong = changed(place->second, change);
    if (place->second.is_nothing()) names_.erase(place);
    if (!wrong.empty()) wrong += ": " + words(change.hold) + " on " + change.name;
    return wrong;
}

std::string Replay::changed(Name& name, const NameChange& change) {
    switch (change.kind) {
        case NameChange::Kind::granted: return granted(name, change);
        case NameChange::Kind::converted:
        case NameChange::Kind::published:
        case NameChange::Kind::released: return changed_hold(name, change);
        case NameChange::Kind::value_set:
        case NameChange::Kind::value_removed:
        case NameChange::Kind::value_dirty:
        case NameChange::Kind::value_consistent: return changed_value(name, change);
    }
    return "an unknown kind";
}

std::string Replay::granted(Name& name, const NameChange& change) {
    for (const auto& holder : name.holders) {
        if (holder.operation == change.hold) return "granted twice";
        if (excludes(holder, change)) return "P2: granted beside " + words(holder.mode);
    }
    if (change.since != position_.index) return "granted at another index";
    name.holders.push_back(grant_of(change));
    return {};
}

std::string Replay::changed_hold(Name& name, const NameChange& change) {
    const auto hold = std::ranges::find(name.holders, change.hold, &core::Grant::operation);
    if (hold == name.holders.end()) return "a hold changed that nobody has";
    const bool ends = change.kind == NameChange::Kind::released;
    if (ends != (change.how != core::Predecessor::none)) return "ended without a reason";
    if (ends) {
        const auto ended = grant_of(change);
        // A hold that is lost gets the name of its program, if it has no label (S23).
        if (hold->label.empty()) hold->label = ended.label;
        if (*hold != ended) return "another hold ended";
        name.holders.erase(hold);
    } else {
        *hold = grant_of(change);
    }
    return {};
}

std::string Replay::changed_value(Name& name, const NameChange& change) {
    if (change.kind == NameChange::Kind::value_set) {
        name.value = core::LockValue{change.bytes, change.version, change.dirty};
        return {};
    }
    if (!name.value) return "a value changed that is not there";
    if (change.kind == NameChange::Kind::value_removed) {
        name.value.reset();
        return {};
    }
    const bool dirty = change.kind == NameChange::Kind::value_dirty;
    if (std::exchange(name.value->dirty, dirty) == dirty) return "a value changed to what it was";
    return {};
}

std::string Replay::differs_from(const core::LockMachine& machine,
                                 const core::ObservedNames& names) const {
    Names present;
    for (const auto& record : machine.table().records()) {
        if (!names.has(record->name())) continue;
        Name name;
        for (const auto& holder : record->holders()) {
            if (holder.is_held()) name.holders.push_back(as_told(holder.as_grant()));
        }
        if (const auto* value = machine.table().values().find(record->name())) name.value = *value;
        if (!name.is_nothing()) present.emplace(record->name(), std::move(name));
    }
    std::string differing;
    for (const auto& [name, state] : present) {
        const auto known = names_.find(name);
        if (known == names_.end() || known->second != state) differing += " " + name;
    }
    for (const auto& [name, state] : names_) {
        if (!present.contains(name)) differing += " " + name;
    }
    return differing;
}

}  // namespace mortise::spec
