// Requests for latches (S35), and their answers. table_latches.cpp has their effect on a name.
#include <utility>

#include "core/locks/limits.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

void LockMachine::on(Session& session, Seq seq, const CountDown& request) {
    if (request.expected > latch_max)
        return answer(session, seq, {AnswerKind::invalid_argument, {}, {}});
    touch(request.name);
    LockTable::Grants grants;
    const auto kind = table_.count_down(request, grants);
    answer(session, seq, {kind, {}, {}});
    publish(std::move(grants));
}

void LockMachine::on(Session& session, Seq seq, const AwaitLatch& request) {
    if (request.expected > latch_max)
        return answer(session, seq, {AnswerKind::invalid_argument, {}, {}});
    touch(request.name);
    Waiter waiter;
    waiter.ticket = {index_, place_};
    waiter.operation = {session.id, seq};
    waiter.label = request.label;
    const Operation::More more{.ticket = waiter.ticket};
    RecordRefs stands;
    const auto result = table_.await_latch(std::move(waiter), request, stands);
    if (result == LockTable::Result::queued) add_operation(session, seq, {std::move(stands), more});
    tell(session, seq, result);
}

}  // namespace mortise::core
