// What the writes of a value do to a name (S36, S37).
#include <utility>

#include "core/locks/table/lock_table.hpp"

namespace mortise::core {

LockTable::Stored LockTable::set_value(std::string_view name, OperationId hold, std::string bytes) {
    const auto* record = find(name);
    if (!holds_alone(record, hold)) return Stored::not_exclusive;
    if (!holds_.set_value(name, *record->find(hold), std::move(bytes))) return Stored::full;
    names_.changed(names_.record(name));
    return Stored::stored;
}

LockTable::Stored LockTable::mark_consistent(std::string_view name, OperationId hold) {
    const auto* record = find(name);
    if (!holds_alone(record, hold)) return Stored::not_exclusive;
    if (holds_.mark_consistent(name, *record->find(hold))) names_.changed(names_.record(name));
    return Stored::stored;
}

}  // namespace mortise::core
