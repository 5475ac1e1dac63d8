// The invariants of a lock machine, which hold at every index.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/table/table_invariants.hpp"

namespace mortise::core {

namespace {

bool has(const Operation& operation, const RecordRef& record) {
    return std::ranges::find(operation.names(), record) != operation.names().end();
}

std::size_t names_of(const Operations& operations) {
    std::size_t names = 0;
    for (const auto& [seq, operation] : operations)
        names += operation.names().size();
    return names;
}

}  // namespace

const Operation* LockMachine::operation_of(OperationId id) const {
    const auto* session = sessions_.find(id.session);
    if (session == nullptr) return ended_.find(id);
    return session->operations.find(id.seq);
}

void LockMachine::check_invariants() const {
    ended_.check_invariants(sessions_);
    core::check_invariants(table_, ended_.names());
    check_operations();
    MORTISE_CHECK(!eras_.closing || sessions_.all().empty());
}

// The sessions have the same operations as the records of names.
void LockMachine::check_operations() const {
    std::size_t operations = 0;
    for (const auto& record : table_.records()) {
        for (const auto& holder : record->holders()) {
            if (holder.has_left()) continue;
            const auto* operation = operation_of(holder.operation);
            MORTISE_CHECK(operation != nullptr && operation->held() && has(*operation, record));
            ++operations;
        }
        const auto* queue = record->queue();
        if (queue == nullptr) continue;
        if (const auto& upgrade = queue->conversion()) {
            const auto* operation = operation_of(upgrade->operation);
            MORTISE_CHECK(operation != nullptr && !operation->held() && has(*operation, record));
            MORTISE_CHECK(operation->upgrades() == upgrade->hold);
            ++operations;
        }
        for (const auto* waiter : queue->in_order()) {
            const auto* operation = operation_of(waiter->operation);
            MORTISE_CHECK(operation != nullptr && !operation->held() && has(*operation, record));
            MORTISE_CHECK(operation->ticket() == waiter->ticket);
            ++operations;
        }
    }
    for (const auto& [id, session] : sessions_.all()) {
        operations -= names_of(session.operations);
        MORTISE_CHECK(session.names == names_of(session.operations));
    }
    for (const auto& [id, ended] : ended_.all())
        operations -= names_of(ended.operations);
    MORTISE_CHECK(operations == 0);
}

}  // namespace mortise::core
