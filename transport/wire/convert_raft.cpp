#include "transport/wire/convert_raft.hpp"

#include <utility>

#include "core/base/overloaded.hpp"
#include "transport/wire/convert.hpp"

namespace mortise::transport {

namespace {

// The enumerators have the same numbers on both sides.
static_assert(static_cast<int>(core::EntryKind::era) == static_cast<int>(wire::EntryKind::ERA));

}  // namespace

void put_log_id(const core::LogId& id, wire::LogId::Builder to) {
    to.setTerm(id.term.raw());
    to.setIndex(id.index.raw());
}

core::LogId get_log_id(CheckedReading& reading, wire::LogId::Reader from, const char* what) {
    return {reading.term(from.getTerm(), what), reading.index(from.getIndex(), what)};
}

void put_entry(const core::Entry& entry, wire::Entry::Builder to) {
    to.setTerm(entry.id.term.raw());
    to.setIndex(entry.id.index.raw());
    to.setChecksum(entry.checksum);
    to.setKind(static_cast<wire::EntryKind>(entry.kind));
    if (!entry.payload.empty()) to.setPayload(data_of(entry.payload.view()));
}

core::Entry get_entry(CheckedReading& reading, wire::Entry::Reader from) {
    core::Entry entry;
    entry.id = {reading.term(from.getTerm(), "Entry.term"),
                reading.index(from.getIndex(), "Entry.index")};
    if (!entry.id.term.is_set()) reading.fail(Malformed::bad_number, "Entry.term");
    if (!entry.id.index.is_set()) reading.fail(Malformed::bad_number, "Entry.index");
    entry.kind = reading.known(from.getKind(), core::EntryKind::era, "Entry.kind");
    if (static_cast<int>(entry.kind) == 0) reading.fail(Malformed::unknown_kind, "Entry.kind");
    entry.checksum = from.getChecksum();
    entry.payload = reading.bytes(from.getPayload(), payload_bytes_max, "Entry.payload");
    return entry;
}

namespace {

// --- each kind, both ways -----------------------------------------------------------------------

void put(const core::PreVoteRequest& m, wire::PreVoteRequest::Builder to) {
    to.setTerm(m.term.raw());
    to.setRound(m.round);
    put_log_id(m.last, to.initLast());
}

core::PreVoteRequest get(CheckedReading& reading, wire::PreVoteRequest::Reader from) {
    return {reading.term(from.getTerm(), "PreVoteRequest.term"), from.getRound(),
            get_log_id(reading, from.getLast(), "PreVoteRequest.last")};
}

void put(const core::VoteRequest& m, wire::VoteRequest::Builder to) {
    to.setTerm(m.term.raw());
    to.setRound(m.round);
    put_log_id(m.last, to.initLast());
    to.setTransfer(m.transfer);
}

core::VoteRequest get(CheckedReading& reading, wire::VoteRequest::Reader from) {
    return {reading.term(from.getTerm(), "VoteRequest.term"), from.getRound(),
            get_log_id(reading, from.getLast(), "VoteRequest.last"), from.getTransfer()};
}

template <class Reply>
void put_vote(const Reply& m, wire::VoteReply::Builder to) {
    to.setTerm(m.term.raw());
    to.setRound(m.round);
    to.setGranted(m.granted);
    to.setIfAll(m.if_all);
}

void put(const core::PreVoteReply& m, wire::VoteReply::Builder to) {
    put_vote(m, to);
    to.setTellsVote(m.voted_for.has_value());
    to.setVotedFor(m.voted_for.value_or(core::NodeId{}).raw());
    to.setConfiguration(m.configuration.raw());
}

template <class Reply>
Reply get_vote(CheckedReading& reading, wire::VoteReply::Reader from) {
    Reply m;
    m.term = reading.term(from.getTerm(), "VoteReply.term");
    m.round = from.getRound();
    m.granted = from.getGranted();
    m.if_all = from.getIfAll();
    if (m.granted && m.if_all) reading.fail(Malformed::bad_number, "VoteReply.ifAll");
    return m;
}

core::PreVoteReply get_pre_vote(CheckedReading& reading, wire::VoteReply::Reader from) {
    auto m = get_vote<core::PreVoteReply>(reading, from);
    if (from.getTellsVote()) m.voted_for = core::NodeId{from.getVotedFor()};
    m.configuration = reading.index(from.getConfiguration(), "VoteReply.configuration");
    return m;
}

void put(const core::AppendRequest& m, wire::AppendRequest::Builder to) {
    to.setTerm(m.term.raw());
    put_log_id(m.previous, to.initPrevious());
    to.setCommit(m.commit.raw());
    to.setReplicated(m.replicated.raw());
    to.setReadRound(m.read_round);
    to.setQuiet(m.quiet);
    to.setTellsTransfer(m.transfer_target.has_value());
    to.setTransferTarget(m.transfer_target.value_or(core::NodeId{}).raw());
    if (m.entries.empty()) return;
    auto entries = to.initEntries(static_cast<unsigned>(m.entries.size()));
    for (unsigned i = 0; i < entries.size(); ++i)
        put_entry(m.entries[i], entries[i]);
}

// Otherwise a member that is far behind would refuse the same request for ever.
static_assert(core::append_entries_max <= entries_max);

core::AppendRequest get(CheckedReading& reading, wire::AppendRequest::Reader from) {
    core::AppendRequest m;
    m.term = reading.term(from.getTerm(), "AppendRequest.term");
    m.previous = get_log_id(reading, from.getPrevious(), "AppendRequest.previous");
    m.commit = reading.index(from.getCommit(), "AppendRequest.commit");
    m.replicated = reading.index(from.getReplicated(), "AppendRequest.replicated");
    m.read_round = from.getReadRound();
    m.quiet = from.getQuiet();
    if (from.getTellsTransfer()) m.transfer_target = core::NodeId{from.getTransferTarget()};
    auto before = m.previous.index;
    reading.list(from.getEntries(), entries_max, "AppendRequest.entries", [&](auto each) {
        auto entry = get_entry(reading, each);
        if (entry.id.index != before.next()) {
            reading.fail(Malformed::bad_order, "AppendRequest.entries");
        }
        before = entry.id.index;
        m.entries.push_back(std::move(entry));
    });
    return m;
}

void put(const core::AppendReply& m, wire::AppendReply::Builder to) {
    to.setTerm(m.term.raw());
    to.setReadRound(m.read_round);
    to.setRejected(m.rejected);
    to.setMatch(m.match.raw());
    to.setPrevious(m.previous.raw());
    put_log_id(m.hint, to.initHint());
    if (!m.closures_run_out.empty()) {
        auto closures = to.initClosuresRunOut(static_cast<unsigned>(m.closures_run_out.size()));
        for (unsigned i = 0; i < closures.size(); ++i)
            closures.set(i, m.closures_run_out[i].raw());
    }
    if (m.run_out.empty()) return;
    auto run_out = to.initRunOut(static_cast<unsigned>(m.run_out.size()));
    for (unsigned i = 0; i < run_out.size(); ++i) {
        run_out[i].setSession(m.run_out[i].session.raw());
        run_out[i].setRenewedAt(m.run_out[i].renewed_at.raw());
    }
}

core::AppendReply get(CheckedReading& reading, wire::AppendReply::Reader from) {
    core::AppendReply m;
    m.term = reading.term(from.getTerm(), "AppendReply.term");
    m.read_round = from.getReadRound();
    m.rejected = from.getRejected();
    m.match = reading.index(from.getMatch(), "AppendReply.match");
    m.previous = reading.index(from.getPrevious(), "AppendReply.previous");
    m.hint = get_log_id(reading, from.getHint(), "AppendReply.hint");
    reading.list(from.getRunOut(), run_outs_max, "AppendReply.runOut", [&](auto each) {
        m.run_out.push_back(
            {reading.set<core::SessionId>(each.getSession(), "AppendReply.runOut.session"),
             reading.index(each.getRenewedAt(), "AppendReply.runOut.renewedAt")});
    });
    reading.list(from.getClosuresRunOut(), run_outs_max, "AppendReply.closuresRunOut",
                 [&](auto each) {
                     m.closures_run_out.push_back(
                         reading.set<core::ClosureId>(each, "AppendReply.closuresRunOut"));
                 });
    return m;
}

void put(const core::TimeoutNow& m, wire::TimeoutNow::Builder to) {
    to.setTerm(m.term.raw());
    put_log_id(m.last, to.initLast());
}

core::TimeoutNow get(CheckedReading& reading, wire::TimeoutNow::Reader from) {
    return {reading.term(from.getTerm(), "TimeoutNow.term"),
            get_log_id(reading, from.getLast(), "TimeoutNow.last")};
}

void put(const core::ReadRequest& m, wire::ReadRequest::Builder to) {
    to.setTerm(m.term.raw());
    to.setId(m.id.raw());
}

core::ReadRequest get(CheckedReading& reading, wire::ReadRequest::Reader from) {
    return {reading.term(from.getTerm(), "ReadRequest.term"),
            reading.set<core::ReadId>(from.getId(), "ReadRequest.id")};
}

void put(const core::ReadReply& m, wire::ReadReply::Builder to) {
    to.setTerm(m.term.raw());
    to.setId(m.id.raw());
    to.setIndex(m.index.raw());
}

core::ReadReply get(CheckedReading& reading, wire::ReadReply::Reader from) {
    return {reading.term(from.getTerm(), "ReadReply.term"),
            reading.set<core::ReadId>(from.getId(), "ReadReply.id"),
            reading.index(from.getIndex(), "ReadReply.index")};
}

void put(const core::NotAMember& m, wire::NotAMember::Builder to) {
    to.setTerm(m.term.raw());
    put_log_id(m.configuration, to.initConfiguration());
}

core::NotAMember get(CheckedReading& reading, wire::NotAMember::Reader from) {
    return {reading.term(from.getTerm(), "NotAMember.term"),
            get_log_id(reading, from.getConfiguration(), "NotAMember.configuration")};
}

}  // namespace

void put_raft(const core::RaftMessage& message, wire::PeerMessage::Builder to) {
    std::visit(core::Overloaded{
                   [&](const core::PreVoteRequest& m) { put(m, to.initPreVoteRequest()); },
                   [&](const core::PreVoteReply& m) { put(m, to.initPreVoteReply()); },
                   [&](const core::VoteRequest& m) { put(m, to.initVoteRequest()); },
                   [&](const core::VoteReply& m) { put_vote(m, to.initVoteReply()); },
                   [&](const core::AppendRequest& m) { put(m, to.initAppendRequest()); },
                   [&](const core::AppendReply& m) { put(m, to.initAppendReply()); },
                   [&](const core::TimeoutNow& m) { put(m, to.initTimeoutNow()); },
                   [&](const core::ReadRequest& m) { put(m, to.initReadRequest()); },
                   [&](const core::ReadReply& m) { put(m, to.initReadReply()); },
                   [&](const core::SnapshotChunk& m) { put_snapshot(m, to.initSnapshotChunk()); },
                   [&](const core::SnapshotReply& m) { put_snapshot(m, to.initSnapshotReply()); },
                   [&](const core::NotAMember& m) { put(m, to.initNotAMember()); },
               },
               message);
}

std::optional<core::RaftMessage> get_raft(CheckedReading& reading, wire::PeerMessage::Reader from) {
    using Which = wire::PeerMessage::Which;
    switch (from.which()) {
        case Which::PRE_VOTE_REQUEST: return get(reading, from.getPreVoteRequest());
        case Which::PRE_VOTE_REPLY: return get_pre_vote(reading, from.getPreVoteReply());
        case Which::VOTE_REQUEST: return get(reading, from.getVoteRequest());
        case Which::VOTE_REPLY: return get_vote<core::VoteReply>(reading, from.getVoteReply());
        case Which::APPEND_REQUEST: return get(reading, from.getAppendRequest());
        case Which::APPEND_REPLY: return get(reading, from.getAppendReply());
        case Which::TIMEOUT_NOW: return get(reading, from.getTimeoutNow());
        case Which::READ_REQUEST: return get(reading, from.getReadRequest());
        case Which::READ_REPLY: return get(reading, from.getReadReply());
        case Which::SNAPSHOT_CHUNK: return get_snapshot(reading, from.getSnapshotChunk());
        case Which::SNAPSHOT_REPLY: return get_snapshot(reading, from.getSnapshotReply());
        case Which::NOT_A_MEMBER: return get(reading, from.getNotAMember());
        default: return std::nullopt;
    }
}

}  // namespace mortise::transport
