#include "core/locks/lock_machine.hpp"

#include <utility>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

void LockMachine::apply(LogIndex index, const std::vector<Command>& batch, Outcomes& outcomes) {
    MORTISE_CHECK(index > index_);
    index_ = index;
    table_.begin(index);
    place_ = 0;
    outcomes_ = &outcomes;
    for (const auto& command : batch) {
        std::visit([this](const auto& c) { on(c); }, command);
        ++place_;
    }
    outcomes_ = nullptr;
}

// --- sessions
// -------------------------------------------------------------------------------------

void LockMachine::on(const OpenSession& command) {
    if (const auto* open = sessions_.find_by_nonce(command.nonce)) {
        outcomes_->push_back(SessionOpened{open->id, command.nonce});
        return;
    }
    // A copied or restored directory, or a request of a life that is over: the newer one stands.
    const auto newest = sessions_.newest_epoch(command.incarnation);
    const bool again = command.boot_epoch == newest && !command.former_life_ended;
    if (command.boot_epoch < newest || (command.boot_epoch == newest && !again)) {
        outcomes_->push_back(OpenRefused{command.nonce, OpenRefusal::epoch_not_newer});
        return;
    }
    if (command.former_life_ended) end_former_life(command.incarnation);
    if (sessions_.all().size() >= sessions_max) {
        outcomes_->push_back(OpenRefused{command.nonce, OpenRefusal::table_full});
        return;
    }
    const auto& session = sessions_.open(command, index_);
    outcomes_->push_back(SessionOpened{session.id, command.nonce});
}

void LockMachine::end_former_life(Incarnation incarnation) {
    std::vector<SessionId> former;
    for (const auto& [id, session] : sessions_.all()) {
        if (session.opened.incarnation == incarnation) former.push_back(id);
    }
    for (const auto id : former)
        end_session(id, SessionEnd::former_life);
}

void LockMachine::on(const Renew& command) {
    for (const auto& renewal : command.renewals) {
        const auto* found = sessions_.find(renewal.session);
        if (found == nullptr) {
            outcomes_->push_back(RenewalLost{renewal.session});
            continue;
        }
        // A late duplicate would prolong the life of the dead (P8).
        if (renewal.number <= found->renewal_number) continue;
        auto* session = sessions_.change(renewal.session);
        session->renewal_number = renewal.number;
        session->renewed_at = index_;
        outcomes_->push_back(SessionRenewed{renewal.session, renewal.number});
    }
}

void LockMachine::on(const CloseSession& command) {
    if (sessions_.find(command.session) != nullptr) {
        end_session(command.session, SessionEnd::closed);
    }
}

void LockMachine::on(const Expire& command) {
    const auto* session = sessions_.find(command.session);
    if (session == nullptr || session->renewed_at != command.renewed_at) return;
    end_session(command.session, SessionEnd::expired);
}

void LockMachine::end_session(SessionId id, SessionEnd how) {
    auto session = sessions_.remove(id);
    ++endings_;
    waited_cursor_.clear();
    waited_done_ = false;
    const auto left = how == SessionEnd::closed ? Predecessor::clean : Predecessor::expired;
    if (!session.operations.empty()) {
        ended_[id] = {left, std::move(session.operations)};
        changed_ended_.insert(id);
    }
    end_sweep();
    outcomes_->push_back(SessionEnded{id, how});
}

void LockMachine::on(const Acknowledge& command) {
    const auto* found = sessions_.find(command.session);
    if (found == nullptr || found->answered().empty()) return;
    if (command.received < found->answered().front().first) return;
    sessions_.change(command.session)->acknowledge(command.received);
}

// --- requests
// -------------------------------------------------------------------------------------

void LockMachine::on(const Request& command) {
    const auto* session = sessions_.find(command.session);
    if (session == nullptr) return;  // its node learns that by SessionEnded or RenewalLost
    const OperationId id{command.session, command.seq};
    if (session->seen.contains(command.seq)) {
        const auto kept = session->answers.find(command.seq);
        const auto waiting = session->operations.find(command.seq);
        if (kept != session->answers.end()) {
            outcomes_->push_back(Answered{id, kept->second});
        } else if (waiting != session->operations.end() && !waiting->second.held) {
            outcomes_->push_back(Queued{id});  // a repeat attaches to it again
        } else {
            outcomes_->push_back(Answered{id, {AnswerKind::stale_request, {}, {}}});
        }
        return;
    }
    if (command.after.is_set() && !session->seen.contains(command.after)) return;
    if (is_too_much(*session, command)) return;
    auto& changed = *sessions_.change(command.session);
    changed.seen.insert(command.seq);
    std::visit([&](const auto& body) { on(changed, command.seq, body); }, command.body);
}

// No session makes the state grow without bound (P11). Its node refuses long before. Only one that
// acknowledges nothing, or leaves gaps in its numbers that no order of arrival makes, gets here.
bool LockMachine::is_too_much(const Session& session, const Request& request) {
    const auto kept = session.operations.size() + session.answers.size();
    if (kept >= session_requests_max) return true;
    if (kept >= session_acquires_max && std::holds_alternative<Acquire>(request.body)) return true;
    if (session.seen.runs() < session_runs_max) return false;
    const auto* cancel = std::get_if<Cancel>(&request.body);
    return session.seen.is_apart(request.seq) ||
           (cancel != nullptr && session.seen.is_apart(cancel->operation));
}

void LockMachine::on(Session& session, Seq seq, const Acquire& acquire) {
    auto last = touch(acquire.name);
    const Ticket ticket{index_, place_};
    const OperationId id{session.id, seq};
    LockTable::Grants grants;
    const auto result = table_.acquire(ticket, id, acquire, std::move(last), grants);
    const bool stays = result == LockTable::Result::granted || result == LockTable::Result::queued;
    if (stays) session.operations[seq] = {acquire.name, acquire.mode, ticket, false};
    publish(std::move(grants));
    switch (result) {
        case LockTable::Result::granted: break;
        case LockTable::Result::queued: outcomes_->push_back(Queued{id}); break;
        case LockTable::Result::busy: answer(session, seq, {AnswerKind::busy, {}, {}}); break;
        case LockTable::Result::kind_mismatch:
            answer(session, seq, {AnswerKind::kind_mismatch, {}, {}});
            break;
        case LockTable::Result::resource_exhausted:
            answer(session, seq, {AnswerKind::resource_exhausted, {}, {}});
            break;
    }
}

void LockMachine::on(Session& session, Seq seq, const Release& release) {
    auto operation = take_operation(session, release.operation, true);
    if (!operation) {
        answer(session, seq, {AnswerKind::not_held, {}, {}});
        return;
    }
    give_up(session, seq, release.operation, *operation);
}

void LockMachine::on(Session& session, Seq seq, const Cancel& cancel) {
    if (auto operation = take_operation(session, cancel.operation, false)) {
        give_up(session, seq, cancel.operation, *operation);
        return;
    }
    if (session.seen.contains(cancel.operation)) {
        answer(session, seq, {AnswerKind::not_held, {}, {}});
        return;
    }
    // The cancel was faster than what it cancels: when that arrives, it has been.
    session.seen.insert(cancel.operation);
    answer(session, cancel.operation, {AnswerKind::cancelled, {}, {}});
    answer(session, seq, {AnswerKind::cancelled, {}, {}});
}

// Takes an operation that is about to end out of its session. Its name is cleared before: that may
// grant the very operation, and then it is a grant that ends.
std::optional<Operation> LockMachine::take_operation(Session& session, Seq seq, bool held_only) {
    auto found = session.operations.find(seq);
    if (found == session.operations.end()) return std::nullopt;
    touch(found->second.name);
    if (held_only && !found->second.held) return std::nullopt;
    return std::move(session.operations.extract(found).mapped());
}

// Ends `operation` at the request `seq`, answers, and lets others enter.
void LockMachine::give_up(Session& session, Seq seq, Seq target, const Operation& operation) {
    LockTable::Grants grants;
    if (operation.held) {
        const OperationId grant{session.id, target};
        const bool freed = table_.release(operation.name, grant, Predecessor::clean, grants);
        MORTISE_CHECK(freed);
        answer(session, seq, {AnswerKind::released, {}, {}});
    } else {
        table_.withdraw(operation.name, operation.ticket, operation.mode, grants);
        answer(session, target, {AnswerKind::cancelled, {}, {}});
        answer(session, seq, {AnswerKind::cancelled, {}, {}});
    }
    publish(std::move(grants));
}

void LockMachine::answer(Session& session, Seq seq, Answer answer) {
    outcomes_->push_back(Answered{{session.id, seq}, answer});
    session.keep_answer(index_, seq, std::move(answer));
}

void LockMachine::publish(LockTable::Grants grants) {
    for (auto& grant : grants) {
        auto* session = sessions_.change(grant.operation.session);
        MORTISE_CHECK(session != nullptr);  // grants go to live sessions only (#11456 of etcd)
        auto& operation = session->operations.at(grant.operation.seq);
        MORTISE_CHECK(!operation.held);
        operation.held = true;
        answer(*session, grant.operation.seq,
               {AnswerKind::granted, grant.token, std::move(grant.previous)});
    }
}

const Operation* LockMachine::operation_of(OperationId id) const {
    const auto* session = sessions_.find(id.session);
    const auto ended = ended_.find(id.session);
    if (session == nullptr && ended == ended_.end()) return nullptr;
    const auto& operations = session != nullptr ? session->operations : ended->second.operations;
    const auto found = operations.find(id.seq);
    return found == operations.end() ? nullptr : &found->second;
}

void LockMachine::check_invariants() const {
    LockTable::Views unfinished;
    for (const auto& [id, ended] : ended_) {
        MORTISE_CHECK(!ended.operations.empty() && sessions_.find(id) == nullptr);
        for (const auto& [seq, operation] : ended.operations)
            unfinished.insert(operation.name);
    }
    MORTISE_CHECK(!ended_.empty() || (waited_done_ && waited_cursor_.empty()));
    table_.check_invariants(unfinished);
    check_operations();
}

// What sessions have is what names tell of them.
void LockMachine::check_operations() const {
    std::size_t operations = 0;
    for (const auto& [name, record] : table_.records()) {
        for (const auto& holder : record.holders()) {
            const auto* operation = operation_of(holder.operation);
            MORTISE_CHECK(operation != nullptr && operation->held && operation->name == name);
            ++operations;
        }
        const auto* queue = table_.queue_of(name);
        if (queue == nullptr) continue;
        for (const auto* waiter : queue->in_order()) {
            const auto* operation = operation_of(waiter->operation);
            MORTISE_CHECK(operation != nullptr && !operation->held && operation->name == name);
            MORTISE_CHECK(operation->ticket == waiter->ticket && operation->mode == waiter->mode);
            ++operations;
        }
    }
    for (const auto& [id, session] : sessions_.all())
        operations -= session.operations.size();
    for (const auto& [id, ended] : ended_)
        operations -= ended.operations.size();
    MORTISE_CHECK(operations == 0);
}

}  // namespace mortise::core
