#include "core/locks/machine/lock_machine.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/origin.hpp"

namespace mortise::core {

void LockMachine::apply(LogIndex index, const std::vector<Command>& batch, Outcomes& outcomes) {
    begin_entry(index, outcomes);
    for (const auto& command : batch) {
        tell_who_ended();
        std::visit([this](const auto& c) { on(c); }, command);
        end_command();
        ++place_;
    }
    end_entry();
}

void LockMachine::begin_entry(LogIndex index, Outcomes& outcomes) {
    MORTISE_CHECK(index > index_);
    index_ = index;
    place_ = 0;
    outcomes_ = &outcomes;
    table_.name_changes().begin_entry();
    table_.forget_changed_queues();
}

void LockMachine::end_entry() {
    table_.begin(index_, ended_.endings(), nullptr);
    how_ended_ = nullptr;
    outcomes_ = nullptr;
}

void LockMachine::answer(Session& session, Seq seq, Answer answer) {
    auto& told = outcomes_->emplace_back(std::in_place_type<Answered>);
    auto& [operation, told_answer] = std::get<Answered>(told);
    operation = {session.id, seq};
    told_answer = answer;
    session.answers.keep(index_, seq, std::move(answer));
}

void LockMachine::publish(LockTable::Grants grants) {
    for (auto& [name, closure] : table_.take_begun_closures()) {
        outcomes_->push_back(ClosureBegun{closure.id, closure.kind, std::move(name), closure.hold,
                                          closure.since, closure.time_ms, closure.rho_ppm});
    }
    for (const auto closure : table_.take_ended_closures())
        outcomes_->push_back(ClosureEnded{closure});
    for (const auto& [name, operations] : table_.take_gone()) {
        for (const auto gone : operations)
            ended_.forget(gone, name);
    }
    for (auto& grant : grants) {
        auto* session = sessions_.change(grant.operation.session);
        MORTISE_CHECK(session != nullptr);  // grants go to live sessions only (#11456 of etcd)
        const auto seq = grant.operation.seq;
        auto& operation = session->operations.at(seq);
        // What is granted at once took its place as a hold.
        MORTISE_CHECK(!operation.held() || seq == session->applied);
        if (grant.answer.cached_tokens != 0) forget_locker({session->id, seq}, operation);
        const LockerId locker{session->id, operation.locker()};
        if (locker.number != 0) deadlocks_.let_in(locker);
        if (operation.upgrades().is_set() || holds_nothing(grant.answer.kind)) {
            end_operation(*session, seq);
        } else {
            take_hold(*session, seq, operation, grant.answer);
            lockers_.grant(locker, seq);
        }
        answer(*session, seq, std::move(grant.answer));
    }
    grants.clear();
    spare_ = std::move(grants);
}

// A request for any of several names has got one of them.
void LockMachine::take_hold(Session& session, Seq seq, Operation& operation,
                            const Answer& granted) {
    if (operation.is_bounded()) uncounted_.add(session.id, seq);
    if (operation.held() && granted.names.empty()) return;
    RecordRefs got;
    for (const auto& record : operation.names()) {
        const bool is_got =
            granted.names.empty() || std::ranges::any_of(granted.names, [&](const NamedGrant& one) {
                return one.name == record->name();
            });
        if (is_got) got.push_back(record);
    }
    session.names -= operation.names().size() - got.size();
    operation.grant(std::move(got));
}

// Whether the locker of a cached grant holds it is not known until it is published (S45).
void LockMachine::forget_locker(OperationId id, Operation& operation) {
    lockers_.end({id.session, operation.locker()}, id.seq);
    operation.set_locker(0);
}

// It must exist.
Operation LockMachine::end_operation(Session& session, Seq seq) {
    auto operation = session.operations.take(seq);
    session.names -= operation.names().size();
    lockers_.end({session.id, operation.locker()}, seq);
    return operation;
}

// --- sessions -----------------------------------------------------------------------------------

void LockMachine::on(const OpenSession& command) {
    if (const auto* open = sessions_.find_by_nonce(command.nonce)) {
        outcomes_->push_back(SessionOpened{open->id, command.nonce});
        return;
    }
    // This is a copied or restored directory, or a late request of an earlier run: the newer run
    // counts.
    const auto newest = sessions_.newest_start(command.generation.incarnation);
    const bool again = command.generation.is_same_start(newest);
    if (command.generation.is_earlier_than(newest) || (again && command.former_life_ended)) {
        outcomes_->push_back(OpenRefused{command.nonce, OpenRefusal::epoch_not_newer});
        return;
    }
    if (eras_.closing) {
        outcomes_->push_back(OpenRefused{command.nonce, OpenRefusal::era});
        return;
    }
    if (command.former_life_ended) end_former_life(command.generation.incarnation);
    const bool is_clients = !command.node.is_set();
    if (sessions_.all().size() >= sessions_max ||
        (is_clients && sessions_.clients() >= client_sessions_max)) {
        outcomes_->push_back(OpenRefused{command.nonce, OpenRefusal::table_full});
        return;
    }
    auto& session = sessions_.open(command, index_);
    // Without a mark there will never be a time of this entry, and version 0.2 knows no such index.
    if (!clock_.is_empty()) session.opened_at = index_;
    outcomes_->push_back(SessionOpened{session.id, command.nonce});
}

void LockMachine::end_former_life(Incarnation incarnation) {
    std::vector<SessionId> former;
    for (const auto& [id, session] : sessions_.all()) {
        if (session.opened.generation.incarnation == incarnation) former.push_back(id);
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
        // A late duplicate would prolong the lease of a dead process (P8).
        if (renewal.number <= found->renewal_number) continue;
        auto* session = sessions_.change(renewal.session);
        session->renewal_number = renewal.number;
        session->renewed_at = index_;
        std::vector<Seq> broken(session->broken.begin(), session->broken.end());
        outcomes_->push_back(SessionRenewed{renewal.session, renewal.number, std::move(broken)});
    }
}

void LockMachine::on(const Expire& command) {
    if (sessions_.is_newest_renewal(command.session, command.renewed_at))
        end_session(command.session, SessionEnd::expired);
}

void LockMachine::on(const Clock& command) {
    clock_.add(index_, command.ms);
}

void LockMachine::end_session(SessionId id, SessionEnd how) {
    break_barriers_of(id);
    auto session = sessions_.remove(id);
    lockers_.forget(id);
    uncounted_.forget(id);
    Departure departure;
    if (how != SessionEnd::closed)
        departure = {Predecessor::expired, default_label(session.opened.origin)};
    if (lockers_.is_anybody_tied()) note_turns(session.operations);
    ended_.add(id, std::move(departure), std::move(session.operations));
    tell_who_ended();  // a refusal later in this command may grant requests on its names (S33)
    outcomes_->push_back(SessionEnded{id, how});
}

void LockMachine::on(const Acknowledge& command) {
    const auto* found = sessions_.find(command.session);
    if (found == nullptr) return;
    if (uncounted_.has(found->id)) {
        uncounted_.begin_counting(*found, command.received, table_);
        publish({});
    }
    if (found->answers.empty() || command.received < found->answers.oldest()) return;
    sessions_.change(command.session)->answers.acknowledge(command.received);
}

}  // namespace mortise::core
