#include "core/locks/machine/lock_views.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <variant>

namespace mortise::core {

bool LockViews::would_grant(std::string_view name, LockMode mode, Priority priority) const {
    const auto* record = table_.find(name);
    if (record == nullptr) return table_.would_grant(name, mode, priority);
    if (record->kind() != RecordKind::lock) return true;  // the log refuses it
    const auto* queue = record->queue();
    // A barrier at the head of the queue may be let in by the sweep of its other names.
    const bool barrier = queue != nullptr && queue->has_barrier() && !ended_.is_empty();
    const bool cleared = record->is_swept_at(ended_.endings()) || ended_.is_empty();
    if (!barrier && (cleared || is_clear(*record, queue))) {
        return table_.would_grant(name, mode, priority);
    }
    // Only holders of live sessions block the request, and former holders that keep the name
    // closed.
    const auto hinders = [&](const Holder& holder) {
        return is_in_the_way(name, holder) && conflict(holder.mode, mode);
    };
    if (std::ranges::any_of(record->holders(), hinders)) return false;
    return barrier || queue == nullptr || !is_hindered(*record, *queue, mode, priority);
}

// If only ended sessions are left of it, the semaphore begins anew, with the limit of the request.
// Otherwise its waiters may get permits when the ended ones are removed, and the request as well.
bool LockViews::would_grant_permits(const Acquire& request) const {
    const std::string_view name = request.names.front().name;
    const auto* record = table_.find(name);
    const auto* its = record == nullptr ? nullptr : record->as<Semaphore>();
    if (record != nullptr && its == nullptr) return true;  // the log refuses it
    if (record == nullptr || ended_.is_empty() || record->is_swept_at(ended_.endings()))
        return would_admit_permits(record, request);
    std::size_t taken = 0;
    for (const auto& holder : record->holders())
        taken += is_in_the_way(name, holder) ? holder.slots().size() : 0;
    const auto waits = [&](const Waiter* waiter) { return is_live(waiter->operation); };
    const auto* queue = record->queue();
    const bool is_waited = queue != nullptr && std::ranges::any_of(queue->in_order(), waits);
    if (taken == 0 && !is_waited && !its->was_resized()) return request.permits <= request.limit;
    return taken + request.permits <= its->limit();
}

bool LockViews::would_recall(std::string_view name, LockMode mode) const {
    const auto* record = table_.find(name);
    return record != nullptr && core::would_recall(*record, mode);
}

bool LockViews::is_live(OperationId operation) const {
    return sessions_.find(operation.session) != nullptr;
}

bool LockViews::is_clear(const LockRecord& record, const WaitQueue* queue) const {
    const auto lives = [&](const Holder& holder) {
        return holder.has_left() || is_live(holder.operation);
    };
    if (!std::ranges::all_of(record.holders(), lives)) return false;
    if (queue == nullptr) return true;
    const auto& upgrade = queue->conversion();
    return (!upgrade || is_live(upgrade->operation)) &&
           std::ranges::all_of(queue->in_order(),
                               [&](const Waiter* waiter) { return is_live(waiter->operation); });
}

// True for a former holder, also if the traces of its session will be removed.
bool LockViews::is_in_the_way(std::string_view name, const Holder& holder) const {
    if (holder.has_left() || is_live(holder.operation)) return true;
    if (holder.broken || !holder.terms().is_set()) return false;
    const auto how = ended_.how(holder.operation.session);
    const bool delays = how == Predecessor::expired && holder.terms().lock_delay_ms != 0;
    return delays || table_.closures().keeps(name, holder.operation);
}

// True if a live waiter goes before the request and conflicts with it, except a writer that a batch
// of readers may overtake. A waiter for any of several names does not count: the sweep of another
// name may grant it there, and then it leaves this queue.
bool LockViews::is_hindered(const LockRecord& record, const WaitQueue& queue, LockMode mode,
                            Priority priority) const {
    if (queue.conversion() && is_live(queue.conversion()->operation)) return true;
    const auto rank = queue.rank_of_newcomer(mode, priority);
    const bool may_lead =
        record.policy() == QueuePolicy::phase_fair && !is_writer(mode) && priority > 0;
    return std::ranges::any_of(queue.in_order(), [&](const Waiter* waiter) {
        return waiter->part != Part::one_of && is_live(waiter->operation) &&
               conflict(waiter->mode, mode) && queue.rank_of(*waiter) < rank &&
               !(may_lead && is_writer(waiter->mode));
    });
}

namespace {

std::optional<Contention> contention_of(const Holder& held, const WaitQueue& queue) {
    const auto& upgrade = queue.conversion();
    const auto waiters = queue.size() + (upgrade ? 1 : 0);
    if (upgrade && OperationId{upgrade->operation.session, upgrade->hold} != held.operation)
        return Contention{LockMode::exclusive, waiters};
    const auto* first = queue.oldest([&](LockMode mode) { return conflict(held.mode, mode); });
    if (first == nullptr) return std::nullopt;
    return Contention{first->mode, waiters};
}

}  // namespace

std::optional<Contention> LockViews::contention(std::string_view name, OperationId hold) const {
    const auto found = contentions(name, {hold});
    return found.empty() ? std::nullopt : std::optional{found.front().second};
}

Contentions LockViews::contentions(std::string_view name,
                                   const std::set<OperationId>& holds) const {
    Contentions found;
    const auto* record = table_.find(name);
    const auto* queue = record == nullptr ? nullptr : record->queue();
    if (queue == nullptr) return found;
    for (const auto& held : record->holders()) {
        if (!holds.contains(held.operation)) continue;
        if (const auto one = contention_of(held, *queue)) found.emplace_back(held.operation, *one);
    }
    return found;
}

namespace {

bool is_nothing(const LockView& view) {
    return view.holders.empty() && view.waiters.empty() && !view.value && !view.is_closed &&
           view.is_lock();
}

}  // namespace

LockView LockViews::inspect(std::string_view name, std::size_t parties_max) const {
    LockView view;
    view.name = name;
    const auto* record = table_.find(name);
    if (record == nullptr) return view;
    add_holders(*record, parties_max, view);
    add_waiters(*record, parties_max, view);
    if (const auto* value = table_.values().find(name)) view.value = *value;
    for (const auto& holder : view.holders)
        add_session(holder.operation.session, view);
    for (const auto& waiter : view.waiters)
        add_session(waiter.operation.session, view);
    // A name that has only traces of ended sessions looks like an unknown one: it has no policy.
    if (record->state() != nullptr && (record->stays() || !is_nothing(view)))
        add_kind(*record->state(), parties_max, view);
    if (!is_nothing(view)) view.policy = record->policy();
    return view;
}

void LockViews::add_session(SessionId session, LockView& view) const {
    if (!view.nodes.try_emplace(session, node_of(session)).second) return;
    const auto* origin = origin_of(session);
    if (origin != nullptr) view.origins.emplace(session, *origin);
}

void LockViews::add_kind(const KindState& state, std::size_t max, LockView& view) const {
    const Onlooker to{max, [this](SessionId session) { return node_of(session); }};
    std::visit([&](const auto& one) { view.become(one.view(to)); }, state);
}

void LockViews::add_holders(const LockRecord& record, std::size_t max, LockView& view) const {
    std::vector<const Holder*> closed;
    for (const auto& holder : record.holders()) {
        const bool lives = ended_.is_empty() || is_live(holder.operation);
        if (holder.is_held() && lives) {
            ++view.holders_total;
            if (view.holders.size() < max) view.holders.push_back(holder.as_grant());
        } else if (is_in_the_way(view.name, holder)) {
            closed.push_back(&holder);
            view.is_closed = true;
            view.closed_under = std::max(view.closed_under, holder.token);
        }
    }
    if (view.is_closed) add_closings(closed, view);
}

void LockViews::add_waiters(const LockRecord& record, std::size_t max, LockView& view) const {
    const auto* queue = record.queue();
    if (queue == nullptr) return;
    const auto add = [&](auto make) {
        ++view.waiters_total;
        if (view.waiters.size() < max) view.waiters.push_back(make());
    };
    const auto& upgrade = queue->conversion();
    if (upgrade && is_live(upgrade->operation)) {
        const auto* hold = record.find({upgrade->operation.session, upgrade->hold});
        add([&] {
            return LockView::Waiting{
                upgrade->operation, LockMode::exclusive, upgrade->ticket.index, {}, 0,
                upgrade->hold,      hold->locker()};
        });
    }
    for (const auto* waiter : queue->in_order()) {
        if (!ended_.is_empty() && !is_live(waiter->operation)) continue;
        add([&] {
            return LockView::Waiting{waiter->operation, waiter->mode,     waiter->ticket.index,
                                     waiter->label,     waiter->priority, {},
                                     waiter->locker,    waiter->is_try,   waiter->permits};
        });
    }
}

void LockViews::add_closings(const std::vector<const Holder*>& closed, LockView& view) const {
    std::map<std::pair<FencingToken, Closure::Kind>, LockView::Closing> all;
    const auto add = [&](const Holder& holder, Closure::Kind kind) -> LockView::Closing& {
        return all.try_emplace({holder.token, kind}, LockView::Closing{kind, holder.token})
            .first->second;
    };
    std::map<OperationId, const Holder*> by_hold;
    for (const auto* holder : closed) {
        by_hold.emplace(holder->operation, holder);
        if (will_be_delayed(*holder))
            add(*holder, Closure::Kind::lock_delay).left =
                std::chrono::milliseconds{holder->terms().lock_delay_ms};
    }
    for (const auto& closure : table_.closures().of(view.name)) {
        const auto holder = by_hold.find(closure.hold);
        const bool closes = closure.kind != Closure::Kind::max_hold;
        if (holder != by_hold.end() && closes)
            add(*holder->second, closure.kind).closures.push_back(closure.id);
    }
    view.closings_total = all.size();
    for (auto closing = all.rbegin(); closing != all.rend(); ++closing)
        view.closings.push_back(std::move(closing->second));
}

// True if a lock_delay will begin when the traces of the holder's session are removed.
bool LockViews::will_be_delayed(const Holder& holder) const {
    const bool has_ended = !holder.has_left() && !is_live(holder.operation);
    return has_ended && holder.terms().lock_delay_ms != 0 &&
           ended_.how(holder.operation.session) == Predecessor::expired;
}

std::vector<LockView> LockViews::list(std::string_view prefix, std::string_view after,
                                      std::size_t limit, std::size_t parties_max) const {
    std::vector<LockView> views;
    std::size_t parties = 0;
    const auto& records = table_.records();
    auto record = after < prefix ? records.lower_bound(prefix) : records.upper_bound(after);
    for (; record != records.end() && views.size() < limit; ++record) {
        const auto name = (*record)->name();
        if (!name.starts_with(prefix) || parties >= parties_max) break;
        auto view = inspect(name, parties_max);
        if (is_nothing(view)) continue;
        if (view.value) view.value->bytes.clear();
        parties += view.holders.size() + view.waiters.size();
        views.push_back(std::move(view));
    }
    return views;
}

std::vector<SessionView> LockViews::sessions(SessionId after, std::size_t limit,
                                             std::size_t looks_max) const {
    std::vector<SessionView> views;
    std::size_t operations = 0;
    const auto& all = sessions_.all();
    for (auto at = all.upper_bound(after); at != all.end() && views.size() < limit; ++at) {
        if (operations >= looks_max) break;
        operations += at->second.operations.size();
        views.push_back(view_of(at->second));
    }
    return views;
}

SessionView LockViews::view_of(const Session& session) const {
    SessionView view;
    view.id = session.id;
    view.node = session.opened.node;
    view.ttl_ms = session.opened.ttl_ms;
    for (const auto& [seq, operation] : session.operations)
        (operation.held() ? view.holds : view.waits) += operation.names().size();
    view.label = label_of(session);
    view.origin = session.opened.origin;
    view.opened_at = session.opened_at;
    return view;
}

// Only the first operations are looked at, and no name with many holders.
std::string LockViews::label_of(const Session& session) const {
    constexpr int looks_max = 16;
    constexpr std::size_t holders_max = 16;
    int looks = 0;
    for (const auto& [seq, operation] : session.operations) {
        if (++looks > looks_max) break;
        const auto* record = operation.held() ? table_.find(operation.name()) : nullptr;
        if (record == nullptr || record->holders().size() > holders_max) continue;
        const auto* holder = record->find({session.id, seq});
        if (holder != nullptr && !holder->label().empty()) return holder->label();
    }
    return {};
}

NodeId LockViews::node_of(SessionId session) const {
    const auto* found = sessions_.find(session);
    return found == nullptr ? NodeId{} : found->opened.node;
}

const Origin* LockViews::origin_of(SessionId session) const {
    const auto* found = sessions_.find(session);
    return found == nullptr || !found->opened.origin.is_set() ? nullptr : &found->opened.origin;
}

}  // namespace mortise::core
