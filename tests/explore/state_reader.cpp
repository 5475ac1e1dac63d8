// Members are listed by structured bindings on purpose: a new member does not compile until it is
// listed here. Members whose names begin with "time" or "not_" are left out: points in time (a
// node's clock moves only when its own timer fires, and then past every deadline) and the draws
// that make them; what is derived from the rest; counters that are compared with nothing else in
// the state.
#include "tests/explore/state_reader.hpp"

#include <algorithm>
#include <variant>

#include "core/base/check.hpp"

namespace mortise::core {

namespace {

class Print {
public:
    explicit Print(ByteWriter& out) : out_{out} {}

    void number(std::uint64_t value) { out_.varint(value); }
    template <class Kind>
    void add(Id<Kind> id) {
        number(id.raw());
    }
    void add(bool value) { out_.u8(value ? 1 : 0); }
    void add(const LogId& id) {
        const auto& [term, index] = id;
        add(term);
        add(index);
    }
    void add(const HardState& state) {
        const auto& [term, voted_for] = state;
        add(term);
        add(voted_for);
    }
    void add(const Entry& entry) {
        // The checksum stands for the payload.
        const auto& [id, kind, checksum, not_payload] = entry;
        add(id);
        number(static_cast<std::uint64_t>(kind));
        out_.u64(checksum);
    }
    template <class T>
    void add(const std::optional<T>& value) {
        add(value.has_value());
        if (value) add(*value);
    }
    template <class List>
    void list(const List& values) {
        number(values.size());
        for (const auto& value : values)
            add(value);
    }

    void add(Unsynced mark) { number(static_cast<std::uint64_t>(mark)); }
    void add(const Votes& votes) {
        const auto& [granted, if_all] = votes;
        list(granted);
        list(if_all);
    }
    void add(const Write& write);
    void add(const AppendReply& reply);
    void add(const Progress& progress);
    void add(const PendingRead& read);
    void add(const Transfer& transfer);

    void add(const Follower& follower);
    void add(const PreCandidate& asking);
    void add(const Candidate& candidate);
    void add(const Leader& leader);

    void add(const PreVoteRequest& message);
    void add(const PreVoteReply& message);
    void add(const VoteRequest& message);
    void add(const VoteReply& message);
    void add(const AppendRequest& message);
    void add(const TimeoutNow& message);
    void add(const ReadRequest& message);
    void add(const ReadReply& message);
    void add(const SnapshotChunk& message);
    void add(const SnapshotReply& message);
    void add(const NotAMember& message);

private:
    ByteWriter& out_;
};

void Print::add(const Write& write) {
    const auto& [not_id, synced, unsynced, reset, hard_state, truncate_from, append] = write;
    add(synced);
    add(unsynced);
    add(reset.has_value());
    if (reset) add(reset->id);
    add(hard_state);
    add(truncate_from);
    list(append);
}

void Print::add(const AppendReply& reply) {
    const auto& [term, read_round, rejected, match, previous, hint, not_run_out, not_closures] =
        reply;
    add(term);
    number(read_round);
    add(rejected);
    add(match);
    add(previous);
    add(hint);
}

void Print::add(const Progress& progress) {
    const auto& [state, not_incarnation, leaves_at, counts_from, match, next, named, denials,
                 probing, in_flight, time_heard, commit_sent, commit_due, read_round_sent,
                 read_round_confirmed, sending, time_send_state] = progress;
    // Nothing is purged here, so no node needs a snapshot; the members do not change, and no
    // directory forgets anything.
    MORTISE_CHECK(!sending && !leaves_at && !counts_from);
    number(static_cast<std::uint64_t>(state));
    add(match);
    add(next);
    add(named);
    number(static_cast<std::uint64_t>(denials));
    add(probing);
    list(in_flight);
    add(commit_sent);
    add(commit_due);
    number(read_round_sent);
    number(read_round_confirmed);
}

void Print::add(const PendingRead& read) {
    const auto& [from, id, round, index] = read;
    add(from);
    add(id);
    number(round);
    add(index);
}

void Print::add(const Transfer& transfer) {
    const auto& [target, time_deadline, sent] = transfer;
    add(target);
    add(sent);
}

// --- roles

void Print::add(const Follower& follower) {
    // `asked` is answered when the connection to the leader breaks, and none breaks here.
    const auto& [leader, time_leader_heard, time_election_at, verified, read_round, reply_owed,
                 rejection, snapshot_reply, not_asked, transfer_target] = follower;
    MORTISE_CHECK(!snapshot_reply);
    add(transfer_target);
    add(leader);
    add(verified);
    number(read_round);
    add(reply_owed);
    add(rejection);
}

void Print::add(const PreCandidate& asking) {
    const auto& [round, votes, time_election_at] = asking;
    number(round);
    add(votes);
}

void Print::add(const Candidate& candidate) {
    const auto& [round, votes, time_election_at, transfer, requests_sent] = candidate;
    number(round);
    add(votes);
    add(transfer);
    add(requests_sent);
}

void Print::add(const Leader& leader) {
    const auto& [peers, time_since, time_contact_since, time_heartbeat_at, heartbeat_due, first_own,
                 read_round, reads, transfer] = leader;
    for (const auto& [peer, progress] : peers) {
        add(peer);
        add(progress);
    }
    add(heartbeat_due);
    add(first_own);
    number(read_round);
    list(reads);
    add(transfer);
}

// --- messages

void Print::add(const PreVoteRequest& message) {
    const auto& [term, round, last] = message;
    add(term);
    number(round);
    add(last);
}

void Print::add(const PreVoteReply& message) {
    const auto& [term, round, granted, voted_for, configuration, if_all] = message;
    add(term);
    number(round);
    add(granted);
    add(if_all);
    add(voted_for);
    add(configuration);
}

void Print::add(const VoteRequest& message) {
    const auto& [term, round, last, transfer] = message;
    add(term);
    number(round);
    add(last);
    add(transfer);
}

void Print::add(const VoteReply& message) {
    const auto& [term, round, granted, if_all] = message;
    add(term);
    number(round);
    add(granted);
    add(if_all);
}

void Print::add(const AppendRequest& message) {
    const auto& [term, previous, commit, replicated, read_round, entries, quiet, transfer_target] =
        message;
    add(term);
    add(previous);
    add(commit);
    add(replicated);
    number(read_round);
    list(entries);
    add(quiet);
    add(transfer_target);
}

void Print::add(const TimeoutNow& message) {
    const auto& [term, last] = message;
    add(term);
    add(last);
}

void Print::add(const ReadRequest& message) {
    const auto& [term, id] = message;
    add(term);
    add(id);
}

void Print::add(const ReadReply& message) {
    const auto& [term, id, index] = message;
    add(term);
    add(id);
    add(index);
}

void Print::add(const SnapshotChunk& message) {
    // The checksum over the transfer so far represents the rows.
    const auto& [term, last, not_configuration, position, not_rows, done, checksum, not_cut] =
        message;
    add(term);
    add(last);
    number(position);
    add(done);
    number(checksum);
}

void Print::add(const SnapshotReply& message) {
    const auto& [term, last, next, installed, refused] = message;
    add(term);
    add(last);
    number(next);
    add(installed);
    add(refused);
}

void Print::add(const NotAMember& message) {
    const auto& [term, configuration] = message;
    add(term);
    add(configuration);
}

}  // namespace

void StateReader::read(const Raft& raft, ByteWriter& out) {
    Print print{out};
    const auto& [options, hard_state, unsynced, recovers_at, log, not_configurations, writes,
                 commit, not_uncommitted_bytes, replicated, unwanted, handed_out, role, round,
                 time_succession, owed_votes, time_raises, claims, time_last_event, receiving,
                 open_views, transfers, membership, left_behind, doubted, not_doubted_in,
                 has_room_for_state, not_pending, not_granted, not_out] = raft;
    const auto& [dismissed_by, unknown_to, dismissed, not_removed, was_member, noted] = membership;
    MORTISE_CHECK(!receiving.last() && open_views.empty() && transfers == 0);
    MORTISE_CHECK(time_succession.has_room() && has_room_for_state && !doubted && !left_behind);
    MORTISE_CHECK(unknown_to.empty());
    // Otherwise a claim makes a node ask, which changes nothing. Here each is true.
    MORTISE_CHECK(
        std::ranges::none_of(claims, [](const auto& one) { return one.second.is_false(); }));
    print.list(dismissed_by);
    print.add(dismissed);
    print.add(was_member);
    print.add(noted);
    print.add(options.self);
    print.add(hard_state);
    print.add(unsynced);
    print.add(recovers_at);
    print.add(log.base());
    print.number(log.last().index.raw() - log.base().index.raw());
    for (auto index = log.first_index(); index <= log.last().index; index = index.next())
        print.add(log.at(index));
    print.add(commit);
    print.add(replicated);
    print.add(unwanted);
    print.add(handed_out);
    print.number(role.index());
    std::visit([&](const auto& data) { print.add(data); }, role);
    print.number(round);
    print.number(owed_votes.size());
    for (const auto& [candidate, asked_in, consent] : owed_votes) {
        print.add(candidate);
        print.number(asked_in);
        print.number(static_cast<std::uint64_t>(consent));
    }
    const auto& [durable_state, durable_mark, durable, not_newest, in_flight] = writes;
    print.add(durable_state);
    print.add(durable_mark);
    print.add(durable);
    print.number(in_flight.size());
    for (const auto& [not_id, last, changed, mark, time_at] : in_flight) {
        print.add(last);
        print.add(changed);
        print.add(mark);
    }
}

void StateReader::read(const RaftState& disk, ByteWriter& out) {
    const auto& [hard_state, base, entries, applied, not_configuration, unsynced] = disk;
    Print print{out};
    print.add(hard_state);
    print.add(unsynced);
    print.add(base);
    print.list(entries);
    print.add(applied);
}

void StateReader::read(const Write& write, ByteWriter& out) {
    Print{out}.add(write);
}

void StateReader::read(const RaftMessage& message, ByteWriter& out) {
    Print print{out};
    print.number(message.index());
    std::visit([&](const auto& m) { print.add(m); }, message);
}

}  // namespace mortise::core
