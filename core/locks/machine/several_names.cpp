// Requests for several names at once (S32): the effect on the table, and the outcomes for a
// session.
//
// A request for all of them waits in each queue as a barrier: everything that it waits for is
// older, in every queue. So no two of them wait for each other, and nobody holds while waiting.
#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

// --- asking -------------------------------------------------------------------------------------

// `granted`: there is no reason to refuse it.
LockTable::Result LockTable::refusal(const AcquireSeveral& request) const {
    std::size_t created = 0;
    for (const auto& [name, mode] : request.names) {
        const auto* record = find(name);
        if (record == nullptr) ++created;
        const bool differs = record != nullptr && record->policy() != request.policy;
        if (differs && request.policy_given) return Result::kind_mismatch;
    }
    const bool fits = records_.size() + created <= records_max &&
                      std::ranges::none_of(request.names, [&](const NamedMode& one) {
                          return is_left_by_too_many(one.name, request.terms);
                      });
    return fits ? Result::granted : Result::resource_exhausted;
}

LockTable::Result LockTable::acquire(const Newcomer& who, const AcquireSeveral& request,
                                     std::vector<Previous> last, Grants& grants) {
    const auto refused = refusal(request);
    if (refused != Result::granted) return refused;
    const bool all = request.which == AcquireSeveral::Which::all;
    const Waiter waiter{who.ticket,          who.operation,
                        LockMode::exclusive, all ? Priority{0} : request.priority,
                        request.label,       all ? Part::all_of : Part::one_of,
                        request.locker,      who.terms};
    return all ? acquire_all(waiter, request, std::move(last), grants)
               : acquire_any(waiter, request, std::move(last), grants);
}

namespace {

LockTable::NameList all_names(const AcquireSeveral& request) {
    LockTable::NameList names;
    for (const auto& one : request.names)
        names.push_back(one.name);
    return names;
}

}  // namespace

// It overtakes nobody: it enters at once only where nobody waits.
LockTable::Result LockTable::acquire_all(const Waiter& waiter, const AcquireSeveral& request,
                                         std::vector<Previous> last, Grants& grants) {
    const bool is_free = std::ranges::all_of(request.names, [&](const NamedMode& one) {
        const auto* record = find(one.name);
        return record == nullptr || (queue_of(one.name) == nullptr && record->admits(one.mode));
    });
    if (!is_free && !request.wait) return Result::busy;
    for (std::size_t i = 0; i < request.names.size(); ++i)
        ensure(request.names[i].name, request.policy, std::move(last[i]));
    queue_up(waiter, request.names);
    return settle_newcomer(all_names(request), waiter.operation, grants);
}

// The names are tried in the order given before it waits anywhere.
LockTable::Result LockTable::acquire_any(const Waiter& waiter, const AcquireSeveral& request,
                                         std::vector<Previous> last, Grants& grants) {
    for (std::size_t i = 0; i < request.names.size(); ++i) {
        const auto& one = request.names[i];
        if (!would_grant(one.name, one.mode, waiter.priority)) continue;
        ensure(one.name, request.policy, std::move(last[i]));
        queue_up(waiter, {one});
        return settle_newcomer({one.name}, waiter.operation, grants);
    }
    if (!request.wait) return Result::busy;
    queue_up(waiter, request.names);
    return settle_newcomer(all_names(request), waiter.operation, grants);
}

// A request for all of several names that leads this queue may be let in by the sweep of its other
// names, and then others here.
bool LockTable::may_spread(std::string_view name) const {
    const auto* queue = queue_of(name);
    return ended_ != nullptr && queue != nullptr && queue->has_barrier();
}

void LockTable::queue_up(const Waiter& waiter, const std::vector<NamedMode>& names) {
    for (const auto& [name, mode] : names) {
        auto place = waiter;
        place.mode = mode;
        const bool joined = join_group(name, place);
        MORTISE_CHECK(joined);
        const auto policy = records_.at(name).policy();
        queues_.try_emplace(name, policy).first->second.add(std::move(place));
    }
}

bool LockTable::join_group(const std::string& name, const Waiter& waiter) {
    auto& group =
        groups_.try_emplace(waiter.ticket, Group{waiter.operation, waiter.part, {}}).first->second;
    const bool same = group.operation == waiter.operation && group.part == waiter.part;
    return same && group.names.emplace(name, waiter.mode).second;
}

std::size_t LockTable::names_waited_for(Ticket ticket) const {
    const auto group = groups_.find(ticket);
    return group == groups_.end() ? 0 : group->second.names.size();
}

void LockTable::leave_group(const std::string& name, Ticket ticket) {
    const auto group = groups_.find(ticket);
    MORTISE_CHECK(group != groups_.end());
    group->second.names.erase(name);
    if (group->second.names.empty()) groups_.erase(group);
}

// --- being let in -------------------------------------------------------------------------------

bool LockTable::is_at_head(const Waiter& barrier, const std::string& name) const {
    const auto* queue = queue_of(name);
    if (queue == nullptr) return false;
    return !queue->conversion() && queue->head()->ticket == barrier.ticket;
}

// Removes what ended sessions have on its names. True if there was something.
bool LockTable::clear_for(const Waiter& barrier) {
    bool cleared = false;
    for (const auto& [name, mode] : groups_.at(barrier.ticket).names) {
        auto dead = remove_dead(name, std::numeric_limits<std::size_t>::max());
        if (dead.gone.empty()) continue;
        gone_.emplace_back(name, std::move(dead.gone));
        moved_.insert(name);
        cleared = true;
    }
    return cleared;
}

// One grant and one token for each name, or nothing.
bool LockTable::serve_barrier(const Waiter& barrier, Grants& grants) {
    const auto ticket = barrier.ticket;
    const auto& group = groups_.at(ticket);
    const bool ready = std::ranges::all_of(group.names, [&](const auto& one) {
        return is_at_head(barrier, one.first) && find(one.first)->admits(one.second);
    });
    if (!ready) return false;
    NewGrant given{group.operation, {}, {}};
    for (const auto& [name, mode] : group.names) {
        auto& record = records_.at(name);
        const auto waiter = queues_.at(name).remove(ticket);
        Grants one;
        grant(name, record, waiter, one);
        given.names.push_back({name, one.front().token, std::move(one.front().previous)});
        moved_.insert(name);
    }
    grants.push_back(std::move(given));
    groups_.erase(ticket);
    return true;
}

// A request for any of several names has got one.
void LockTable::leave_other_queues(const Waiter& entering, const std::string& name) {
    auto group = groups_.extract(entering.ticket);
    MORTISE_CHECK(!group.empty());
    for (const auto& [other, mode] : group.mapped().names) {
        if (other == name) continue;
        queues_.at(other).remove(entering.ticket);
        note_turn(other);
        moved_.insert(other);
    }
}

// --- for a session ------------------------------------------------------------------------------

namespace {

bool is_sound(const AcquireSeveral& request) {
    auto names = request.names;
    const bool any = request.which == AcquireSeveral::Which::any;
    if (any) std::ranges::sort(names, {}, &NamedMode::name);
    const auto wrong =
        std::ranges::adjacent_find(names, std::ranges::greater_equal{}, &NamedMode::name);
    return !names.empty() && names.size() <= names_at_once_max && wrong == names.end();
}

}  // namespace

void LockMachine::on(Session& session, Seq seq, const AcquireSeveral& request) {
    if (!is_sound(request)) return answer(session, seq, {AnswerKind::invalid_argument, {}, {}});
    std::vector<Previous> last;
    LockTable::NameList names;
    for (const auto& one : request.names) {
        last.push_back(touch(one.name));
        names.push_back(one.name);
    }
    std::ranges::sort(names);
    const Ticket ticket{index_, place_};
    LockTable::Grants grants;
    const auto terms = counted(request.terms, session.opened.rho_ppm);
    const auto result =
        table_.acquire({ticket, {session.id, seq}, terms}, request, std::move(last), grants);
    take_place(session, seq, result,
               {std::move(names),
                ticket,
                false,
                {},
                request.locker.number,
                request.terms.max_hold_ms != 0});
    publish(std::move(grants));
    tell(session, seq, result);
}

}  // namespace mortise::core
