// The follower's part of a snapshot. It passes the chunks on in order, and the store writes them
// beside the state in force. After the last one nothing else may change (B-S2) until the new state
// is durable; then the log begins anew where that state ends.
#include <utility>

#include "core/base/check.hpp"
#include "core/raft/raft.hpp"

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
    const auto last = chunk.last;
    if (leaves_behind(last)) return;
    if (!is_installing() && log_.has(last)) {
        // The entry at the end of a snapshot is committed and our log has it. So the log counts as
        // checked up to there, and stays (B-S1).
        follower.verified = std::max(follower.verified, last.index);
        commit_to(last.index);
        receiver_.give_up();
        owe_snapshot_reply(last, 0);
        return;
    }
    if (!is_installing() && receiver_.take(chunk, out_.install) == SnapshotReceiver::Taken::refused)
        note(Note::Kind::refused_chunk, from);
    owe_snapshot_reply(last, receiver_.next_of(last));
}

void Raft::refuse_state() {
    const auto last = receiver_.last();
    if (!last) return;
    receiver_.give_up();
    auto* follower = std::get_if<Follower>(&role_);
    if (follower == nullptr || !follower->leader) return;
    note(Note::Kind::refused_state, *follower->leader);
    follower->snapshot_reply = SnapshotReply{term(), *last, 0, false, true};
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
    if (!is_installing() || receiver_.last() != last) return false;
    MORTISE_CHECK(last.index > commit_ && !is_leader());
    auto configuration = receiver_.take_configuration();
    log_ = Log{last, {}};
    pending_.reset = LogBase{last, configuration};
    configurations_ = ConfigurationHistory{last.index, std::move(configuration)};
    commit_ = last.index;
    handed_out_ = last.index;
    uncommitted_bytes_ = 0;
    note(Note::Kind::state_installed);
    if (auto* follower = std::get_if<Follower>(&role_)) {
        follower->verified = last.index;
        follower->rejection.reset();
        if (can_campaign()) follower->election_at = succession_.without_leader(now);
        if (follower->leader) owe_snapshot_reply(last, 0);
    }
    return true;
}

}  // namespace mortise::core
