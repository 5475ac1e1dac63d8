#include "core/locks/deadlocks.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "core/base/mutant.hpp"
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
        nodes_.push_back({request, waits_.operation(request), {}});
    }
    return place->second;
}

void DeadlockSearch::explore() {
    for (; unexplored_ < nodes_.size() && may_go_on(); ++unexplored_) {
        const auto id = nodes_[unexplored_].id;
        const auto* operation = nodes_[unexplored_].operation;
        if (operation == nullptr) continue;
        std::vector<std::vector<Index>> waits_for;
        for (const auto& name : operation->names) {
            const auto found = waits_.find(name, id, Extent::enough, steps_);
            waits_for.push_back(successors(found, steps_));
        }
        nodes_[unexplored_].waits_for = std::move(waits_for);
        nodes_[unexplored_].is_known = true;
    }
}

// Of a locker, all of its requests.
std::vector<DeadlockSearch::Index> DeadlockSearch::successors(const WaitsFor& waits,
                                                              std::size_t& steps) {
    std::vector<Index> found;
    for (const auto request : waits.requests)
        found.push_back(index_of(request));
    for (const auto locker : waits.lockers) {
        for (const auto seq : waits_.lockers().find_tied(locker)->waiting)
            found.push_back(index_of({locker.session, seq}));
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    steps += found.size();
    return found;
}

// --- who is stuck -------------------------------------------------------------------------------

bool DeadlockSearch::takes_any(const Node& node) const {
    if (node.waits_for.size() < 2 || planted(Mutant::deadlock_any_stuck_by_one)) return false;
    const auto* queue = waits_.table().queue_of(node.operation->names.front());
    return queue->find(node.operation->ticket)->part == Part::one_of;
}

// On how many names it waits for somebody still, it may be on none; of any names, on one.
bool DeadlockSearch::goes_on(const Node& node) const {
    if (!node.is_known)
        return node.operation != nullptr || !planted(Mutant::deadlock_with_the_dead);
    return takes_any(node) ? node.blocked < node.waits_for.size() : node.blocked == 0;
}

// Whoever goes on lets those go on who wait for it, as far as that reaches.
void DeadlockSearch::find_stuck() {
    struct Place {
        Index node = 0;
        std::size_t left = 0;  // whom it waits for there
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

std::optional<OperationId> DeadlockSearch::victim() {
    find_stuck();
    std::vector<Index> stuck;
    for (Index i = 0; i < nodes_.size(); ++i) {
        if (nodes_[i].is_stuck) stuck.push_back(i);
    }
    std::ranges::sort(stuck, std::ranges::greater{},
                      [&](Index i) { return nodes_[i].operation->ticket; });
    if (planted(Mutant::deadlock_ends_the_oldest)) std::ranges::reverse(stuck);
    const auto waits = stuck_waits();
    std::size_t steps = 0;
    for (const auto i : stuck) {
        if (is_in_last_circle(i, waits, steps)) return nodes_[i].id;
        if (steps > deadlock_steps_max) break;
    }
    return std::nullopt;
}

DeadlockSearch::StuckWaits DeadlockSearch::stuck_waits() const {
    StuckWaits waits{Graph(nodes_.size()), Graph(nodes_.size())};
    for (Index i = 0; i < nodes_.size(); ++i) {
        if (!nodes_[i].is_stuck) continue;
        for (const auto& place : nodes_[i].waits_for) {
            for (const auto next : place) {
                if (!nodes_[next].is_stuck) continue;
                waits.for_whom[i].push_back(next);
                waits.by_whom[next].push_back(i);
            }
        }
    }
    return waits;
}

// Whoever it waits for waits for it.
bool DeadlockSearch::is_in_last_circle(Index node, const StuckWaits& waits,
                                       std::size_t& steps) const {
    const auto is_waited_for = reach(node, waits.for_whom);
    const auto waits_for_it = reach(node, waits.by_whom);
    steps += nodes_.size();
    for (Index i = 0; i < nodes_.size(); ++i) {
        if (is_waited_for[i] && !waits_for_it[i]) return false;
    }
    return true;
}

std::vector<bool> DeadlockSearch::reach(Index from, const Graph& graph) {
    std::vector<bool> reached(graph.size());
    std::vector<Index> look_at{from};
    while (!look_at.empty()) {
        const auto i = look_at.back();
        look_at.pop_back();
        for (const auto next : graph[i]) {
            if (reached[next]) continue;
            reached[next] = true;
            look_at.push_back(next);
        }
    }
    return reached;
}

// --- the circle ---------------------------------------------------------------------------------

// To all the stuck that it waits for, the oldest first. More than once to the same one where it
// waits for it on more than one name: the first name counts.
std::vector<DeadlockSearch::Hop> DeadlockSearch::hops(Index from, Extent extent,
                                                      std::size_t& steps) {
    std::map<Ticket, Hop> found;
    const auto id = nodes_[from].id;
    const auto& names = nodes_[from].operation->names;
    for (std::size_t place = 0; place < names.size(); ++place) {
        auto waits_for = nodes_[from].waits_for[place];
        steps += waits_for.size();
        if (extent == Extent::all)
            waits_for = successors(waits_.find(names[place], id, extent, steps), steps);
        for (const auto next : waits_for) {
            if (!nodes_[next].is_stuck) continue;
            found.try_emplace(nodes_[next].operation->ticket, Hop{next, names[place]});
        }
    }
    std::vector<Hop> sorted;
    sorted.reserve(found.size());
    for (auto& [ticket, hop] : found)
        sorted.push_back(std::move(hop));
    return sorted;
}

// Each hop of it, from the one that leads to the first one again; empty when that takes too long.
std::vector<DeadlockSearch::Hop> DeadlockSearch::shortest_circle(Index start, Extent extent) {
    std::map<Index, Hop> reached;  // who waits for it, and where
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
            std::vector<Hop> circle;
            auto at = start;
            do {
                circle.push_back(reached.at(at));
                at = circle.back().node;
            } while (at != start);
            return circle;
        }
    }
    return {};
}

std::vector<CircleStep> DeadlockSearch::circle(OperationId victim) {
    const auto start = indexes_.at(victim);
    auto hops = shortest_circle(start, Extent::all);
    // Where everybody in front is too many, the nearest do as well.
    if (hops.empty()) hops = shortest_circle(start, Extent::enough);
    if (hops.empty()) hops.push_back({start, nodes_[start].operation->names.front()});
    std::vector<CircleStep> circle;
    std::size_t bytes = 0;
    for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
        auto one = step(hop->node, hop->name);
        bytes += one.label.size() + one.waits_for.size();
        const bool fits = circle.size() < circle_steps_max && bytes <= circle_bytes_max;
        if (!fits && !circle.empty()) break;
        circle.push_back(std::move(one));
    }
    return circle;
}

CircleStep DeadlockSearch::step(Index index, const std::string& name) const {
    const auto id = nodes_[index].id;
    const auto& operation = *nodes_[index].operation;
    const auto node = waits_.sessions().find(id.session)->opened.node;
    const auto told = [&](const LockerTag& locker, const std::string& label) {
        const auto& shown = locker.label.empty() ? label : locker.label;
        return CircleStep{node, id.session, locker.number, shown, name};
    };
    if (operation.upgrades.is_set()) {
        const auto& hold = *waits_.table().find(name)->find({id.session, operation.upgrades});
        return told(hold.locker, hold.label);
    }
    const auto& waiter = *waits_.table().queue_of(name)->find(operation.ticket);
    return told(waiter.locker, waiter.label);
}

}  // namespace mortise::core
