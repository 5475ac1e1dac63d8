// What the writes of a value do to a name (S36, S37).
#include <utility>

#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

LockTable::Stored LockTable::set_value(const RecordRef& record, OperationId hold,
                                       std::string bytes) {
    if (!holds_alone(record.get(), hold)) return Stored::not_exclusive;
    if (!holds_.set_value(record->name(), *record->find(hold), std::move(bytes)))
        return Stored::full;
    names_.changed(record);
    return Stored::stored;
}

LockTable::Stored LockTable::mark_consistent(const RecordRef& record, OperationId hold) {
    if (!holds_alone(record.get(), hold)) return Stored::not_exclusive;
    if (holds_.mark_consistent(record->name(), *record->find(hold))) names_.changed(record);
    return Stored::stored;
}

}  // namespace mortise::core
