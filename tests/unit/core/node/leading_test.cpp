// A leader that is asked for more than it can do.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core {
namespace {

using namespace test;

Bytes batch(const Command& command) {
    BatchBuilder one;
    one.add(command);
    return one.take();
}

Bytes heavy_batch(SessionId session) {
    BatchBuilder out;
    const std::string name(name_bytes_max, 'n');
    for (std::uint64_t seq = 1; seq <= entry_commands_max; ++seq)
        out.add(Request{
            session, Seq{seq}, {}, Acquire{name, LockMode::exclusive, true, {}, false, {}}});
    return out.take();
}

class Leading : public testing::Test {
protected:
    Leading() {
        cluster.connect_all();
        cluster.run_for(std::chrono::seconds{3});
        leader = cluster.leader();
    }
    void SetUp() override {
        ASSERT_NE(leader, nullptr);
        cluster.add_played(asker);
    }

    void forward(Bytes urgent, std::optional<Renewal> renewal = {}) {
        leader->receive(asker, Forward{std::move(urgent), {}, renewal});
    }
    SessionId session_that_is_over() {
        return opened_and_closed(*leader, asker, [&] { cluster.settle(); });
    }
    SessionId open_session() {
        forward(batch(opening_of(asker, 60'000)));
        cluster.settle();
        return leader->core().machine().sessions().newest();
    }

    static constexpr NodeId asker{77};
    NodeCluster cluster{1, 2, 3};
    HandDrivenNode* leader = nullptr;
};

TEST_F(Leading, AFloodDoesNotStopTheLeader) {
    const auto heavy = heavy_batch(session_that_is_over());
    const auto session = open_session();
    forward(batch(
        Request{session, Seq{1}, {}, Acquire{"y", LockMode::exclusive, true, {}, false, {}}}));
    cluster.settle();
    forward(batch(CloseSession{session}));  // leaves a name to sweep, behind the flood
    const auto flood = [&] {
        const auto refused = leader->core().refused_messages();
        while (leader->core().refused_messages() == refused)
            forward(heavy);
    };
    for (int round = 0; round < 8; ++round) {
        flood();
        cluster.deliver();
        flood();
        for (const std::uint64_t id : {1, 2, 3})
            cluster[NodeId{id}].complete_writes();
    }
    cluster.settle();
    EXPECT_FALSE(leader->core().machine().needs_sweep());
    EXPECT_TRUE(leader->core().raft().is_leader());
}

// P10: an entry is applied in one piece, and a slow disk is not asked for each of them alone.
TEST_F(Leading, MuchThatWaitsIsOneWriteOfSmallEntries) {
    constexpr std::size_t batches = 5;
    const auto heavy = heavy_batch(session_that_is_over());
    for (std::size_t i = 0; i < batches + 2; ++i)
        forward(heavy);
    ASSERT_EQ(leader->writes.size(), 2U);  // the first two; the rest gathers behind them
    leader->complete_write();
    ASSERT_EQ(leader->writes.size(), 2U);
    const auto& entries = leader->writes.back().append;
    EXPECT_EQ(entries.size(), batches);
    for (const auto& entry : entries)
        EXPECT_LE(decode_batch(entry.payload).value().size(), entry_commands_max);
}

TEST_F(Leading, ARenewalIsTakenAlsoWhenItsBatchesAreNot) {
    const auto session = open_session();
    const auto refused = leader->core().refused_messages();
    forward(Bytes{std::string{"no batch"}}, Renewal{session, 12});
    EXPECT_EQ(leader->core().refused_messages(), refused + 1);
    cluster.run_for(std::chrono::seconds{1});
    const auto* renewed = leader->core().machine().sessions().find(session);
    ASSERT_NE(renewed, nullptr);
    EXPECT_EQ(renewed->renewal_number, 12U);
}

// Its renewal is not proposed any more. What it was due for must not stay due.
TEST_F(Leading, ARenewalOfASessionThatEndsMakesNoTimerFireForEver) {
    const auto session = open_session();
    forward(batch(CloseSession{session}));
    forward({}, Renewal{session, 12});
    cluster.settle();
    ASSERT_EQ(leader->core().machine().sessions().find(session), nullptr);
    leader->now = leader->now + heartbeat;
    leader->timer();
    leader->timer();
    EXPECT_GT(leader->core().deadline(), leader->now);
}

// P11: told at once, instead of timing out.
TEST_F(Leading, TooManyAcquiresAreRefused) {
    const NodeId other{leader->raft().configuration().voters.back().id};
    const auto session = cluster[other].core().agent().open_session().value();
    leader->acquire(1, "first");
    leader->sent.clear();
    // Its disk takes its time, so that everything gathers.
    constexpr int enough = 200;
    for (int i = 0; i < enough; ++i)
        leader->receive(other, Forward{{}, heavy_batch(session), {}});
    const auto refusals = leader->take<TooBusy>(other);
    ASSERT_FALSE(refusals.empty());
    EXPECT_EQ(refusals[0].session, session);
    EXPECT_EQ(refusals[0].first, Seq{1});
    EXPECT_GT(refusals[0].last, Seq{100});

    leader->acquire(2, "late");
    leader->timer();
    ASSERT_TRUE(leader->was_answered<CallError>(2));
    EXPECT_EQ(std::get<CallError>(leader->answers.back().result), CallError::resource_exhausted);
}

}  // namespace
}  // namespace mortise::core
