#include "core/locks/deadlock/waits_for.hpp"

#include <algorithm>

#include "core/locks/deadlock/ahead.hpp"

namespace mortise::core {

struct WaitFinder::Asking {
    const LockRecord& record;
    const WaitQueue& queue;
    const Waiter* waiter;  // null for an upgrade
    LockMode mode;
    OperationId hold;  // of an upgrade, which does not wait for its own hold
    LockerId locker;
    std::size_t& steps;
    WaitsFor found{};
};

namespace {

constexpr std::size_t holders_per_step = 32;

// How long a waiter waits for one in front of it.
enum class Until : std::uint8_t { never, granted, released };

// Readers behind writers under a policy with phases wait for one of the writers: see add_phase().
Until waited_for(QueuePolicy policy, LockMode mode, bool is_barrier, LockMode front,
                 bool front_is_barrier) {
    const bool clash = conflict(front, mode);
    if (is_barrier || front_is_barrier) return clash ? Until::released : Until::granted;
    if (!clash) return Until::never;
    if (policy != QueuePolicy::phase_fair) return Until::released;
    if (!is_writer(front)) return Until::granted;
    return is_writer(mode) ? Until::released : Until::never;
}

template <class Visit>
void each_kind(const Visit& visit) {
    for (const auto mode : all_lock_modes) {
        visit(mode, false);
        visit(mode, true);
    }
}

template <class Accepts>
WaitKinds kinds_that(const Accepts& accepts) {
    WaitKinds kinds;
    each_kind([&](LockMode mode, bool barrier) {
        if (accepts(mode, barrier)) kinds.add(mode, barrier);
    });
    return kinds;
}

}  // namespace

const Operation* WaitFinder::operation(OperationId id) const {
    const auto* session = sessions_.find(id.session);
    if (session == nullptr) return nullptr;
    return session->operations.find(id.seq);
}

WaitsFor WaitFinder::find(std::string_view name, OperationId request, Extent extent,
                          std::size_t& steps) const {
    const auto& its = *operation(request);
    const auto& queue = *table_.queue_of(name);
    const LockerId locker{request.session, its.locker()};
    const bool upgrades = its.upgrades().is_set();
    const auto* waiter = upgrades ? nullptr : queue.find(its.ticket());
    Asking asking{*table_.find(name),
                  queue,
                  waiter,
                  upgrades ? LockMode::exclusive : waiter->mode,
                  upgrades ? OperationId{request.session, its.upgrades()} : OperationId{},
                  locker,
                  steps};
    ++steps;
    add_holders(asking);
    if (!upgrades) {
        add_conversion(asking);
        add_phase(asking);
        add_ahead(asking, extent);
    }
    return std::move(asking.found);
}

void WaitFinder::add_holders(Asking& asking) const {
    const auto holders = asking.record.holders();
    asking.steps += holders.size() / holders_per_step;
    for (const auto& holder : holders) {
        const bool is_lost = !holder.is_held();  // adds no edge
        if (is_lost || !conflict(holder.mode, asking.mode) || holder.operation == asking.hold)
            continue;
        const LockerId locker{holder.operation.session, holder.locker().number};
        if (lockers_.find_tied(locker) != nullptr) asking.found.lockers.push_back(locker);
    }
}

// An upgrade goes before every other waiter (S28).
void WaitFinder::add_conversion(Asking& asking) const {
    const auto& conversion = asking.queue.conversion();
    if (conversion && is_live(conversion->operation)) add(asking, conversion->operation, true);
}

// S31: a reader behind a conflicting writer waits for one writer, and overtakes the others: at the
// readers' turn for the writer that holds, at the writers' turn for the first one, whether or not
// these conflict with it.
void WaitFinder::add_phase(Asking& asking) const {
    const auto& waiter = *asking.waiter;
    const bool has_phase = asking.record.policy() == QueuePolicy::phase_fair &&
                           !is_writer(waiter.mode) && waiter.part != Part::all_of;
    if (!has_phase) return;
    const Ahead ahead{asking.queue, waiter};
    const auto lives = [&](const Waiter& one) {
        ++asking.steps;
        return is_live(one.operation);
    };
    const auto in_the_way = kinds_that([&](LockMode mode, bool barrier) {
        return !barrier && is_writer(mode) && conflict(mode, waiter.mode);
    });
    if (ahead.first(in_the_way, lives) == nullptr) return;
    if (asking.record.turn == Turn::writers) {
        // An upgrade goes first, so others wait for it anyway.
        const auto& conversion = asking.queue.conversion();
        if (conversion && is_live(conversion->operation)) return;
        const auto writers = kinds_that([](LockMode mode, bool) { return is_writer(mode); });
        return add(asking, ahead.first(writers, lives)->operation, true);
    }
    for (const auto& holder : asking.record.holders()) {
        const LockerId locker{holder.operation.session, holder.locker().number};
        const bool counts =
            holder.is_held() && is_writer(holder.mode) && lockers_.find_tied(locker) != nullptr;
        if (counts) asking.found.lockers.push_back(locker);
    }
}

// A waiter need not be examined if another one is waited for as long and waits for it: in a queue
// of one mode, for example, the nearest is enough. A waiter for any of several names may go on
// without those in front, and so does a try, so these represent nobody.
void WaitFinder::add_ahead(Asking& asking, Extent extent) const {
    const auto policy = asking.record.policy();
    const auto& waiter = *asking.waiter;
    const bool is_barrier = waiter.part == Part::all_of;
    const auto until = [&](LockMode mode, bool barrier) {
        return waited_for(policy, waiter.mode, is_barrier, mode, barrier);
    };
    auto kinds = kinds_that(
        [&](LockMode mode, bool barrier) { return until(mode, barrier) != Until::never; });
    Ahead ahead{asking.queue, waiter};
    while (const auto* front = ahead.next(kinds)) {
        ++asking.steps;
        if (!is_live(front->operation)) continue;
        const bool front_is_barrier = front->part == Part::all_of;
        const bool until_released = until(front->mode, front_is_barrier) == Until::released;
        add(asking, front->operation, until_released);
        const bool stands_for_others =
            until_released && front->part != Part::one_of && !front->is_try;
        if (extent == Extent::all || !stands_for_others) continue;
        each_kind([&](LockMode mode, bool barrier) {
            const auto its = waited_for(policy, front->mode, front_is_barrier, mode, barrier);
            if (its >= until(mode, barrier)) kinds.remove(mode, barrier);
        });
    }
}

void WaitFinder::add(Asking& asking, OperationId request, bool until_released) const {
    asking.found.requests.push_back(request);
    const LockerId locker{request.session, operation(request)->locker()};
    const bool counts = until_released && locker != asking.locker;
    if (counts && lockers_.find_tied(locker) != nullptr) asking.found.lockers.push_back(locker);
}

}  // namespace mortise::core
