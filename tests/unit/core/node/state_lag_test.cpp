// A state on disk that lags does not fill the memory: the node accepts less (P11).
#include "core/node/state_lag.hpp"

#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"
#include "core/raft/snapshot_sum.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

StateDelta delta(std::uint64_t applied, std::size_t log_bytes, std::vector<Row> rows = {}) {
    return {log_id(1, applied), {}, std::move(rows), log_bytes};
}

TEST(StateLag, IsTheLogAndTheDeltasUntilTheyAreDurable) {
    StateLag lag;
    const auto entry = commands(log_id(1, 2));
    lag.applied(entry);
    lag.applied(entry);
    EXPECT_EQ(lag.bytes(), 2 * weight(entry));
    const auto first = delta(3, lag.log_bytes(), {Row{"key", std::string(1'000, 'x')}});
    lag.handed_over(first);
    EXPECT_EQ(lag.log_bytes(), 0U);
    EXPECT_EQ(lag.bytes(), weight(first));
    EXPECT_GT(lag.bytes(), 2 * weight(entry) + 1'000);
    lag.applied(entry);
    const auto second = delta(4, lag.log_bytes());
    lag.handed_over(second);
    lag.durable(LogIndex{2});
    EXPECT_EQ(lag.bytes(), weight(first) + weight(second));
    lag.durable(LogIndex{3});
    EXPECT_EQ(lag.bytes(), weight(second));
    lag.durable(LogIndex{9});
    EXPECT_EQ(lag.bytes(), 0U);
}

constexpr std::size_t lag_max = 8'000;

Bytes one(const Command& command) {
    BatchBuilder batch;
    batch.add(command);
    return batch.take();
}

// A cluster of one: what is proposed is soon applied. The requests come from a learner that the
// test plays. Only their size matters: each acquire finds the name busy, and no release ends
// anything.
struct Lagging {
    Lagging() : Lagging{options()} {}
    explicit Lagging(const NodeOptions& options) : node{options, RaftState{}} {
        node.timer();
        node.complete_writes();
        while (!node.raft().is_leader()) {
            node.timer_when_due();
            node.complete_writes();
        }
        node.step(PeerUp{played_hello(n2, node.hello())});
        node.change(1, {MembershipGoal::Kind::learner, n2, "host2:7000"}, election_timeout);
        finish();
        session = played_session(node, n2, [&] { finish(); });
        hand_over();
        node.step(StateDurable{node.core().applied_index()});
    }
    [[nodiscard]] Bytes acquire() const {
        const Acquire request{{{std::string(400, 'n'), LockMode::exclusive}}, false, {}, false, {}};
        return one(next_request(node, session, request));
    }
    [[nodiscard]] Bytes ending() const { return one(next_request(node, session, Release{Seq{1}})); }
    static NodeOptions options() {
        auto options = node_options(1, {1});
        options.state_lag_bytes_max = lag_max;
        return options;
    }
    // Everything is written, and applied one piece per step.
    void finish() {
        node.complete_writes();
        while (node.raft().has_decided()) {
            node.timer();
            node.complete_writes();
        }
    }
    void ask(Forward forward) {
        node.receive(n2, std::move(forward));
        finish();
    }
    void hand_over() {
        node.now = node.now + options().state_interval;
        node.timer();
        finish();
    }
    void pass_heartbeat() {
        node.now = node.now + heartbeat;
        node.timer();
        node.complete_writes();
    }
    [[nodiscard]] std::size_t lag() const { return node.core().state_lag_bytes(); }
    [[nodiscard]] LogIndex last() const { return node.raft().log().last().index; }
    void fill_with_acquires() {
        while (lag() <= lag_max)
            ask(forward_of(acquire()));
    }
    void fill_with_endings() {
        for (int i = 0; i < 500; ++i)
            ask(forward_of(ending()));
    }
    SessionId open_session() {
        ask(forward_of(one(opening_of(n2, 60'000))));
        return node.core().machine().sessions().newest();
    }
    [[nodiscard]] const Session* find(SessionId id) const {
        return node.core().machine().sessions().find(id);
    }

    HandDrivenNode node;
    SessionId session;
};

TEST(NodeCoreStateLag, ALeaderTakesNoMoreAcquires) {
    Lagging it;
    it.fill_with_acquires();
    EXPECT_GT(it.lag(), lag_max);
    EXPECT_LT(it.lag(), lag_max + 1'000);
    const auto asked = next_request(it.node, it.session, Declined{});
    it.ask(forward_of(it.acquire()));
    const auto& entry = it.node.raft().log().at(it.last());
    const auto commands = decode_batch(entry.payload).value();
    ASSERT_EQ(commands.size(), 1U);
    EXPECT_EQ(std::get<Request>(commands.front()), asked);
}

TEST(NodeCoreStateLag, ItsOwnProgramIsTold) {
    Lagging it;
    it.fill_with_acquires();
    it.node.acquire(17, "name");
    it.finish();
    EXPECT_EQ(it.node.error_of(17), CallError::resource_exhausted);
}

TEST(NodeCoreStateLag, WhatEndsThingsHasRoomAfterThat) {
    Lagging it;
    it.fill_with_acquires();
    const auto last = it.last();
    it.ask(forward_of(it.ending()));
    EXPECT_EQ(it.last(), last.next());
    it.fill_with_endings();
    EXPECT_GT(it.lag(), lag_max + lag_max / 4);
    EXPECT_LT(it.lag(), lag_max + lag_max / 4 + 1'000);
}

// P11: each rejected acquire causes a cancel, and there is no capacity for all of them.
TEST(NodeCoreStateLag, RenewalsHaveRoomAfterWhatEndsThings) {
    Lagging it;
    const auto session = it.open_session();
    it.fill_with_acquires();
    it.fill_with_endings();
    const auto renewed = [&] { return it.find(session)->renewal_number; };
    for (std::uint64_t number = 1; number <= 3; ++number) {
        it.ask(forward_of({}, Renewal{session, number}));
        it.pass_heartbeat();
        EXPECT_EQ(renewed(), number);
    }
    for (std::uint64_t number = 4; number <= 500; ++number) {
        it.ask(forward_of({}, Renewal{session, number}));
        it.pass_heartbeat();
    }
    EXPECT_LT(renewed(), 500U);
    EXPECT_GT(it.lag(), lag_max + lag_max / 2);
    EXPECT_LT(it.lag(), lag_max + lag_max / 2 + 1'000);
}

// What waits for capacity is accepted then.
TEST(NodeCoreStateLag, RenewalsPassWhatWaitsForRoom) {
    Lagging it;
    const auto session = it.open_session();
    it.fill_with_acquires();
    while (it.lag() <= lag_max + lag_max / 4)
        it.ask(forward_of(it.ending()));
    it.ask(forward_of(one(Request{session, Seq{1}, CloseSession{}}), Renewal{session, 1}));
    it.pass_heartbeat();
    ASSERT_NE(it.find(session), nullptr);
    EXPECT_EQ(it.find(session)->renewal_number, 1U);
    it.hand_over();
    it.node.step(StateDurable{it.node.core().applied_index()});
    it.finish();
    EXPECT_EQ(it.find(session), nullptr);
}

// Releases and cancels are not lost: they wait.
TEST(NodeCoreStateLag, WhenTheStateIsDurableItAllGoesOn) {
    Lagging it;
    it.fill_with_acquires();
    it.fill_with_endings();
    const auto last = it.last();
    it.hand_over();
    ASSERT_FALSE(it.node.deltas.empty());
    EXPECT_EQ(it.last(), last);
    it.node.step(StateDurable{it.node.deltas.back().applied.index});
    EXPECT_EQ(it.last(), last.next()) << "what waited is one entry";
    it.node.complete_writes();
    EXPECT_LT(it.lag(), lag_max);
    it.ask(forward_of(it.acquire()));
    EXPECT_EQ(it.last(), last.next().next());
}

// Requests that arrived during an hour must not be proposed before anything new.
TEST(NodeCoreStateLag, MoreThanAnEntryDoesNotWait) {
    Lagging it;
    it.fill_with_acquires();
    it.fill_with_endings();
    const auto many_from = [&](Seq first) {
        BatchBuilder many;
        for (std::size_t i = 0; i < entry_commands_max; ++i)
            many.add(Request{it.session, Seq{first.raw() + i}, Declined{}});
        return many.take();
    };
    const auto* session = it.find(it.session);
    auto next = session->applied.next().next();  // one release waits
    for (int i = 0; i < 10; ++i, next = Seq{next.raw() + entry_commands_max})
        it.ask(forward_of(many_from(next)));
    EXPECT_EQ(it.node.sent_to<StreamGap>(n2), 0U) << "there is no capacity for it yet";
    const auto before = session->applied.raw();
    it.hand_over();
    it.node.step(StateDurable{it.node.core().applied_index()});
    it.finish();
    EXPECT_EQ(session->applied.raw(), before + 1 + entry_commands_max);
    ASSERT_EQ(it.node.sent_to<StreamGap>(n2), 1U);
    EXPECT_EQ(it.node.newest<StreamGap>(n2).next, session->applied.next());
    it.ask(forward_of(many_from(session->applied.next())));
    EXPECT_EQ(session->applied.raw(), before + 1 + 2 * entry_commands_max);
}

TEST(NodeCoreStateLag, EachDeltaSaysOfHowMuchLogItIs) {
    Lagging it;
    it.hand_over();
    it.node.deltas.clear();
    const auto applied = it.node.applied.size();
    for (int i = 0; i < 3; ++i)
        it.ask(forward_of(it.acquire()));
    it.hand_over();
    ASSERT_EQ(it.node.deltas.size(), 1U);
    std::size_t bytes = 0;
    for (auto i = applied; i < it.node.applied.size(); ++i)
        bytes += weight(it.node.applied[i].entry);
    EXPECT_EQ(it.node.deltas[0].log_bytes, bytes);
}

// Few rows and few entries, but many bytes that cannot be purged before.
TEST(NodeCoreStateLag, ADeltaComesEarlierAfterMuchLog) {
    auto options = Lagging::options();
    options.state_lag_bytes_max = std::size_t{1} << 30U;
    Lagging it{options};
    const auto heavy = [&] {
        BatchBuilder batch;
        batch.add(Acknowledge{it.session, it.node.core().applied_index()});
        auto request = next_request(
            it.node, it.session,
            Acquire{{{std::string(400, 'n'), LockMode::exclusive}}, false, {}, false, {}});
        for (std::size_t i = 1; i < 128; ++i) {
            batch.add(request);
            request.seq = request.seq.next();
        }
        return batch.take();
    };
    it.node.deltas.clear();
    for (int i = 0; i < 100; ++i)
        it.ask(forward_of(heavy()));
    EXPECT_EQ(it.node.deltas.size(), 1U);
}

// The same for entries that a leader sends; the missing ones come when there is capacity.
TEST(NodeCoreStateLag, AFollowerTakesNoEntriesAndGoesOnLater) {
    auto options = node_options(1, {1, 2, 3});
    options.state_lag_bytes_max = lag_max;
    auto disk = disk_with(voters({1, 2, 3}), {Term{1}, {}}, {});
    HandDrivenNode node{options, disk};
    node.step(PeerUp{HandDrivenNode{node_options(2, {1, 2, 3}), disk}.hello()});
    std::uint64_t last = 1;
    const auto send = [&] {
        const auto entry =
            make_entry(log_id(1, last + 1), EntryKind::noop, Bytes{std::string(2'000, 'x')});
        node.receive(n2, RaftMessage{append(1, log_id(1, last), {entry}, last)});
        node.complete_writes();
        if (node.raft().log().last().index.raw() > last) ++last;
    };
    for (int i = 0; i < 50; ++i)
        send();
    EXPECT_GT(node.core().state_lag_bytes(), lag_max + lag_max / 2);
    EXPECT_LT(node.raft().log().bytes(), 2 * lag_max);
    EXPECT_EQ(node.raft().leader(), n2);
    node.step(StateDurable{node.core().applied_index()});
    ASSERT_GT(node.core().state_lag_bytes(), 0U) << "nothing was handed over yet";
    node.now = node.now + options.state_interval;
    node.timer();
    node.step(StateDurable{node.core().applied_index()});
    ASSERT_EQ(node.core().state_lag_bytes(), 0U);
    const auto before = last;
    send();
    EXPECT_EQ(last, before + 1);
}

// A snapshot from another node, in chunks of one row.
struct Installing {
    Installing() {
        node.step(PeerUp{HandDrivenNode{node_options(2, {1, 2, 3}), disk}.hello()});
        node.receive(n2, RaftMessage{append(2, log_id(1, 1))});
        node.complete_writes();
        node.sent.clear();
    }
    static std::vector<Row> some_rows() {
        LockMachine machine;
        Outcomes outcomes;
        machine.apply(LogIndex{2},
                      {OpenSession{5, n1, {Incarnation{9}, BootEpoch{1}}, 60'000, 0, false}},
                      outcomes);
        const auto session = machine.sessions().newest();
        for (std::uint64_t seq = 1; seq <= 9; ++seq) {
            const auto name = std::to_string(seq) + std::string(400, 'n');
            machine.apply(LogIndex{2 + seq},
                          {Request{session, Seq{seq},
                                   Acquire{{{name, LockMode::exclusive}}, true, {}, false, {}}}},
                          outcomes);
        }
        return machine.take_changed_rows();
    }
    void bring() {
        SnapshotChunk chunk{Term{2}, log_id(2, 20), voters({1, 2, 3}), position, {}, false, 0};
        chunk.rows.push_back(rows.at(position));
        chunk.checksum = sum_with(before, chunk);
        before = chunk.checksum;
        ++position;
        node.receive(n2, RaftMessage{chunk});
    }
    static NodeOptions options() {
        auto options = node_options(1, {1, 2, 3});
        options.install_bytes_max = 1'500;
        return options;
    }
    [[nodiscard]] std::size_t replies() { return node.take<SnapshotReply>(n2).size(); }

    RaftState disk = disk_with(voters({1, 2, 3}), {Term{1}, {}}, {});
    HandDrivenNode node{options(), disk};
    std::vector<Row> rows = some_rows();
    std::uint64_t position = 0;
    std::uint64_t before = 0;
};

TEST(StateLag, DuringAnInstallMakesTheSenderWait) {
    Installing it;
    for (it.bring(); it.replies() != 0; it.bring())
        ASSERT_LT(it.position, 6U);
    ASSERT_GT(it.position, 1U);
    ASSERT_EQ(it.node.installs.size(), it.position);
    std::uint64_t taken = 0;
    for (; it.node.sent_to<SnapshotReply>(n2) == 0; ++taken) {
        ASSERT_LT(taken, it.position);
        it.node.step(InstallTaken{});
    }
    EXPECT_EQ(it.node.newest<SnapshotReply>(n2).next, it.position);
    for (; taken < it.position; ++taken)
        it.node.step(InstallTaken{});
    it.bring();
    EXPECT_EQ(it.replies(), 1U) << "nothing is left of what was taken";
}

}  // namespace
}  // namespace mortise::core::test
