#include "core/locks/deadlock/deadlocks.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "core/locks/limits.hpp"

namespace mortise::core {

// --- who waits for whom -------------------------------------------------------------------------

void DeadlockSearch::add(OperationId request) {
    (void)index_of(request);
    explore();
}

DeadlockSearch::Index DeadlockSearch::index_of(OperationId request) {
    const auto [place, is_new] = indexes_.try_emplace(request, nodes_.size());
    if (is_new) {
        nodes_.push_back({{request, waits_.operation(request), {}}, {}});
    }
    return place->second;
}

DeadlockSearch::Index DeadlockSearch::index_of(LockerId locker) {
    const auto [place, is_new] = lockers_.try_emplace(locker, nodes_.size());
    if (is_new) {
        nodes_.push_back({{{}, nullptr, locker}, {}});
    }
    return place->second;
}

void DeadlockSearch::explore() {
    for (; unexplored_ < nodes_.size() && may_go_on(); ++unexplored_) {
        const auto [id, operation, locker] = Subject{nodes_[unexplored_]};
        const bool is_locker = locker.number != 0;
        if (!is_locker && (operation == nullptr || operation->is_try())) continue;
        auto waits_for =
            is_locker ? Places{requests_of(locker, steps_)} : places_of(id, *operation);
        nodes_[unexplored_].waits_for = std::move(waits_for);
        nodes_[unexplored_].is_known = true;
    }
}

DeadlockSearch::Places DeadlockSearch::places_of(OperationId request, const Operation& operation) {
    Places places;
    for (const auto& record : operation.names()) {
        const auto found = waits_.find(record->name(), request, Extent::enough, steps_);
        places.push_back(successors(found, steps_));
    }
    return places;
}

std::vector<DeadlockSearch::Index> DeadlockSearch::requests_of(LockerId locker,
                                                               std::size_t& steps) {
    std::vector<Index> found;
    for (const auto seq : waits_.lockers().find_tied(locker)->waiting)
        found.push_back(index_of({locker.session, seq}));
    steps += found.size();
    return found;
}

std::vector<DeadlockSearch::Index> DeadlockSearch::successors(const WaitsFor& waits,
                                                              std::size_t& steps) {
    std::vector<Index> found;
    for (const auto request : waits.requests)
        found.push_back(index_of(request));
    for (const auto locker : waits.lockers)
        found.push_back(index_of(locker));
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    steps += found.size();
    return found;
}

// --- who is stuck -------------------------------------------------------------------------------

bool DeadlockSearch::takes_any(const Node& node) const {
    if (node.waits_for.size() < 2) return false;
    const auto* queue = waits_.table().queue_of(node.operation->name());
    return queue->find(node.operation->ticket())->part == Part::one_of;
}

// A request goes on when it is blocked on no name. One for any of several names goes on as soon as
// it is free on one of them.
bool DeadlockSearch::goes_on(const Node& node) const {
    if (!node.is_known) return true;
    return takes_any(node) ? node.blocked < node.waits_for.size() : node.blocked == 0;
}

// A request that goes on lets those go on that wait for it, transitively.
void DeadlockSearch::find_stuck() {
    struct Place {
        Index node = 0;
        std::size_t left = 0;  // the waits that are left there
    };
    std::vector<Place> places;
    std::vector<std::vector<std::size_t>> behind(nodes_.size());
    std::vector<Index> going_on;
    for (Index i = 0; i < nodes_.size(); ++i) {
        auto& node = nodes_[i];
        node.is_stuck = true;
        node.blocked = 0;
        for (const auto& next : node.waits_for) {
            for (const auto one : next)
                behind[one].push_back(places.size());
            places.push_back({i, next.size()});
            if (!next.empty()) ++node.blocked;
        }
        if (goes_on(node)) going_on.push_back(i);
    }
    while (!going_on.empty()) {
        const auto i = going_on.back();
        going_on.pop_back();
        if (!std::exchange(nodes_[i].is_stuck, false)) continue;
        for (const auto at : behind[i]) {
            auto& place = places[at];
            auto& node = nodes_[place.node];
            if (--place.left > 0) continue;
            --node.blocked;
            if (node.is_stuck && goes_on(node)) going_on.push_back(place.node);
        }
    }
}

// --- who is refused -----------------------------------------------------------------------------

// Considers cycles that wait for no other cycle: their members wait only for each other.
std::optional<OperationId> DeadlockSearch::victim() {
    find_stuck();
    const auto waits = waits_of_the_stuck();
    const auto cycles = components_of(waits);
    std::vector<bool> is_last(nodes_.size(), true);
    for (Index i = 0; i < nodes_.size(); ++i) {
        for (const auto next : waits[i])
            if (cycles[next] != cycles[i]) is_last[cycles[i]] = false;
    }
    const Node* youngest = nullptr;
    for (Index i = 0; i < nodes_.size(); ++i) {
        const auto& node = nodes_[i];
        const bool counts = node.is_stuck && node.operation != nullptr && is_last[cycles[i]];
        if (counts && (youngest == nullptr || is_before(*youngest, node))) youngest = &node;
    }
    return youngest == nullptr ? std::nullopt : std::optional{youngest->id};
}

bool DeadlockSearch::is_before(const Node& one, const Node& other) {
    return one.operation->ticket() < other.operation->ticket();
}

Graph DeadlockSearch::waits_of_the_stuck() const {
    Graph waits(nodes_.size());
    for (Index i = 0; i < nodes_.size(); ++i) {
        if (!nodes_[i].is_stuck) continue;
        for (const auto& place : nodes_[i].waits_for) {
            std::ranges::copy_if(place, std::back_inserter(waits[i]),
                                 [&](Index next) { return nodes_[next].is_stuck; });
        }
    }
    return waits;
}

// --- the cycle ---------------------------------------------------------------------------------

// Replaces each locker with all its requests.
std::vector<DeadlockSearch::Index> DeadlockSearch::requests_among(const std::vector<Index>& nodes,
                                                                  std::size_t& steps) {
    std::vector<Index> requests;
    for (const auto node : nodes) {
        if (nodes_[node].locker.number == 0) {
            requests.push_back(node);
        } else {
            std::ranges::move(requests_of(nodes_[node].locker, steps),
                              std::back_inserter(requests));
        }
    }
    return requests;
}

// The hops to all stuck subjects that it waits for, the oldest first. If it waits for the same one
// on more than one name, the first name counts.
std::vector<DeadlockSearch::Hop> DeadlockSearch::hops(Index from, Extent extent,
                                                      std::size_t& steps) {
    std::map<Ticket, Hop> found;
    const auto id = nodes_[from].id;
    const auto names = nodes_[from].operation->names();
    for (std::size_t place = 0; place < names.size(); ++place) {
        auto waits_for = nodes_[from].waits_for[place];
        steps += waits_for.size();
        if (extent == Extent::all)
            waits_for = successors(waits_.find(names[place]->name(), id, extent, steps), steps);
        for (const auto next : requests_among(waits_for, steps)) {
            if (!nodes_[next].is_stuck) continue;
            found.try_emplace(nodes_[next].operation->ticket(),
                              Hop{next, std::string{names[place]->name()}});
        }
    }
    std::vector<Hop> sorted;
    sorted.reserve(found.size());
    for (auto& [ticket, hop] : found)
        sorted.push_back(std::move(hop));
    return sorted;
}

// The hops of the cycle, from the first subject back to it; empty if the search takes too long.
std::vector<DeadlockSearch::Hop> DeadlockSearch::shortest_cycle(Index start, Extent extent) {
    std::map<Index, Hop> reached;  // which subject waits for it, and where
    std::deque<Index> look_at{start};
    std::size_t steps = 0;
    for (; !look_at.empty() && steps < deadlock_steps_max; look_at.pop_front()) {
        const auto from = look_at.front();
        for (auto& [to, name] : hops(from, extent, steps)) {
            if (!reached.try_emplace(to, Hop{from, std::move(name)}).second) continue;
            if (to != start) {
                look_at.push_back(to);
                continue;
            }
            std::vector<Hop> cycle;
            auto at = start;
            do {
                cycle.push_back(reached.at(at));
                at = cycle.back().node;
            } while (at != start);
            return cycle;
        }
    }
    return {};
}

std::vector<CycleStep> DeadlockSearch::cycle(OperationId victim) {
    const auto start = indexes_.at(victim);
    auto hops = shortest_cycle(start, Extent::all);
    // If there are too many in front, the nearest are enough.
    if (hops.empty()) hops = shortest_cycle(start, Extent::enough);
    if (hops.empty()) hops.push_back({start, std::string{nodes_[start].operation->name()}});
    std::vector<CycleStep> cycle;
    std::size_t bytes = 0;
    for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
        auto one = step(hop->node, hop->name);
        bytes += one.label.size() + one.waits_for.size();
        const bool fits = cycle.size() < cycle_steps_max && bytes <= cycle_bytes_max;
        if (!fits && !cycle.empty()) break;
        cycle.push_back(std::move(one));
    }
    return cycle;
}

CycleStep DeadlockSearch::step(Index index, const std::string& name) const {
    const auto id = nodes_[index].id;
    const auto& operation = *nodes_[index].operation;
    const auto node = waits_.sessions().find(id.session)->opened.node;
    const auto told = [&](const LockerTag& locker, const std::string& label) {
        const auto& shown = locker.label.empty() ? label : locker.label;
        return CycleStep{node, id.session, locker.number, shown, name};
    };
    if (operation.upgrades().is_set()) {
        const auto& hold = *waits_.table().find(name)->find({id.session, operation.upgrades()});
        return told(hold.locker(), hold.label());
    }
    const auto& waiter = *waits_.table().queue_of(name)->find(operation.ticket());
    return told(waiter.locker, waiter.label);
}

}  // namespace mortise::core
