// Requests for names of all kinds but locks, and their answers. The room of each kind
// (core/locks/kinds) has what a request does to the state of a name.
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/base/overloaded.hpp"
#include "core/locks/field_coding.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

namespace {

// Why the request changes nothing; empty if it does. `known` is null if the name is unknown.
template <class Body>
std::optional<AnswerKind> refusal(const Body& request, SessionId by, const LockRecord* known,
                                  std::size_t names) {
    using State = typename Body::State;
    const auto* state = known == nullptr ? nullptr : known->as<State>();
    if (known != nullptr && state == nullptr) return AnswerKind::kind_mismatch;
    const auto refused = request.refusal(state == nullptr ? request.made() : *state, by);
    if (refused) return refused;
    if (known == nullptr && names >= records_max) return AnswerKind::resource_exhausted;
    return {};
}

template <class Body>
bool is_in_range(const Body& request) {
    RangeCheck of;
    request.fields(of, request);
    return of.ok();
}

}  // namespace

void LockMachine::on_kind(Session& session, Seq seq, const RequestBody& body) {
    std::visit(Overloaded{[&](const KindRequest auto& one) { ask(session, seq, one); },
                          [](const auto&) {}},
               body);
}

// What the request says about a new name counts only where the name begins to exist. Who had it
// before matters only to those that will hold it.
template <class Body>
void LockMachine::ask(Session& session, Seq seq, const Body& request) {
    using State = typename Body::State;
    constexpr bool is_of_barrier = std::is_same_v<State, Barrier>;
    if (!is_in_range(request)) return answer(session, seq, {AnswerKind::invalid_argument, {}, {}});
    auto last = touch(request.name);
    if (is_of_barrier && !may_take_part(session.id, request.name))
        return answer(session, seq, {AnswerKind::resource_exhausted, {}, {}});
    auto record = table_.names().look_up(request.name);
    if (const auto refused = refusal(request, session.id, record.get(), table_.size()))
        return answer(session, seq, {*refused, {}, {}});
    if (!record)
        record = table_.make(request.name, request.made(),
                             State::has_holders ? std::move(last) : Previous{});
    auto& state = *record->template as<State>();
    const auto step = request.apply(state, session.id);
    if constexpr (is_of_barrier) note_party(session.id, request.name, state);
    LockTable::Grants grants;
    table_.stepped(record, step.others, grants);
    if (step.answer) {
        answer(session, seq, {*step.answer, {}, {}});
    } else if constexpr (WaitingRequest<Body>) {
        wait(session, seq, record, request.label);
    }
    publish(std::move(grants));
}

void LockMachine::wait(Session& session, Seq seq, const RecordRef& record,
                       const std::string& label) {
    Waiter waiter;
    waiter.ticket = {index_, place_};
    waiter.operation = {session.id, seq};
    waiter.label = label;
    const Operation::More more{.ticket = waiter.ticket};
    RecordRefs stands;
    table_.wait(std::move(waiter), record, stands);
    add_operation(session, seq, {std::move(stands), more});
    deadlocks_.queued({session.id, seq});
}

void LockMachine::on(Session& session, Seq seq, const Remove& request) {
    touch(request.name);
    const auto* record = table_.find(request.name);
    const auto* barrier = record == nullptr ? nullptr : record->as<Barrier>();
    const auto members = barrier == nullptr ? Barrier::Members{} : barrier->members();
    const bool removed = table_.remove(request.name);
    if (removed) forget_parties(members, request.name);
    answer(session, seq, {removed ? AnswerKind::stored : AnswerKind::busy, {}, {}});
}

}  // namespace mortise::core
