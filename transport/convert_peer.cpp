#include <algorithm>
#include <cstring>

#include "core/base/check.hpp"
#include "core/base/overloaded.hpp"
#include "transport/checked_reading.hpp"
#include "transport/convert.hpp"

namespace mortise::transport {

namespace {

// Known by their numbers on both sides.
static_assert(static_cast<int>(core::EntryKind::state_sum) ==
              static_cast<int>(wire::EntryKind::STATE_SUM));
static_assert(static_cast<int>(Purpose::client) == static_cast<int>(wire::Purpose::CLIENT));
static_assert(static_cast<int>(Refusal::no_service) == static_cast<int>(wire::Refusal::NO_SERVICE));

void put(const core::LogId& id, wire::LogId::Builder to) {
    to.setTerm(id.term.raw());
    to.setIndex(id.index.raw());
}

core::LogId get(CheckedReading& reading, wire::LogId::Reader from, const char* what) {
    return {core::Term{from.getTerm()}, reading.index(from.getIndex(), what)};
}

void put(const core::Entry& entry, wire::Entry::Builder to) {
    to.setTerm(entry.id.term.raw());
    to.setIndex(entry.id.index.raw());
    to.setChecksum(entry.checksum);
    to.setKind(static_cast<wire::EntryKind>(entry.kind));
    if (!entry.payload.empty()) to.setPayload(data_of(entry.payload.view()));
}

core::Entry get(CheckedReading& reading, wire::Entry::Reader from) {
    core::Entry entry;
    entry.id = {reading.set<core::Term>(from.getTerm(), "Entry.term"),
                reading.index(from.getIndex(), "Entry.index")};
    if (!entry.id.index.is_set()) reading.fail(Malformed::bad_number, "Entry.index");
    entry.kind = reading.known(from.getKind(), core::EntryKind::state_sum, "Entry.kind");
    if (static_cast<int>(entry.kind) == 0) reading.fail(Malformed::unknown_kind, "Entry.kind");
    entry.checksum = from.getChecksum();
    entry.payload = reading.bytes(from.getPayload(), payload_bytes_max, "Entry.payload");
    return entry;
}

// --- each kind, both ways
// -------------------------------------------------------------------------

void put(const core::PreVoteRequest& m, wire::PreVoteRequest::Builder to) {
    to.setTerm(m.term.raw());
    to.setRound(m.round);
    put(m.last, to.initLast());
}

core::PreVoteRequest get(CheckedReading& reading, wire::PreVoteRequest::Reader from) {
    return {core::Term{from.getTerm()}, from.getRound(),
            get(reading, from.getLast(), "PreVoteRequest.last")};
}

void put(const core::VoteRequest& m, wire::VoteRequest::Builder to) {
    to.setTerm(m.term.raw());
    to.setRound(m.round);
    put(m.last, to.initLast());
    to.setTransfer(m.transfer);
}

core::VoteRequest get(CheckedReading& reading, wire::VoteRequest::Reader from) {
    return {core::Term{from.getTerm()}, from.getRound(),
            get(reading, from.getLast(), "VoteRequest.last"), from.getTransfer()};
}

template <class Reply>
void put_vote(const Reply& m, wire::VoteReply::Builder to) {
    to.setTerm(m.term.raw());
    to.setRound(m.round);
    to.setGranted(m.granted);
}

template <class Reply>
Reply get_vote(wire::VoteReply::Reader from) {
    return {core::Term{from.getTerm()}, from.getRound(), from.getGranted()};
}

void put(const core::AppendRequest& m, wire::AppendRequest::Builder to) {
    to.setTerm(m.term.raw());
    put(m.previous, to.initPrevious());
    to.setCommit(m.commit.raw());
    to.setReplicated(m.replicated.raw());
    to.setReadRound(m.read_round);
    if (m.entries.empty()) return;
    auto entries = to.initEntries(static_cast<unsigned>(m.entries.size()));
    for (unsigned i = 0; i < entries.size(); ++i)
        put(m.entries[i], entries[i]);
}

core::AppendRequest get(CheckedReading& reading, wire::AppendRequest::Reader from) {
    core::AppendRequest m;
    m.term = core::Term{from.getTerm()};
    m.previous = get(reading, from.getPrevious(), "AppendRequest.previous");
    m.commit = reading.index(from.getCommit(), "AppendRequest.commit");
    m.replicated = reading.index(from.getReplicated(), "AppendRequest.replicated");
    m.read_round = from.getReadRound();
    auto before = m.previous.index;
    reading.list(from.getEntries(), entries_max, "AppendRequest.entries", [&](auto each) {
        auto entry = get(reading, each);
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
    put(m.hint, to.initHint());
    if (m.run_out.empty()) return;
    auto run_out = to.initRunOut(static_cast<unsigned>(m.run_out.size()));
    for (unsigned i = 0; i < run_out.size(); ++i) {
        run_out[i].setSession(m.run_out[i].session.raw());
        run_out[i].setRenewedAt(m.run_out[i].renewed_at.raw());
    }
}

core::AppendReply get(CheckedReading& reading, wire::AppendReply::Reader from) {
    core::AppendReply m;
    m.term = core::Term{from.getTerm()};
    m.read_round = from.getReadRound();
    m.rejected = from.getRejected();
    m.match = reading.index(from.getMatch(), "AppendReply.match");
    m.previous = reading.index(from.getPrevious(), "AppendReply.previous");
    m.hint = get(reading, from.getHint(), "AppendReply.hint");
    reading.list(from.getRunOut(), run_outs_max, "AppendReply.runOut", [&](auto each) {
        m.run_out.push_back(
            {reading.set<core::SessionId>(each.getSession(), "AppendReply.runOut.session"),
             reading.index(each.getRenewedAt(), "AppendReply.runOut.renewedAt")});
    });
    return m;
}

void put(const core::TimeoutNow& m, wire::TimeoutNow::Builder to) {
    to.setTerm(m.term.raw());
    put(m.last, to.initLast());
}

core::TimeoutNow get(CheckedReading& reading, wire::TimeoutNow::Reader from) {
    return {core::Term{from.getTerm()}, get(reading, from.getLast(), "TimeoutNow.last")};
}

void put(const core::ReadRequest& m, wire::ReadRequest::Builder to) {
    to.setTerm(m.term.raw());
    to.setId(m.id.raw());
}

core::ReadRequest get(CheckedReading& reading, wire::ReadRequest::Reader from) {
    return {core::Term{from.getTerm()}, reading.set<core::ReadId>(from.getId(), "ReadRequest.id")};
}

void put(const core::ReadReply& m, wire::ReadReply::Builder to) {
    to.setTerm(m.term.raw());
    to.setId(m.id.raw());
    to.setIndex(m.index.raw());
}

core::ReadReply get(CheckedReading& reading, wire::ReadReply::Reader from) {
    return {core::Term{from.getTerm()}, reading.set<core::ReadId>(from.getId(), "ReadReply.id"),
            reading.index(from.getIndex(), "ReadReply.index")};
}

void put(const core::Forward& m, wire::Forward::Builder to) {
    if (!m.urgent.empty()) to.setUrgent(data_of(m.urgent.view()));
    if (!m.acquires.empty()) to.setAcquires(data_of(m.acquires.view()));
    if (!m.renewal) return;
    auto renewal = to.initRenewal();
    renewal.setSession(m.renewal->session.raw());
    renewal.setNumber(m.renewal->number);
}

core::Forward get(CheckedReading& reading, wire::Forward::Reader from) {
    core::Forward m;
    m.urgent = reading.bytes(from.getUrgent(), core::batch_bytes_max, "Forward.urgent");
    m.acquires = reading.bytes(from.getAcquires(), core::batch_bytes_max, "Forward.acquires");
    const auto renewal = from.getRenewal();
    if (renewal.getSession() != 0) {
        m.renewal = core::Renewal{core::SessionId{renewal.getSession()}, renewal.getNumber()};
    }
    return m;
}

void put(const core::RaftMessage& message, wire::PeerMessage::Builder to) {
    std::visit(core::Overloaded{
                   [&](const core::PreVoteRequest& m) { put(m, to.initPreVoteRequest()); },
                   [&](const core::PreVoteReply& m) { put_vote(m, to.initPreVoteReply()); },
                   [&](const core::VoteRequest& m) { put(m, to.initVoteRequest()); },
                   [&](const core::VoteReply& m) { put_vote(m, to.initVoteReply()); },
                   [&](const core::AppendRequest& m) { put(m, to.initAppendRequest()); },
                   [&](const core::AppendReply& m) { put(m, to.initAppendReply()); },
                   [&](const core::TimeoutNow& m) { put(m, to.initTimeoutNow()); },
                   [&](const core::ReadRequest& m) { put(m, to.initReadRequest()); },
                   [&](const core::ReadReply& m) { put(m, to.initReadReply()); },
                   [](const auto&) { MORTISE_CHECK(false); },  // has_wire_form() says so
               },
               message);
}

core::PeerMessage get(CheckedReading& reading, wire::PeerMessage::Reader from) {
    using Which = wire::PeerMessage::Which;
    switch (from.which()) {
        case Which::PRE_VOTE_REQUEST: return get(reading, from.getPreVoteRequest());
        case Which::PRE_VOTE_REPLY: return get_vote<core::PreVoteReply>(from.getPreVoteReply());
        case Which::VOTE_REQUEST: return get(reading, from.getVoteRequest());
        case Which::VOTE_REPLY: return get_vote<core::VoteReply>(from.getVoteReply());
        case Which::APPEND_REQUEST: return get(reading, from.getAppendRequest());
        case Which::APPEND_REPLY: return get(reading, from.getAppendReply());
        case Which::TIMEOUT_NOW: return get(reading, from.getTimeoutNow());
        case Which::READ_REQUEST: return get(reading, from.getReadRequest());
        case Which::READ_REPLY: return get(reading, from.getReadReply());
        case Which::FORMATION_OFFER:
            return core::FormationOffer{get(reading, from.getFormationOffer())};
        case Which::FORWARD: return get(reading, from.getForward());
    }
    reading.fail(Malformed::unknown_kind, "PeerMessage");
    return {};
}

}  // namespace

void write(const core::Forward& forward, wire::Forward::Builder to) {
    put(forward, to);
}

core::Result<core::Forward> read(wire::Forward::Reader from) {
    CheckedReading reading;
    auto forward = get(reading, from);
    return reading.finish(std::move(forward));
}

bool has_wire_form(const core::PeerMessage& message) {
    const auto* raft = std::get_if<core::RaftMessage>(&message);
    if (raft == nullptr) return true;
    return std::visit(core::Overloaded{[](const core::SnapshotChunk&) { return false; },
                                       [](const core::SnapshotReply&) { return false; },
                                       [](const core::NotAMember&) { return false; },
                                       [](const auto&) { return true; }},
                      *raft);
}

void write(const core::PeerMessage& message, wire::PeerMessage::Builder to) {
    std::visit(core::Overloaded{
                   [&](const core::RaftMessage& m) { put(m, to); },
                   [&](const core::FormationOffer& m) { put(m.founding, to.initFormationOffer()); },
                   [&](const core::Forward& m) { put(m, to.initForward()); },
               },
               message);
}

core::Result<core::PeerMessage> read(wire::PeerMessage::Reader from) {
    CheckedReading reading;
    auto message = get(reading, from);
    return reading.finish(std::move(message));
}

void write(const std::vector<core::PeerMessage>& batch,
           capnp::List<wire::PeerMessage>::Builder to) {
    MORTISE_CHECK(batch.size() == to.size());
    for (unsigned i = 0; i < to.size(); ++i)
        write(batch[i], to[i]);
}

core::Result<std::vector<core::PeerMessage>> read(capnp::List<wire::PeerMessage>::Reader from) {
    CheckedReading reading;
    std::vector<core::PeerMessage> batch;
    reading.list(from, batch_messages_max, "messages",
                 [&](auto each) { batch.push_back(get(reading, each)); });
    return reading.finish(std::move(batch));
}

// --- hello
// ----------------------------------------------------------------------------------------

void write(const Greeting& greeting, wire::Hello::Builder to) {
    to.setProtocolLowest(greeting.lowest);
    to.setProtocolHighest(greeting.highest);
    to.setFeatures(greeting.features);
    to.setPurpose(static_cast<wire::Purpose>(greeting.purpose));
    auto cluster = to.initCluster();
    cluster.setHigh(greeting.hello.cluster.high);
    cluster.setLow(greeting.hello.cluster.low);
    to.setNode(greeting.hello.node.raw());
    to.setIncarnation(greeting.hello.incarnation.raw());
    to.setBootEpoch(greeting.hello.boot_epoch.raw());
    auto voters = to.initVoters(static_cast<unsigned>(greeting.hello.voters.size()));
    for (unsigned i = 0; i < voters.size(); ++i)
        voters.set(i, greeting.hello.voters[i].raw());
}

core::Result<Greeting> read(wire::Hello::Reader from) {
    CheckedReading reading;
    Greeting greeting;
    greeting.lowest = from.getProtocolLowest();
    greeting.highest = from.getProtocolHighest();
    if (greeting.lowest > greeting.highest) reading.fail(Malformed::bad_order, "Hello.protocol");
    greeting.features = from.getFeatures();
    greeting.purpose = reading.known(from.getPurpose(), Purpose::client, "Hello.purpose");
    auto& hello = greeting.hello;
    hello.cluster = {from.getCluster().getHigh(), from.getCluster().getLow()};
    hello.node = core::NodeId{from.getNode()};
    hello.incarnation = core::Incarnation{from.getIncarnation()};
    hello.boot_epoch = core::BootEpoch{from.getBootEpoch()};
    const bool whole =
        hello.node.is_set() && hello.incarnation.is_set() && hello.boot_epoch.is_set();
    if (greeting.purpose != Purpose::client && !whole) {
        reading.fail(Malformed::bad_number, "Hello.node");
    }
    core::NodeId before;
    reading.list(from.getVoters(), voters_max, "Hello.voters", [&](std::uint64_t voter) {
        if (voter <= before.raw()) reading.fail(Malformed::bad_order, "Hello.voters");
        before = core::NodeId{voter};
        hello.voters.push_back(before);
    });
    return reading.finish(std::move(greeting));
}

void write(Refusal refusal, wire::Refused::Builder to) {
    to.setReason(static_cast<wire::Refusal>(refusal));
    to.setText(data_of(to_string(refusal)));
}

Refusal read(wire::Refused::Reader from) {
    CheckedReading reading;
    return reading.known(from.getReason(), Refusal::no_service, "Refused.reason");
}

}  // namespace mortise::transport
