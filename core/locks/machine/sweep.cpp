// The removal of ended sessions from names (S11): at a touch, or in the pieces of a sweep.
#include <limits>
#include <utility>

#include "core/locks/limits.hpp"
#include "core/locks/machine/lock_machine.hpp"

namespace mortise::core {

// The table calls this function for each name that was not cleared since a session ended.
void LockMachine::tell_who_ended() {
    if (ended_.is_empty()) return table_.begin(index_, ended_.endings(), nullptr);
    // Consecutive questions are often about one session.
    how_ended_ = [this, of = SessionId{},
                  its = static_cast<const Departure*>(nullptr)](OperationId operation) mutable {
        if (operation.session == of) return its;
        of = operation.session;
        its = ended_.departure(of);
        return its;
    };
    table_.begin(index_, ended_.endings(), &how_ended_);
}

LockTable::Cleared LockMachine::clear(std::string_view name, std::size_t max) {
    LockTable::Grants grants;
    auto cleared = table_.clear(name, max, grants);
    for (const auto gone : cleared.gone)
        ended_.forget(gone, name);
    publish(std::move(grants));
    return cleared;
}

// The grants of an ended session do not count: the next request for a name removes them first. If
// nothing is left of the name then, this returns its last holder.
Previous LockMachine::touch(std::string_view name) {
    if (ended_.is_empty()) return {};
    return clear(name, std::numeric_limits<std::size_t>::max()).last;
}

// Touches the names of an operation that may end now. False if that changed nothing.
bool LockMachine::touch_all(LockTable::NameList names) {
    if (ended_.is_empty()) return false;
    for (const auto& record : std::vector<RecordRef>(names.begin(), names.end()))
        touch(record->name());
    return true;
}

// A sweep may end in the middle of a name.
void LockMachine::on(const Sweep& /*command*/) {
    auto traces = sweep_traces_max;
    for (auto names = sweep_names_max; names > 0; --names) {
        const auto name = ended_.next_to_sweep(table_);
        if (!name) return;
        const auto cleared = clear(*name, traces);
        if (!cleared.is_done) return;
        traces -= cleared.gone.size();
        ended_.swept(*name);
    }
}

}  // namespace mortise::core
