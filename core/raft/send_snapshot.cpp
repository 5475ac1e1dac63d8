// The leader's part of a snapshot for a follower whose next entry is purged. One chunk at a time is
// read from a view of the state on disk, and is repeated until it is answered. After any failure
// the transfer begins again, so a follower is never left without a snapshot (B-S7).
#include <algorithm>
#include <utility>

#include "core/raft/raft.hpp"
#include "core/raft/snapshot_sum.hpp"

namespace mortise::core {

namespace {

// A view delays the disk's compaction, so a silent follower cannot keep it for ever (B-S5).
constexpr int silent_timeouts = 5;

}  // namespace

// Called whenever messages are made: it decides from the present state what is due for this peer.
void Raft::send_snapshot_to(NodeId peer, Progress& progress) {
    const auto now = last_event_;
    const auto silent = now - progress.heard;
    if (progress.state != Progress::State::cut_off || progress.leaves_at ||
        silent > options_.election_timeout * silent_timeouts) {
        progress.sending.reset();
        return;
    }
    if (!progress.sending) {
        if (progress.send_state_at && now < *progress.send_state_at) return;
        if (silent > options_.election_timeout) return;
        progress.sending.emplace().number = ++transfers_;
        note(Note::Kind::state_requested, peer);
        read_on(peer, *progress.sending);
    }
    auto& sending = *progress.sending;
    if (!sending.chunk) return;
    const bool due = !sending.sent_at || now >= *sending.sent_at + options_.election_timeout;
    if (!due) return;
    sending.repeated = sending.sent_at.has_value();
    sending.sent_at = now;
    progress.named = std::max(progress.named, sending.chunk->last.index);
    send(peer, *sending.chunk);
}

void Raft::read_on(NodeId peer, SnapshotSending& sending) {
    sending.reading = true;
    open_views_.insert(peer);
    out_.read_snapshot.push_back(
        {peer, sending.after, options_.snapshot_bytes_max, sending.number});
}

void Raft::on_snapshot_rows(SnapshotRows rows, Instant now) {
    begin_event(now);
    auto* leader = std::get_if<Leader>(&role_);
    if (leader == nullptr || !leader->peers.contains(rows.peer)) return;
    auto& progress = leader->peers.at(rows.peer);
    // Otherwise the rows are from a view that was given up meanwhile, perhaps of another state.
    if (!progress.sending || !progress.sending->reading) return;
    auto& sending = *progress.sending;
    if (rows.transfer != sending.number || rows.after != sending.after) return;
    if (rows.last.index < log_.base().index || (rows.rows.empty() && !rows.done)) {
        progress.sending.reset();
        progress.send_state_at = now + options_.election_timeout;
        return;
    }
    sending.reading = false;
    if (!sending.last) sending.configuration = std::move(rows.configuration);
    sending.last = rows.last;
    sending.rows = std::move(rows.rows);
    sending.cut_at = 0;
    sending.all_read = rows.done;
    make_chunk(sending);
    if (sending.wanted > sending.position && !sending.chunk->done)
        on_chunk_taken(rows.peer, progress);
}

// Makes a chunk of whole rows, or of a piece of one row that is too long for a chunk: a row that
// does not fit into one message could never be sent otherwise (B-S7).
void Raft::make_chunk(SnapshotSending& sending) {
    auto& chunk = sending.chunk.emplace();
    chunk.term = term();
    chunk.last = *sending.last;
    chunk.configuration = sending.configuration;
    chunk.position = sending.position;
    const auto piece_max = options_.snapshot_bytes_max;
    const auto* row = sending.rows.size() == 1 ? &sending.rows.front() : nullptr;
    if (row != nullptr && row->value->size() > piece_max) {
        chunk.rows.push_back({row->key, row->value->substr(sending.cut_at, piece_max)});
        sending.cut_at += chunk.rows.front().value->size();
        chunk.cut = sending.cut_at < row->value->size();
    } else {
        chunk.rows = std::move(sending.rows);
    }
    chunk.done = sending.all_read && !chunk.cut;
    chunk.checksum = sum_with(sending.checksum, chunk);
    sending.sent_at.reset();
}

// The follower has the chunk, so the next one is made, or its rows are read.
void Raft::on_chunk_taken(NodeId peer, Progress& progress) {
    auto& sending = *progress.sending;
    do {
        const auto taken = *std::exchange(sending.chunk, std::nullopt);
        sending.checksum = taken.checksum;
        sending.after = taken.rows.back().key;
        ++sending.position;
        sending.repeated = false;
        if (!taken.cut) return read_on(peer, sending);
        make_chunk(sending);
    } while (sending.wanted > sending.position && !sending.chunk->done);
}

void Raft::on(NodeId from, const SnapshotReply& reply, Instant now) {
    auto* leader = std::get_if<Leader>(&role_);
    if (leader == nullptr || reply.term != term()) return;
    const auto peer = leader->peers.find(from);
    if (peer == leader->peers.end()) return;
    auto& progress = peer->second;
    progress.heard = now;
    if (reply.installed && reply.last.index <= log_.last().index && log_.has(reply.last)) {
        const bool was_cut_off = progress.state == Progress::State::cut_off;
        AppendReply has;
        has.match = reply.last.index;
        on_accepted(progress, has);
        if (was_cut_off && progress.state != Progress::State::cut_off)
            note(Note::Kind::state_sent, from);
        // The log of this node may begin later by now. In that case the follower receives a newer
        // snapshot.
        progress.sending.reset();
        advance_everything(*leader);
        return;
    }
    if (!progress.sending || !progress.sending->chunk || progress.sending->last != reply.last) {
        return;
    }
    auto& sending = *progress.sending;
    if (reply.refused) {
        note(Note::Kind::refused_chunk, from);
        progress.sending.reset();
        progress.send_state_at = now + options_.election_timeout;
    } else if (reply.next > sending.position) {
        // The follower may have more chunks than this attempt has sent: those of the same state
        // from an earlier attempt.
        sending.wanted = std::max(sending.wanted, reply.next);
        if (!sending.chunk->done) on_chunk_taken(from, progress);
    } else if (reply.next < sending.position && sending.repeated) {
        // It is not a late answer: the follower has lost what it had.
        progress.sending.reset();
    }
}

std::optional<LogIndex> Raft::oldest_state_sent() const {
    const auto* leader = std::get_if<Leader>(&role_);
    if (leader == nullptr) return std::nullopt;
    std::optional<LogIndex> oldest;
    for (const auto& [peer, progress] : leader->peers) {
        if (!progress.sending || !progress.sending->last) continue;
        const auto index = progress.sending->last->index;
        oldest = std::min(oldest.value_or(index), index);
    }
    return oldest;
}

// Closes the views of transfers that have ended for any reason, also if this node does not lead any
// more (B-S5).
void Raft::close_views() {
    const auto* leader = std::get_if<Leader>(&role_);
    std::erase_if(open_views_, [&](NodeId peer) {
        const auto* progress = leader == nullptr ? nullptr : progress_of(peer);
        if (progress != nullptr && progress->sending) return false;
        out_.close_snapshots.push_back(peer);
        return true;
    });
}

}  // namespace mortise::core
