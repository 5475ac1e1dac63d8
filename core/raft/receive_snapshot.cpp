// The follower's part of a snapshot. It passes the chunks on in order, and the store writes them
// beside the state in force. After the last one nothing else may change (B-S2) until the new state
// is durable; then the log begins anew where that state ends.
#include <utility>

#include "core/base/check.hpp"
#include "core/raft/raft.hpp"
#include "core/raft/snapshot_sum.hpp"

namespace mortise::core {

bool Raft::is_well_formed(const SnapshotChunk& chunk) {
    const auto& voters = chunk.configuration.voters;
    if (!chunk.last.index.is_set() || chunk.last.term > chunk.term) return false;
    if (!chunk.configuration.is_formed() || voters.empty()) return false;
    for (const auto& row : chunk.rows) {
        if (!row.value) return false;
    }
    return chunk.rows.empty() ? chunk.done && !chunk.cut : !(chunk.done && chunk.cut);
}

void Raft::on(NodeId from, SnapshotChunk& chunk, Instant now) {
    if (chunk.term < term()) {
        if (is_term_durable()) send(from, SnapshotReply{term(), chunk.last, 0, false, true});
        return;
    }
    auto& follower = follow(from, now);
    if (!is_installing() && log_.has(chunk.last)) {
        // The entry at the end of a snapshot is committed and our log has it. So the log counts as
        // checked up to there, and stays (B-S1).
        follower.verified = std::max(follower.verified, chunk.last.index);
        commit_to(chunk.last.index);
        receiving_.reset();
        owe_snapshot_reply(chunk.last, 0);
        return;
    }
    take_chunk(from, chunk);
    owe_snapshot_reply(chunk.last,
                       receiving_ && receiving_->last == chunk.last ? receiving_->next : 0);
}

void Raft::take_chunk(NodeId from, SnapshotChunk& chunk) {
    const bool same = receiving_ && receiving_->last == chunk.last &&
                      receiving_->configuration == chunk.configuration;
    if (is_installing()) return;
    if (!same) {
        // It belongs to a snapshot whose beginning was not received (B-S6).
        if (chunk.position != 0) return;
        receiving_ = Receiving{chunk.last, chunk.configuration, 0, 0, false, 0, {}};
    }
    if (chunk.position != receiving_->next) return;  // repeated, or too early
    const bool is_right = chunk.checksum == sum_with(receiving_->checksum, chunk);
    if (!is_right || !join_cut_row(chunk.rows, chunk.cut)) {
        // Another leader may have divided the state differently.
        note(Note::Kind::refused_chunk, from);
        receiving_.reset();
        return;
    }
    receiving_->checksum = chunk.checksum;
    receiving_->done = chunk.done;
    ++receiving_->next;
    if (chunk.rows.empty() && !chunk.done) return;  // part of a row, and nothing else
    out_.install.push_back({receiving_->steps++, chunk.last, std::move(chunk.configuration),
                            std::move(chunk.rows), chunk.done});
}

// Joins the first row with the part that was kept, and keeps the last one if it is cut, so that
// only whole rows are left. Returns false if the parts do not belong together.
bool Raft::join_cut_row(std::vector<Row>& rows, bool cut) {
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

void Raft::refuse_state() {
    if (!receiving_) return;
    const auto last = receiving_->last;
    receiving_.reset();
    auto* follower = std::get_if<Follower>(&role_);
    if (follower == nullptr || !follower->leader) return;
    note(Note::Kind::refused_state, *follower->leader);
    follower->snapshot_reply = SnapshotReply{term(), last, 0, false, true};
}

void Raft::owe_snapshot_reply(LogId last, std::uint64_t next) {
    std::get<Follower>(role_).snapshot_reply = SnapshotReply{term(), last, next, false, false};
}

// A follower reports a snapshot as installed once the log up to its end is durable (B-D19).
void Raft::send_owed_snapshot_reply() {
    auto& follower = std::get<Follower>(role_);
    if (!follower.snapshot_reply) return;
    auto& reply = *follower.snapshot_reply;
    // Otherwise a whole state would be in memory while the disk does not keep up (P11).
    if (!has_capacity_for_state_ && !reply.refused) return;
    reply.installed = reply.last.index <= commit_;
    // It is sent when the write completes.
    if (reply.installed && reply.last.index > writes_.durable()) return;
    send(*follower.leader, reply);
    follower.snapshot_reply.reset();
}

bool Raft::on_state_installed(LogId last, Instant now) {
    begin_event(now);
    if (!is_installing() || receiving_->last != last) return false;
    MORTISE_CHECK(last.index > commit_ && !is_leader());
    auto configuration = std::move(receiving_->configuration);
    receiving_.reset();
    log_ = Log{last, {}};
    pending_.reset = LogBase{last, configuration};
    configurations_.clear();
    configurations_.push_back({last.index, std::move(configuration)});
    commit_ = last.index;
    handed_out_ = last.index;
    uncommitted_bytes_ = 0;
    note(Note::Kind::state_installed);
    if (auto* follower = std::get_if<Follower>(&role_)) {
        follower->verified = last.index;
        follower->rejection.reset();
        if (can_campaign()) follower->election_at = draw_election_deadline(now);
        if (follower->leader) owe_snapshot_reply(last, 0);
    }
    return true;
}

}  // namespace mortise::core
