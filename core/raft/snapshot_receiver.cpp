#include "core/raft/snapshot_receiver.hpp"

#include <utility>

#include "core/raft/snapshot_sum.hpp"

namespace mortise::core {

SnapshotReceiver::Taken SnapshotReceiver::take(SnapshotChunk& chunk,
                                               std::vector<InstallStep>& out) {
    const bool same = receiving_ && receiving_->last == chunk.last &&
                      receiving_->configuration == chunk.configuration;
    if (!same) {
        // It belongs to a snapshot whose beginning was not received (B-S6).
        if (chunk.position != 0) return Taken::ignored;
        receiving_ = Receiving{chunk.last, chunk.configuration};
    }
    if (chunk.position != receiving_->next) return Taken::ignored;
    const bool is_right = chunk.checksum == sum_with(receiving_->checksum, chunk);
    if (!is_right || !join_cut_row(chunk.rows, chunk.cut)) {
        // Another leader may have divided the state differently.
        receiving_.reset();
        return Taken::refused;
    }
    receiving_->checksum = chunk.checksum;
    receiving_->done = chunk.done;
    ++receiving_->next;
    if (chunk.rows.empty() && !chunk.done) return Taken::taken;  // part of a row, and nothing else
    out.push_back({receiving_->steps++, chunk.last, std::move(chunk.configuration),
                   std::move(chunk.rows), chunk.done});
    return Taken::taken;
}

// Joins the first row with the part that was kept, and keeps the last one if it is cut, so that
// only whole rows are left. Returns false if the parts do not belong together.
bool SnapshotReceiver::join_cut_row(std::vector<Row>& rows, bool cut) {
    auto& kept = receiving_->cut_row;
    if (kept) {
        if (rows.empty() || rows.front().key != kept->key) return false;
        kept->value->append(*rows.front().value);
        rows.front() = *std::exchange(kept, std::nullopt);
    }
    if (cut) {
        kept = std::move(rows.back());
        rows.pop_back();
    }
    return true;
}

std::optional<LogId> SnapshotReceiver::last() const {
    return receiving_ ? std::optional{receiving_->last} : std::nullopt;
}

std::uint64_t SnapshotReceiver::next_of(LogId last) const {
    return receiving_ && receiving_->last == last ? receiving_->next : 0;
}

Configuration SnapshotReceiver::take_configuration() {
    auto configuration = std::move(receiving_->configuration);
    receiving_.reset();
    return configuration;
}

}  // namespace mortise::core
