// Requests that change the limit of a semaphore (S34) or remove what a name has without holders
// (S37), and their answers. table_permits.cpp has their effect on a name.
#include <utility>

#include "core/locks/limits.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

void LockMachine::on(Session& session, Seq seq, const Resize& request) {
    if (request.limit > semaphore_limit_max)
        return answer(session, seq, {AnswerKind::invalid_argument, {}, {}});
    auto last = touch(request.name);
    LockTable::Grants grants;
    const auto kind = table_.resize(request, std::move(last), grants);
    answer(session, seq, {kind, {}, {}});
    publish(std::move(grants));
}

void LockMachine::on(Session& session, Seq seq, const Remove& request) {
    touch(request.name);
    const bool removed = table_.remove(request.name);
    answer(session, seq, {removed ? AnswerKind::stored : AnswerKind::busy, {}, {}});
}

}  // namespace mortise::core
