#include "core/locks/table/ended_sessions.hpp"

#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

void EndedSessions::add(SessionId id, Departure departure, Operations operations) {
    ++endings_;
    progress_ = {{}, false};
    if (!operations.empty()) {
        all_.insert_or_assign(id, Ended{std::move(departure), std::move(operations)});
        changes_.insert(id);
    }
    end_sweep();
}

void EndedSessions::forget(OperationId gone, std::string_view name) {
    const auto ended = all_.find(gone.session);
    MORTISE_CHECK(ended != all_.end());
    auto& operations = ended->second.operations;
    auto& operation = operations.at(gone.seq);
    const bool erased = operation.remove_name(name);
    MORTISE_CHECK(erased);
    if (operation.names().empty()) (void)operations.take(gone.seq);
    if (!operations.empty()) return;
    all_.erase(ended);
    changes_.insert(gone.session);
    end_sweep();
}

// A sweep is complete when no name has traces any more.
void EndedSessions::end_sweep() {
    if (all_.empty()) progress_ = {};
}

const Departure* EndedSessions::departure(SessionId id) const {
    const auto ended = all_.find(id);
    return ended == all_.end() ? nullptr : &ended->second.departure;
}

std::optional<Predecessor> EndedSessions::how(SessionId id) const {
    const auto* its = departure(id);
    return its == nullptr ? std::nullopt : std::optional{its->how};
}

const Operation* EndedSessions::find(OperationId id) const {
    const auto ended = all_.find(id.session);
    if (ended == all_.end()) return nullptr;
    return std::as_const(ended->second.operations).find(id.seq);
}

EndedSessions::Names EndedSessions::names() const {
    Names names;
    for (const auto& [id, ended] : all_) {
        for (const auto& [seq, operation] : ended.operations) {
            for (const auto& record : operation.names())
                names.insert(record->name());
        }
    }
    return names;
}

// --- sweeping -----------------------------------------------------------------------------------

std::optional<std::string> EndedSessions::next_to_sweep(const LockTable& table) {
    if (!progress_.waited_done) {
        const auto next = table.names().next_waited(progress_.waited_cursor);
        if (!next.empty()) return std::string{next};
        progress_.waited_done = true;
    }
    if (all_.empty()) return std::nullopt;
    return std::string{all_.begin()->second.operations.begin()->value.name()};
}

void EndedSessions::swept(std::string_view name) {
    if (!progress_.waited_done) progress_.waited_cursor = std::string{name};
}

// --- loading ------------------------------------------------------------------------------------

bool EndedSessions::restore(SessionId id, Departure departure) {
    return all_.try_emplace(id, Ended{std::move(departure), {}}).second;
}

bool EndedSessions::restore(std::uint64_t endings, Progress progress, SessionId newest) {
    endings_ = endings;
    progress_ = std::move(progress);
    if (all_.empty()) return progress_.waited_done && progress_.waited_cursor.empty();
    return endings_ != 0 && all_.rbegin()->first <= newest;
}

Operations* EndedSessions::operations_to_restore(SessionId id) {
    const auto ended = all_.find(id);
    return ended == all_.end() ? nullptr : &ended->second.operations;
}

void EndedSessions::check_invariants(const SessionTable& live) const {
    for (const auto& [id, ended] : all_)
        MORTISE_CHECK(!ended.operations.empty() && live.find(id) == nullptr);
    const bool is_over = progress_.waited_done && progress_.waited_cursor.empty();
    MORTISE_CHECK(!all_.empty() || is_over);
}

}  // namespace mortise::core
