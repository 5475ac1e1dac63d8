#include "core/raft/write_tracker.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace mortise::core {

void WriteTracker::submit(Write& write, LogIndex last, Instant now) {
    newest_ = newest_.next();
    write.id = newest_;
    if (write.reset) {
        // Until the write is done, the former content does not count any more, and the new content
        // is not durable yet.
        durable_ = {};
        for (auto& earlier : in_flight_)
            earlier.last = {};
    }
    if (write.truncate_from) {
        const auto kept = write.truncate_from->previous();
        durable_ = std::min(durable_, kept);
        for (auto& earlier : in_flight_) {
            earlier.last = std::min(earlier.last, kept);
        }
    }
    // A write without entries makes no entry durable that the writes before it do not.
    const auto promised = write.append.empty() && !write.reset ? LogIndex{} : last;
    in_flight_.push_back({write.id, promised, write.hard_state, write.unsynced, now});
}

void WriteTracker::complete(WriteId id) {
    MORTISE_CHECK(!in_flight_.empty() && in_flight_.front().id == id);
    const auto& done = in_flight_.front();
    durable_ = std::max(durable_, done.last);
    if (done.hard_state) hard_state_ = *done.hard_state;
    if (done.unsynced) unsynced_ = *done.unsynced;
    in_flight_.pop_front();
}

std::optional<Instant> WriteTracker::waiting_since() const {
    if (in_flight_.empty()) return std::nullopt;
    return in_flight_.front().at;
}

}  // namespace mortise::core
