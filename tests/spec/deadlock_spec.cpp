// Circles of waits (S33), as the rule reads: who waits for whom is found out anew after each
// command, and whoever can never go on is looked at for circles.
//
// What the rule leaves open is decided here:
//   - "earlier" and "first" mean the order in which a queue is served (S29, S31); the places of the
//     dead keep that order as it is until they are cleared;
//   - an upgrade is in front of everybody, and the first writer while it waits;
//   - who is refused at once is not queued first;
//   - of several circles one that waits for no other is opened first: that may be enough;
//   - the circle that is told is the shortest of whoever is refused, and of several that of the
//     oldest requests, the next one first; a wait is told at the first name in byte order.
#include <algorithm>
#include <deque>

#include "core/locks/limits.hpp"
#include "tests/spec/lock_spec.hpp"
#include "tests/spec/mode_rules.hpp"

namespace mortise::spec {

using core::CircleStep;
using core::LockMode;
using core::OperationId;

bool LockSpec::is_anybody_tied() const {
    const auto of_locker = [](const auto& party, const LockerKey& locker) {
        return party.locker.is_set() && party.operation.session == locker.first &&
               party.locker.number == locker.second;
    };
    return std::ranges::any_of(waits_, [&](const Wait& wait) {
        if (!wait.waiting.locker.is_set()) return false;
        const LockerKey locker{wait.waiting.operation.session, wait.waiting.locker.number};
        const auto has = [&](const Hold& hold) { return of_locker(hold.grant, locker); };
        const auto wants = [&](const Wait& one) {
            return of_locker(one.waiting, locker) &&
                   one.waiting.operation != wait.waiting.operation;
        };
        return std::ranges::any_of(holds_, has) || std::ranges::any_of(waits_, wants);
    });
}

// --- who waits for whom ---------------------------------------------------------------------

// In the stretches before the last barrier everybody, in its own whoever is served before.
LockSpec::Queue LockSpec::in_front_of(const Wait& wait) const {
    Queue front;
    Queue stretch;
    const auto& record = *std::ranges::find(records_, wait.name, &Record::name);
    for (const auto* one : queue(wait.name)) {
        const bool is_later = one->number > wait.number;
        if (one->part == Part::all_of && is_later) break;
        if (wait.part == Part::all_of && !(one->number < wait.number)) break;
        if (one->part == Part::all_of) {
            const auto sorted = as_served(record, std::move(stretch));
            front.insert(front.end(), sorted.begin(), sorted.end());
            front.push_back(one);
            stretch.clear();
        } else {
            stretch.push_back(one);
        }
    }
    for (const auto* one : as_served(record, std::move(stretch))) {
        if (one->number == wait.number) break;
        front.push_back(one);
    }
    std::erase_if(front,
                  [&](const Wait* one) { return live(one->waiting.operation.session) == nullptr; });
    return front;
}

LockSpec::Blockers LockSpec::blockers(const Wait& wait) const {
    Blockers found;
    add_holders(wait, found);
    if (!wait.waiting.upgrades.is_set()) add_front(wait, found);
    return found;
}

void LockSpec::add_holders(const Wait& wait, Blockers& found) const {
    for (const auto& holder : holders(wait.name)) {
        const auto session = holder.operation.session;
        const bool is_own_hold = session == wait.waiting.operation.session &&
                                 holder.operation.seq == wait.waiting.upgrades;
        const bool is_lost = holder.broken || live(session) == nullptr;
        const bool counts = holder.locker.is_set() && !is_lost;
        if (!counts || is_own_hold || !clash(holder.mode, wait.waiting.mode)) continue;
        found.lockers.insert({session, holder.locker.number});
    }
}

void LockSpec::add_front(const Wait& wait, Blockers& found) const {
    const auto& record = *std::ranges::find(records_, wait.name, &Record::name);
    const auto mode = wait.waiting.mode;
    const auto front = in_front_of(wait);
    const Wait* upgrade = nullptr;
    for (const auto& one : waits_) {
        const bool waits = one.name == wait.name && one.waiting.upgrades.is_set();
        if (waits && live(one.waiting.operation.session) != nullptr) upgrade = &one;
    }
    if (upgrade != nullptr) add_blocker(wait, *upgrade, true, found);

    bool waits_for_a_writer = false;
    for (const auto* one : front) {
        const bool clashes = clash(one->waiting.mode, mode);
        const bool barrier = one->part == Part::all_of || wait.part == Part::all_of;
        const bool in_order = barrier || record.policy != core::QueuePolicy::phase_fair;
        if (!clashes && !barrier) continue;
        if (!in_order && !is_a_writer(mode) && is_a_writer(one->waiting.mode)) {
            waits_for_a_writer = true;
            continue;
        }
        add_blocker(wait, *one, clashes && (in_order || is_a_writer(one->waiting.mode)), found);
    }
    if (!waits_for_a_writer) return;
    if (record.turn == Turn::readers) {
        for (const auto& holder : holders(wait.name)) {
            const auto session = holder.operation.session;
            const bool is_lost = holder.broken || live(session) == nullptr;
            const bool counts = holder.locker.is_set() && !is_lost;
            if (counts && is_a_writer(holder.mode)) {
                found.lockers.insert({session, holder.locker.number});
            }
        }
    } else if (upgrade == nullptr) {
        const auto writer = std::ranges::find_if(
            front, [](const Wait* one) { return is_a_writer(one->waiting.mode); });
        add_blocker(wait, **writer, true, found);
    }
}

void LockSpec::add_blocker(const Wait& wait, const Wait& front, bool until_released,
                           Blockers& found) const {
    const auto key = [](const Wait& one) {
        return LockerKey{one.waiting.operation.session, one.waiting.locker.number};
    };
    found.requests.insert(front.waiting.operation);
    const bool is_other = front.waiting.locker.is_set() && key(front) != key(wait);
    if (until_released && is_other) found.lockers.insert(key(front));
}

// Of a locker, for all of its requests.
LockSpec::Waits LockSpec::all_waits() const {
    std::map<LockerKey, Requests> of_lockers;
    for (const auto& [name, waiting, number, overtaken, part] : waits_)
        of_lockers[{waiting.operation.session, waiting.locker.number}].insert(waiting.operation);
    Waits waits;
    for (const auto& wait : waits_) {
        if (live(wait.waiting.operation.session) == nullptr) continue;
        auto& [place, names] = waits[wait.waiting.operation];
        if (place == nullptr) place = &wait;
        const auto found = blockers(wait);
        auto waited_for = found.requests;
        for (const auto& locker : found.lockers) {
            const auto requests = of_lockers.find(locker);
            if (requests == of_lockers.end()) continue;
            waited_for.insert(requests->second.begin(), requests->second.end());
        }
        names[wait.name] = std::move(waited_for);
    }
    return waits;
}

// --- who cannot go on -----------------------------------------------------------------------

LockSpec::Requests LockSpec::stuck(const Waits& waits) {
    Requests stuck;
    for (const auto& [request, waits_for] : waits)
        stuck.insert(request);
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto& [request, waits_for] : waits) {
            if (!stuck.contains(request)) continue;
            const auto is_free = [&](const auto& place) {
                return std::ranges::none_of(place.second,
                                            [&](OperationId one) { return stuck.contains(one); });
            };
            const auto& names = waits_for.names;
            const bool any = waits_for.wait->part == Part::one_of;
            const bool goes_on =
                any ? std::ranges::any_of(names, is_free) : std::ranges::all_of(names, is_free);
            if (!goes_on) continue;
            stuck.erase(request);
            changed = true;
        }
    }
    return stuck;
}

// Whom each of the stuck waits for among them, directly or not.
LockSpec::Reached LockSpec::reached(const Waits& waits, const Requests& stuck) {
    Reached all;
    for (const auto from : stuck) {
        auto& reached = all[from];
        std::vector<OperationId> look_at{from};
        while (!look_at.empty()) {
            const auto request = look_at.back();
            look_at.pop_back();
            for (const auto& [name, found] : waits.at(request).names) {
                for (const auto next : found) {
                    const bool is_new = stuck.contains(next) && reached.insert(next).second;
                    if (is_new) look_at.push_back(next);
                }
            }
        }
    }
    return all;
}

// Breadth first, the oldest first.
std::vector<CircleStep> LockSpec::circle(OperationId of, const Waits& waits,
                                         const Requests& stuck) const {
    using Path = std::vector<std::pair<OperationId, std::string>>;
    std::deque<std::pair<OperationId, Path>> paths{{of, {}}};
    Requests reached;
    for (; !paths.empty(); paths.pop_front()) {
        const auto& [request, path] = paths.front();
        std::map<std::uint64_t, std::pair<OperationId, std::string>> next;  // by age
        for (const auto& [name, found] : waits.at(request).names) {
            for (const auto one : found) {
                if (stuck.contains(one)) next.try_emplace(waits.at(one).wait->number, one, name);
            }
        }
        for (const auto& [age, hop] : next) {
            if (!reached.insert(hop.first).second) continue;
            auto longer = path;
            longer.emplace_back(request, hop.second);
            if (hop.first != of) {
                paths.emplace_back(hop.first, std::move(longer));
                continue;
            }
            std::vector<CircleStep> steps;
            std::size_t bytes = 0;
            for (const auto& [who, name] : longer) {
                steps.push_back(circle_step(who, name));
                bytes += steps.back().label.size() + name.size();
                if (steps.size() == 1) continue;
                if (steps.size() <= core::circle_steps_max && bytes <= core::circle_bytes_max) {
                    continue;
                }
                steps.pop_back();
                break;
            }
            return steps;
        }
    }
    return {};
}

CircleStep LockSpec::circle_step(OperationId request, const std::string& name) const {
    const auto& waiting = find_wait(request)->waiting;
    auto label = waiting.label;
    for (const auto& hold : holds_) {
        const bool is_it = hold.grant.operation.session == request.session &&
                           hold.grant.operation.seq == waiting.upgrades;
        if (is_it) label = hold.grant.label;
    }
    if (!waiting.locker.label.empty()) label = waiting.locker.label;
    return {node_of(request.session), request.session, waiting.locker.number, label, name};
}

const LockSpec::Wait* LockSpec::find_wait(OperationId request) const {
    const auto found =
        std::ranges::find(waits_, request, [](const Wait& wait) { return wait.waiting.operation; });
    return found == waits_.end() ? nullptr : &*found;
}

// --- who is refused -------------------------------------------------------------------------

void LockSpec::refuse_deadlocks() {
    while (is_anybody_tied()) {
        const auto waits = all_waits();
        const auto stuck_ones = stuck(waits);
        const auto all = reached(waits, stuck_ones);
        std::optional<OperationId> victim;
        for (const auto& [request, others] : all) {
            // Whoever it waits for waits for it.
            const bool is_in_last_circle = std::ranges::all_of(
                others, [&](OperationId other) { return all.at(other).contains(request); });
            if (!is_in_last_circle) continue;
            // Whoever closed it by coming is the youngest of all.
            const auto age = waits.at(request).wait->number;
            if (!victim || waits.at(*victim).wait->number < age) victim = request;
        }
        if (!victim) return;
        const auto steps = circle(*victim, waits, stuck_ones);
        const auto names = waited_names(*victim);
        withdraw(*victim);
        answer(*victim, {core::AnswerKind::deadlock, {}, {}, {}, steps});
        settle(names);
    }
}

}  // namespace mortise::spec
