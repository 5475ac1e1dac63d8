// The removal of ended sessions from names (S11).
#include <limits>
#include <utility>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/machine/lock_machine.hpp"

namespace mortise::core {

bool LockMachine::is_live(OperationId operation) const {
    return sessions_.find(operation.session) != nullptr;
}

// The table asks for each name that was not cleared since a session ended.
void LockMachine::tell_who_ended() {
    if (ended_.empty()) return table_.begin(index_, endings_, nullptr);
    // Consecutive questions are often about one session.
    how_ended_ = [this, of = SessionId{},
                  how = std::optional<Predecessor>{}](OperationId operation) mutable {
        if (operation.session == of) return how;
        of = operation.session;
        const auto ended = ended_.find(of);
        how = ended == ended_.end() ? std::nullopt : std::optional{ended->second.how};
        return how;
    };
    table_.begin(index_, endings_, &how_ended_);
}

LockTable::Cleared LockMachine::clear(const std::string& name, std::size_t max) {
    LockTable::Grants grants;
    auto cleared = table_.clear(name, max, grants);
    for (const auto gone : cleared.gone)
        forget(gone, name);
    publish(std::move(grants));
    return cleared;
}

// From its end on a session's grants count as free: the next request for a name removes them first.
// If nothing is left of the name then, this returns its last holder.
Previous LockMachine::touch(const std::string& name) {
    if (ended_.empty()) return {};
    return clear(name, std::numeric_limits<std::size_t>::max()).last;
}

// Touches the names of an operation that may end now.
void LockMachine::touch_all(const LockTable::NameList& names) {
    if (ended_.empty()) return;
    for (const auto& name : LockTable::NameList{names})
        touch(name);
}

void LockMachine::forget(OperationId gone, const std::string& name) {
    const auto ended = ended_.find(gone.session);
    MORTISE_CHECK(ended != ended_.end());
    auto& operations = ended->second.operations;
    const auto operation = operations.find(gone.seq);
    MORTISE_CHECK(operation != operations.end());
    const auto erased = operation->second.names.remove(name);
    MORTISE_CHECK(erased == 1);
    if (operation->second.names.empty()) operations.erase(operation);
    if (!operations.empty()) return;
    ended_.erase(ended);
    changed_ended_.insert(gone.session);
    end_sweep();
}

// A sweep is over when nothing is left to remove anywhere.
void LockMachine::end_sweep() {
    if (!ended_.empty()) return;
    waited_cursor_.clear();
    waited_done_ = true;
}

void LockMachine::on(const Sweep& /*command*/) {
    SweepLeft left{sweep_names_max, sweep_traces_max};
    sweep_waited(left);
    sweep_held(left);
}

// False if this Sweep ends in the middle of the name.
bool LockMachine::sweep_name(const std::string& name, SweepLeft& left) {
    const auto cleared = clear(name, left.traces);
    left.traces -= cleared.gone.size();
    --left.names;
    return cleared.is_done;
}

// First the names that have waiters.
void LockMachine::sweep_waited(SweepLeft& left) {
    while (!waited_done_ && left.names > 0) {
        const auto* next = table_.next_waited(waited_cursor_);
        if (next == nullptr) {
            waited_done_ = true;
            break;
        }
        const auto name = *next;
        if (!sweep_name(name, left)) {
            left.names = 0;
        } else if (!ended_.empty()) {
            waited_cursor_ = name;
        }
    }
}

void LockMachine::sweep_held(SweepLeft& left) {
    while (!ended_.empty() && left.names > 0) {
        const auto name = ended_.begin()->second.operations.begin()->second.names.front();
        if (!sweep_name(name, left)) break;
    }
}

}  // namespace mortise::core
