// The requests of sessions, each at most once (S17): acquire, release, cancel. Conversions
// are in conversions.cpp.
#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/overloaded.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/needed_rights.hpp"
#include "core/locks/origin.hpp"

namespace mortise::core {

namespace {

// True for a request that may wait, beyond the session's limits. It is refused with an answer, so
// that later releases still proceed.
bool is_too_much(const Session& session, const RequestBody& body) {
    const bool has_too_much = session.answers.size() >= session_acquires_max ||
                              session.answers.bytes() >= session_acquires_bytes_max ||
                              session.names >= session_operations_max ||
                              session.broken.size() >= session_acquires_max;
    return has_too_much && std::visit(Overloaded{[](const Acquire&) { return true; },
                                                 [](const WaitingRequest auto&) { return true; },
                                                 [](const auto&) { return false; }},
                                      body);
}

}  // namespace

// The requests of a session are applied in the order of their numbers, each exactly once (S17). So
// the answers that are given when a request is applied are in that order as well, in the log and in
// Session::answers. A request that has to wait is answered later. A repeated request gets its
// answer again.
void LockMachine::on(const Request& command) {
    const auto* session = sessions_.find(command.session);
    if (session == nullptr) return;  // its node learns that by SessionEnded or RenewalLost
    if (command.seq <= session->applied) return tell_again(*session, command.seq);
    // A request that arrives before an earlier one is ignored; its node resends it.
    if (command.seq != session->applied.next()) return;
    if (session->has_too_many_answers()) return;
    auto& changed = *sessions_.change(command.session);
    changed.applied = command.seq;
    if (is_too_much(changed, command.body))
        return answer(changed, command.seq, {AnswerKind::resource_exhausted, {}, {}});
    if (missing_right(changed.opened.access, command.body))
        return answer(changed, command.seq, {AnswerKind::permission_denied, {}, {}});
    std::visit(
        Overloaded{[&](const KindRequest auto&) { on_kind(changed, command.seq, command.body); },
                   [&](const auto& body) { on(changed, command.seq, body); }},
        command.body);
}

// If the request still waits, its caller is attached to its place in the queue.
void LockMachine::tell_again(const Session& session, Seq seq) {
    const OperationId id{session.id, seq};
    if (const auto* kept = session.answers.find(seq)) {
        outcomes_->push_back(Answered{id, *kept});
    } else if (session.operations.waits(seq)) {
        outcomes_->push_back(Queued{id});
    } else {
        outcomes_->push_back(Answered{id, {AnswerKind::stale_request, {}, {}}});
    }
}

namespace {

// S43.
bool may_be_cached(const Acquire& request) {
    const auto mode = request.names.front().mode;
    return request.names.size() == 1 && request.which == Acquire::Which::any &&
           (mode == LockMode::exclusive || mode == LockMode::shared) && !request.terms.is_set() &&
           request.cached_tokens <= cached_tokens_max;
}

// What a semaphore does not have: modes, policies, lockers, cached grants (S34).
bool may_ask_for_permits(const Acquire& request) {
    const bool is_one = request.names.size() == 1 && request.which == Acquire::Which::any &&
                        request.names.front().mode == LockMode::exclusive;
    const bool is_plain = request.policy == QueuePolicy{} && !request.policy_given &&
                          !request.locker.is_set() && request.cached_tokens == 0;
    return is_one && is_plain && request.permits <= permits_max && request.limit != 0 &&
           request.limit <= semaphore_limit_max;
}

bool is_sound(const Acquire& request) {
    const bool is_of_a_kind =
        request.permits == 0 ? request.limit == 0 : may_ask_for_permits(request);
    if (!is_of_a_kind || (request.cached_tokens != 0 && !may_be_cached(request))) return false;
    if (request.names.size() == 1) return true;
    ShortList<std::string_view> names;
    for (const auto& one : request.names)
        names.push_back(one.name);
    if (request.which == Acquire::Which::any) std::ranges::sort(names);
    const auto* wrong = std::ranges::adjacent_find(names, std::ranges::greater_equal{});
    return !names.empty() && names.size() <= names_at_once_max && wrong == names.end();
}

// The mode is set later. A request for all of several names has no priority.
Waiter waiter_of(const Acquire& request) {
    const bool all = request.which == Acquire::Which::all;
    Waiter waiter;
    waiter.priority = all ? Priority{0} : request.priority;
    waiter.label = request.label;
    waiter.locker = request.locker;
    waiter.cached_tokens = request.cached_tokens;
    waiter.is_try = !request.wait;
    waiter.permits = request.permits;
    if (all || request.names.size() > 1) waiter.part = all ? Part::all_of : Part::one_of;
    return waiter;
}

}  // namespace

void LockMachine::on(Session& session, Seq seq, const Acquire& request) {
    if (!is_sound(request)) return answer(session, seq, {AnswerKind::invalid_argument, {}, {}});
    auto waiter = waiter_of(request);
    waiter.ticket = {index_, place_};
    waiter.operation = {session.id, seq};
    waiter.terms = counted_terms(request.terms, session.opened.rho_ppm);
    LockTable::LastHolders last;
    if (!ended_.is_empty()) {
        for (const auto& one : request.names)
            last.push_back(touch(one.name));
    }
    Operation::More more{.ticket = waiter.ticket,
                         .locker = request.locker.number,
                         .is_bounded = request.terms.max_hold_ms != 0,
                         .is_try = !request.wait};
    auto grants = std::exchange(spare_, {});
    RecordRefs stands;
    const auto result = table_.acquire(waiter, request, std::move(last), grants, stands);
    more.held = result == LockTable::Result::granted;
    if (more.held || result == LockTable::Result::queued)
        add_operation(session, seq, {std::move(stands), more});
    publish(std::move(grants));
    tell(session, seq, result);
}

void LockMachine::add_operation(Session& session, Seq seq, Operation operation) {
    session.names += operation.names().size();
    lockers_.begin({session.id, operation.locker()}, seq);
    session.operations.add(seq, std::move(operation));
}

void LockMachine::tell(Session& session, Seq seq, LockTable::Result result) {
    switch (result) {
        case LockTable::Result::granted: break;
        case LockTable::Result::queued: deadlocks_.queued({session.id, seq}); break;
        case LockTable::Result::busy: answer(session, seq, {AnswerKind::busy, {}, {}}); break;
        case LockTable::Result::kind_mismatch:
            answer(session, seq, {AnswerKind::kind_mismatch, {}, {}});
            break;
        case LockTable::Result::resource_exhausted:
            answer(session, seq, {AnswerKind::resource_exhausted, {}, {}});
            break;
    }
}

// If the hold was broken, this release confirms that (S24), even if nothing of the hold is left.
void LockMachine::on(Session& session, Seq seq, const Release& release) {
    auto operation = take_operation(session, release.operation, true);
    const bool lost = session.broken.erase(release.operation) != 0;
    const auto kind = lost ? AnswerKind::lost : AnswerKind::released;
    const auto how = release.lost ? Predecessor::expired : Predecessor::clean;
    if (operation) return give_back(session, seq, release.operation, *operation, {kind, how});
    answer(session, seq, {lost ? AnswerKind::lost : AnswerKind::not_held, {}, {}});
}

// The request that it names was applied earlier, since a Cancel names only smaller numbers.
void LockMachine::on(Session& session, Seq seq, const Cancel& cancel) {
    if (const auto* arrival = waiting_arrival(session, cancel.operation))
        return on(session, seq, Quit{cancel.operation, std::string{arrival->name()}});
    auto operation = take_operation(session, cancel.operation, false);
    const bool lost = session.broken.erase(cancel.operation) != 0;
    const auto kind = lost ? AnswerKind::lost : AnswerKind::released;
    if (operation) return give_up(session, seq, cancel.operation, *operation, kind);
    answer(session, seq, {lost ? AnswerKind::lost : AnswerKind::not_held, {}, {}});
}

// The hold is its locker's from now on, which may complete a wait cycle.
void LockMachine::on(Session& session, Seq seq, const Publish& request) {
    const auto* held = held_operation(session, request.operation);
    if (held == nullptr) return answer(session, seq, {AnswerKind::not_held, {}, {}});
    const OperationId hold{session.id, request.operation};
    const auto record = held->names().front();
    if (!table_.publish(record, hold, request))
        return answer(session, seq, {AnswerKind::invalid_argument, {}, {}});
    const LockerId locker{session.id, request.locker.number};
    session.operations.at(request.operation).set_locker(locker.number);
    lockers_.begin(locker, request.operation);
    lockers_.grant(locker, request.operation);
    if (locker.number != 0) deadlocks_.let_in(locker);
    answer(session, seq, {AnswerKind::stored, {}, {}});
    if (request.ended) return;
    refuse_reader_that_upgrades(record);
    refuse_tries(*record);
}

// The name is in use, as it turns out (S43).
void LockMachine::refuse_tries(const NamedRecord& record) {
    const auto* queue = record.queue();
    if (queue == nullptr) return;
    std::vector<OperationId> tries;
    for (const auto* waiter : queue->in_order()) {
        if (waiter->is_try && sessions_.find(waiter->operation.session) != nullptr)
            tries.push_back(waiter->operation);
    }
    for (const auto id : tries) {
        auto& session = *sessions_.change(id.session);
        if (!session.operations.waits(id.seq)) continue;
        auto grants = withdraw(end_operation(session, id.seq));
        answer(session, id.seq, {AnswerKind::busy, {}, {}});
        publish(std::move(grants));
    }
}

// The name has another reader, as it turns out (S27).
void LockMachine::refuse_reader_that_upgrades(const RecordRef& record) {
    const auto* conversion = reader_that_upgrades(*record);
    if (conversion == nullptr) return;
    const auto upgrade = conversion->operation;
    auto& session = *sessions_.change(upgrade.session);
    end_operation(session, upgrade.seq);
    answer(session, upgrade.seq, {AnswerKind::deadlock, {}, {}});
    LockTable::Grants grants;
    table_.withdraw_upgrade(record, grants);
    publish(std::move(grants));
}

void LockMachine::on(Session& session, Seq seq, const Declined& /*request*/) {
    answer(session, seq, {AnswerKind::resource_exhausted, {}, {}});
}

void LockMachine::on(Session& session, Seq /*seq*/, const CloseSession& /*request*/) {
    end_session(session.id, SessionEnd::closed);
}

// Removes from its session an operation that is about to end. First the traces of ended sessions
// are removed from its names. This may grant the operation itself, and then a grant ends; an
// upgrade that was granted is no operation any more.
std::optional<Operation> LockMachine::take_operation(Session& session, Seq seq, bool held_only) {
    const auto* found = session.operations.find(seq);
    if (found == nullptr) return std::nullopt;
    if (touch_all(found->names())) found = session.operations.find(seq);
    if (found == nullptr || (held_only && !found->held())) return std::nullopt;
    return end_operation(session, seq);
}

// Ends `operation` because of the request `seq`. Answers `seq`, with `kind` if the operation was
// held, and grants waiters that can be granted now.
void LockMachine::give_up(Session& session, Seq seq, Seq target, const Operation& operation,
                          AnswerKind kind) {
    if (operation.held()) {
        return give_back(session, seq, target, operation, {kind, Predecessor::clean});
    }
    auto grants = withdraw(operation);
    answer(session, target, {AnswerKind::cancelled, {}, {}});
    answer(session, seq, {AnswerKind::cancelled, {}, {}});
    publish(std::move(grants));
}

LockTable::Grants LockMachine::withdraw(const Operation& operation) {
    LockTable::Grants grants;
    if (operation.upgrades().is_set()) {
        table_.withdraw_upgrade(operation.names().front(), grants);
    } else {
        table_.withdraw(operation.names(), operation.ticket(), grants);
    }
    return grants;
}

// A waiting upgrade of the hold is cancelled with it (S27).
void LockMachine::give_back(Session& session, Seq seq, Seq target, const Operation& operation,
                            Leaving leaving) {
    auto grants = std::exchange(spare_, {});
    const OperationId grant{session.id, target};
    const auto upgrade = table_.cancel_upgrade(operation.names().front(), grant);
    if (leaving.how != Predecessor::clean) {
        for (const auto& record : operation.names())
            record->set_label_if_none(grant, default_label(session.opened.origin));
    }
    table_.release(operation.names(), grant, leaving.how, grants);
    answer(session, seq, {leaving.answer, {}, {}});
    if (upgrade) {
        end_operation(session, upgrade->operation.seq);
        answer(session, upgrade->operation.seq, {AnswerKind::cancelled, {}, {}});
    }
    publish(std::move(grants));
}

}  // namespace mortise::core
