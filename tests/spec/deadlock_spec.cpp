// Wait cycles (S33), as the rule says: who waits for whom is computed anew after each command, and
// requests that can never continue are searched for cycles.
//
// What the rule leaves open is decided here:
// - "earlier" and "first" mean the order in which a queue is served (S29, S31); the places of dead
//   sessions keep that order until they are cleared;
// - an upgrade is in front of all others, and the first writer while it waits;
// - a request that is refused at once is not queued first;
// - of several cycles, one that waits for no other is broken first: that may be enough;
// - the reported cycle is the shortest of the refused request, and of several the one of the oldest
//   requests, the next one first; a wait is reported at the first name in byte order.
#include <algorithm>
#include <deque>

#include "core/locks/limits.hpp"
#include "tests/spec/lock_spec.hpp"
#include "tests/spec/mode_rules.hpp"
#include "tests/spec/number_set.hpp"

namespace mortise::spec {

using core::CycleStep;
using core::LockMode;
using core::OperationId;

// Whether a locker has anything beside what it waits for.
bool LockSpec::is_anybody_tied() const {
    if (!has_lockers_) return false;
    std::map<LockerKey, OperationId> waiting;
    for (const auto& [name, places] : queues_) {
        for (const auto& wait : places) {
            const auto operation = wait.waiting.operation;
            const auto locker = wait.waiting.locker.number;
            if (locker == 0) continue;
            const auto one = waiting.try_emplace({operation.session, locker}, operation).first;
            if (one->second != operation) return true;
        }
    }
    return std::ranges::any_of(holds_, [&](const Hold& hold) {
        return waiting.contains({hold.grant.operation.session, hold.grant.locker.number});
    });
}

// --- the wait graph -------------------------------------------------------------------------

// The state between two steps. Requests are numbered: a set of them is a row of bits.
class LockSpec::WaitGraph {
public:
    explicit WaitGraph(const LockSpec& spec);

    // The number of the request that is refused next.
    [[nodiscard]] std::optional<std::size_t> victim() const;
    [[nodiscard]] std::vector<CycleStep> cycle(std::size_t of) const;
    [[nodiscard]] OperationId operation(std::size_t request) const {
        return requests_[request].wait->waiting.operation;
    }

private:
    struct Request {                                  // of a live session
        const Wait* wait = nullptr;                   // one of its places
        std::map<std::string_view, NumberSet> names;  // the requests that it waits for, by name
    };
    struct Place {
        const Wait* wait;
        std::size_t request;
        const NumberSet* of_locker;  // what its locker waits for; null: no locker
    };
    struct LiveRecord {  // the live holds and requests of one name
        const Record* record;
        std::vector<const core::Grant*> holders;  // of lockers, if held
        std::optional<Place> upgrade;
        std::vector<Place> places;  // in the order of service, without the upgrade
    };
    using Hops = std::map<std::uint64_t, std::pair<std::size_t, std::string_view>>;  // by age
    using Path = std::vector<std::pair<std::size_t, std::string_view>>;

    void number_requests();
    [[nodiscard]] Place place_of(const Wait& wait) const;
    [[nodiscard]] LiveRecord live_on(const Record& record) const;
    void add_record(const LiveRecord& live);
    void add_holders(const LiveRecord& live, const Place& place, NumberSet& found) const;
    void add_front(const LiveRecord& live, std::size_t position, NumberSet& found) const;
    void add_writers(const LiveRecord& live, std::size_t position, NumberSet& found) const;
    static void add_blocker(const Place& place, const Place& front, bool until_released,
                            NumberSet& found);
    void add_locker(const core::Grant& holder, NumberSet& found) const;
    void find_stuck();
    [[nodiscard]] bool goes_on(const Request& request) const;
    void find_reached();
    [[nodiscard]] bool is_in_last_cycle(std::size_t request) const;
    [[nodiscard]] Hops hops_from(std::size_t request) const;
    [[nodiscard]] std::vector<CycleStep> told(const Path& path) const;

    const LockSpec& spec_;
    std::vector<Request> requests_;
    std::map<OperationId, std::size_t> numbers_;
    std::map<LockerKey, NumberSet> of_lockers_;  // requests
    NumberSet stuck_;
    // from each stuck request: the stuck ones that it waits for, directly or not
    std::vector<NumberSet> reached_;
};

LockSpec::WaitGraph::WaitGraph(const LockSpec& spec) : spec_{spec} {
    number_requests();
    for (const auto& record : spec_.records_)
        add_record(live_on(record));
    find_stuck();
    find_reached();
}

void LockSpec::WaitGraph::number_requests() {
    for (const auto& [name, places] : spec_.queues_) {
        for (const auto& wait : places) {
            const auto operation = wait.waiting.operation;
            if (spec_.live(operation.session) == nullptr) continue;
            const bool is_new = numbers_.emplace(operation, requests_.size()).second;
            if (is_new) requests_.push_back({&wait, {}});
        }
    }
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        const auto& waiting = requests_[i].wait->waiting;
        if (!waiting.locker.is_set()) continue;
        const LockerKey locker{waiting.operation.session, waiting.locker.number};
        of_lockers_.try_emplace(locker, requests_.size()).first->second.insert(i);
    }
}

LockSpec::WaitGraph::Place LockSpec::WaitGraph::place_of(const Wait& wait) const {
    const auto& waiting = wait.waiting;
    const auto locker = of_lockers_.find({waiting.operation.session, waiting.locker.number});
    return {&wait, numbers_.at(waiting.operation),
            locker == of_lockers_.end() ? nullptr : &locker->second};
}

LockSpec::WaitGraph::LiveRecord LockSpec::WaitGraph::live_on(const Record& record) const {
    LiveRecord live{&record, {}, {}, {}};
    for (const auto& hold : spec_.holds_) {
        const auto& grant = hold.grant;
        const bool is_lost = !grant.is_held() || spec_.live(grant.operation.session) == nullptr;
        const bool counts = grant.locker.is_set() && hold.name == record.name;
        if (counts && !is_lost) live.holders.push_back(&grant);
    }
    for (const auto* wait : spec_.in_order(record)) {
        if (spec_.live(wait->waiting.operation.session) == nullptr) continue;
        live.places.push_back(place_of(*wait));
    }
    const auto* upgrade = spec_.upgrade_on(record.name);
    const bool waits =
        upgrade != nullptr && spec_.live(upgrade->waiting.operation.session) != nullptr;
    if (waits) live.upgrade = place_of(*upgrade);
    return live;
}

void LockSpec::WaitGraph::add_record(const LiveRecord& live) {
    const std::string_view name = live.record->name;
    if (live.upgrade) {
        NumberSet found{requests_.size()};
        add_holders(live, *live.upgrade, found);
        requests_[live.upgrade->request].names[name] = std::move(found);
    }
    for (std::size_t i = 0; i < live.places.size(); ++i) {
        NumberSet found{requests_.size()};
        add_holders(live, live.places[i], found);
        add_front(live, i, found);
        requests_[live.places[i].request].names[name] = std::move(found);
    }
}

// A request that waits for a hold also waits for everything that the holder waits for.
void LockSpec::WaitGraph::add_locker(const core::Grant& holder, NumberSet& found) const {
    const auto of = of_lockers_.find({holder.operation.session, holder.locker.number});
    if (of != of_lockers_.end()) found.merge(of->second);
}

void LockSpec::WaitGraph::add_holders(const LiveRecord& live, const Place& place,
                                      NumberSet& found) const {
    const auto& waiting = place.wait->waiting;
    for (const auto* holder : live.holders) {
        const bool is_own_hold = holder->operation.session == waiting.operation.session &&
                                 holder->operation.seq == waiting.upgrades;
        if (!is_own_hold && clash(holder->mode, waiting.mode)) add_locker(*holder, found);
    }
}

void LockSpec::WaitGraph::add_front(const LiveRecord& live, std::size_t position,
                                    NumberSet& found) const {
    const auto& place = live.places[position];
    const auto mode = place.wait->waiting.mode;
    const bool is_barrier = place.wait->part == Part::all_of;
    const bool by_phases = live.record->policy == core::QueuePolicy::phase_fair;
    if (live.upgrade) add_blocker(place, *live.upgrade, true, found);

    bool waits_for_a_writer = false;
    for (std::size_t i = 0; i < position; ++i) {
        const auto& front = live.places[i];
        const auto front_mode = front.wait->waiting.mode;
        const bool clashes = clash(front_mode, mode);
        const bool barrier = is_barrier || front.wait->part == Part::all_of;
        const bool in_order = barrier || !by_phases;
        if (!clashes && !barrier) continue;
        if (!in_order && !is_a_writer(mode) && is_a_writer(front_mode)) {
            waits_for_a_writer = true;
            continue;
        }
        add_blocker(place, front, clashes && (in_order || is_a_writer(front_mode)), found);
    }
    if (waits_for_a_writer) add_writers(live, position, found);
}

// S31: for the writer whose turn it is.
void LockSpec::WaitGraph::add_writers(const LiveRecord& live, std::size_t position,
                                      NumberSet& found) const {
    if (live.record->turn == Turn::readers) {
        for (const auto* holder : live.holders) {
            if (is_a_writer(holder->mode)) add_locker(*holder, found);
        }
    } else if (!live.upgrade) {
        const auto writer = std::ranges::find_if(
            live.places, [](const Place& one) { return is_a_writer(one.wait->waiting.mode); });
        add_blocker(live.places[position], *writer, true, found);
    }
}

void LockSpec::WaitGraph::add_blocker(const Place& place, const Place& front, bool until_released,
                                      NumberSet& found) {
    found.insert(front.request);
    const bool is_other = front.of_locker != nullptr && front.of_locker != place.of_locker;
    if (until_released && is_other) found.merge(*front.of_locker);
}

// --- requests that cannot continue ----------------------------------------------------------

bool LockSpec::WaitGraph::goes_on(const Request& request) const {
    if (request.wait->waiting.is_try) return true;  // S43: its node gives it up
    const auto is_free = [&](const auto& place) { return !place.second.meets(stuck_); };
    return request.wait->part == Part::one_of ? std::ranges::any_of(request.names, is_free)
                                              : std::ranges::all_of(request.names, is_free);
}

void LockSpec::WaitGraph::find_stuck() {
    stuck_ = NumberSet{requests_.size()};
    for (std::size_t i = 0; i < requests_.size(); ++i)
        stuck_.insert(i);
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            if (!stuck_.contains(i) || !goes_on(requests_[i])) continue;
            stuck_.erase(i);
            changed = true;
        }
    }
}

void LockSpec::WaitGraph::find_reached() {
    reached_.resize(requests_.size());
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (!stuck_.contains(i)) continue;
        reached_[i] = NumberSet{requests_.size()};
        for (const auto& [name, found] : requests_[i].names)
            reached_[i].merge(found);
        reached_[i].keep(stuck_);
    }
    for (std::size_t by = 0; by < requests_.size(); ++by) {
        if (!stuck_.contains(by)) continue;
        for (std::size_t from = 0; from < requests_.size(); ++from) {
            const bool leads_on = stuck_.contains(from) && reached_[from].contains(by);
            if (leads_on) reached_[from].merge(reached_[by]);
        }
    }
}

// Every request that it waits for also waits for it.
bool LockSpec::WaitGraph::is_in_last_cycle(std::size_t request) const {
    if (!stuck_.contains(request)) return false;
    for (std::size_t other = 0; other < requests_.size(); ++other) {
        const bool waits_for_it = reached_[request].contains(other);
        if (waits_for_it && !reached_[other].contains(request)) return false;
    }
    return true;
}

// The request that completed the cycle is the youngest of all.
std::optional<std::size_t> LockSpec::WaitGraph::victim() const {
    std::optional<std::size_t> youngest;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (!is_in_last_cycle(i)) continue;
        const bool is_younger =
            !youngest || requests_[*youngest].wait->number < requests_[i].wait->number;
        if (is_younger) youngest = i;
    }
    return youngest;
}

// Breadth first, oldest first.
std::vector<CycleStep> LockSpec::WaitGraph::cycle(std::size_t of) const {
    std::deque<std::pair<std::size_t, Path>> paths{{of, {}}};
    NumberSet reached{requests_.size()};
    for (; !paths.empty(); paths.pop_front()) {
        const auto& [request, path] = paths.front();
        for (const auto& [age, hop] : hops_from(request)) {
            const auto& [next, name] = hop;
            if (reached.contains(next)) continue;
            reached.insert(next);
            auto longer = path;
            longer.emplace_back(request, name);
            if (next == of) return told(longer);
            paths.emplace_back(next, std::move(longer));
        }
    }
    return {};
}

LockSpec::WaitGraph::Hops LockSpec::WaitGraph::hops_from(std::size_t request) const {
    Hops hops;
    for (const auto& [name, found] : requests_[request].names) {
        for (std::size_t next = 0; next < requests_.size(); ++next) {
            if (!found.contains(next) || !stuck_.contains(next)) continue;
            hops.try_emplace(requests_[next].wait->number, next, name);
        }
    }
    return hops;
}

std::vector<CycleStep> LockSpec::WaitGraph::told(const Path& path) const {
    std::vector<CycleStep> steps;
    std::size_t bytes = 0;
    for (const auto& [request, name] : path) {
        auto step = spec_.cycle_step(requests_[request].wait->waiting, name);
        bytes += step.label.size() + name.size();
        const bool fits = steps.size() < core::cycle_steps_max && bytes <= core::cycle_bytes_max;
        if (!steps.empty() && !fits) break;
        steps.push_back(std::move(step));
    }
    return steps;
}

CycleStep LockSpec::cycle_step(const Waiting& waiting, std::string_view name) const {
    const auto session = waiting.operation.session;
    auto label = waiting.label;
    for (const auto& hold : holds_) {
        const bool is_it =
            hold.grant.operation.session == session && hold.grant.operation.seq == waiting.upgrades;
        if (is_it) label = hold.grant.label;
    }
    if (!waiting.locker.label.empty()) label = waiting.locker.label;
    return {node_of(session), session, waiting.locker.number, label, std::string{name}};
}

// --- refusals -------------------------------------------------------------------------------

// Requests before the next barrier are served before it, and none behind it.
LockSpec::Queue LockSpec::in_order(const Record& record) const {
    Queue ordered;
    Queue stretch;
    const auto serve = [&] {
        const auto sorted = as_served(record, std::move(stretch));
        ordered.insert(ordered.end(), sorted.begin(), sorted.end());
        stretch.clear();
    };
    for (const auto* one : queue(record.name)) {
        if (one->part == Part::all_of) {
            serve();
            ordered.push_back(one);
        } else {
            stretch.push_back(one);
        }
    }
    serve();
    return ordered;
}

void LockSpec::refuse_deadlocks() {
    while (is_anybody_tied()) {
        const WaitGraph graph{*this};
        const auto victim = graph.victim();
        if (!victim) return;
        const auto operation = graph.operation(*victim);
        const auto steps = graph.cycle(*victim);
        const auto names = waited_names(operation);
        withdraw(operation);
        answer(operation, {core::AnswerKind::deadlock, {}, {}, {}, steps});
        settle(names);
    }
}

}  // namespace mortise::spec
