// By which members a client node enters which cluster (S49). A test plays the members.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/played_members.hpp"

namespace mortise::core::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Nanoseconds election_timeout = 1s;

ClientOptions options_for(std::size_t members, std::uint32_t ttl_ms = 10'000,
                          std::uint64_t seed = 7) {
    ClientOptions options;
    options.members = members;
    options.election_timeout = election_timeout;
    options.session_ttl_ms = ttl_ms;
    options.seed = seed;
    return options;
}

// The table of sessions is full (P11).
TEST(ClientMembers, ARefusedClientOpensItsSessionAgainLater) {
    PlayedCluster cluster{1};
    cluster.is_full = true;
    ClientOfPlayedMembers client{options_for(1), {{&cluster}}};
    client.run_for(10s);
    EXPECT_GE(cluster.openings, 8U);
    EXPECT_LE(cluster.openings, 11U);
    cluster.is_full = false;
    client.run_for(2s);
    EXPECT_TRUE(client.core().agent().open_session());
}

// They take what it sends for nonsense, for example because it has another version.
TEST(ClientMembers, AClientWhoseMembersHangUpComesBackLater) {
    PlayedCluster cluster{1};
    PlayedMember member{&cluster};
    member.hangs_up = true;
    ClientOfPlayedMembers client{options_for(3), {member, member, member}};
    client.run_for(10s);
    EXPECT_LE(client.dialled, 60U);
    for (auto& each : client.members)
        each.hangs_up = false;
    client.run_for(3s);
    EXPECT_TRUE(client.core().agent().open_session());
}

// The shortest TTL that is permitted: see embed/config/config_check.cpp.
TEST(ClientMembers, AMemberThatPassesNothingOnIsLeftBeforeTheLeaseEnds) {
    PlayedCluster cluster{1};
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        ClientOfPlayedMembers client{options_for(2, 5'000, seed), {{&cluster}, {&cluster}}};
        client.run_for(1s);
        client.acquire(1, "a");
        client.run_for(Nanoseconds{seed * 150ms});
        ASSERT_TRUE(client.granted(1));
        const auto former = client.member();
        client.members.at(former).drops_forwards = true;
        client.run_for(10s);
        EXPECT_NE(client.member(), former);
        EXPECT_THAT(client.lost, IsEmpty()) << "seed " << seed;
    }
}

// --- reads --------------------------------------------------------------------------------------

// Nothing else is expected of it for a third of the TTL.
TEST(ClientMembers, AMemberThatFallsSilentIsLeftSoonWhileAReadWaits) {
    PlayedCluster cluster{1};
    ClientOfPlayedMembers client{options_for(2, 60'000), {{&cluster}, {&cluster}}};
    client.run_for(2s);
    const auto silent = client.member();
    client.members.at(silent).is_reachable = false;
    client.step(ReadsOpen{1, false});
    client.run_for(4s);
    EXPECT_NE(client.member(), silent);
    EXPECT_TRUE(client.core().is_served());
}

TEST(ClientMembers, AMemberThatAnswersEverythingButReadsIsLeft) {
    PlayedCluster cluster{1};
    ClientOfPlayedMembers client{options_for(2, 60'000), {{&cluster}, {&cluster}}};
    client.run_for(2s);
    const auto member = client.member();
    client.step(ReadsOpen{1, false});
    client.run_for(3s);
    client.step(ReadsOpen{2, false});
    EXPECT_EQ(client.member(), member);
    EXPECT_GE(client.members.at(member).pings, 2U);
    client.run_for(2s);
    EXPECT_NE(client.member(), member);
}

TEST(ClientMembers, AMemberThatAnswersSomeReadsIsNotLeft) {
    PlayedCluster cluster{1};
    ClientOfPlayedMembers client{options_for(2, 60'000), {{&cluster}, {&cluster}}};
    client.run_for(2s);
    client.step(ReadsOpen{2, false});
    for (int i = 0; i < 5; ++i) {
        client.run_for(3s);
        client.step(ReadsOpen{2, true});
    }
    client.step(ReadsOpen{0, true});
    client.run_for(20s);
    EXPECT_EQ(client.dialled, 1U);
}

// --- clusters of the same name ------------------------------------------------------------------

class ClientClusters : public testing::Test {
protected:
    // A directory of a former cluster: that cluster has no majority.
    PlayedCluster former{1, LogIndex{1'000'000}};
    PlayedCluster cluster{2};
    PlayedCluster next{3, LogIndex{5'000'000}};  // recovered from `cluster`
    ClientClusters() { former.has_leader = false; }
    static void reach(ClientOfPlayedMembers& client, bool can) {
        for (auto& member : client.members)
            member.is_reachable = can;
    }
    static void become(ClientOfPlayedMembers& client, PlayedCluster& other) {
        for (auto& member : client.members)
            member.cluster = &other;
        client.lose_member();
    }
};

// Whichever member is dialled first.
TEST_F(ClientClusters, AMemberOfAFormerClusterIsLeftForTheOthers) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        ClientOfPlayedMembers client{options_for(3, 10'000, seed),
                                     {{&former}, {&cluster}, {&cluster}}};
        client.run_for(10s);
        EXPECT_TRUE(client.core().is_served()) << "seed " << seed;
        EXPECT_EQ(client.core().cluster(), cluster.id);
        client.acquire(1, "a");
        client.run_for(1s);
        EXPECT_TRUE(client.granted(1));
    }
}

// What was granted here may have been granted to somebody else there.
TEST_F(ClientClusters, ARecoveredClusterIsEnteredWithANewSession) {
    ClientOfPlayedMembers client{options_for(2), {{&cluster}, {&cluster}}};
    client.run_for(1s);
    client.acquire(1, "a");
    client.run_for(1s);
    const auto hold = client.granted(1);
    ASSERT_TRUE(hold);
    cluster.grants = false;
    client.acquire(2, "b");
    client.run_for(100ms);
    // The recovered member has the session as it was before.
    next.sessions = cluster.sessions;
    next.sessions.front().applied = Seq{};
    next.newest = SessionId{1'000};
    become(client, next);
    client.run_for(6s);
    EXPECT_FALSE(client.core().is_served());
    EXPECT_THAT(client.lost, IsEmpty());
    client.run_for(8s);
    ASSERT_THAT(client.lost, SizeIs(1));
    EXPECT_EQ(client.lost.front().hold, *hold);
    EXPECT_EQ(client.lost.front().reason, HoldLost::Reason::expired);
    EXPECT_EQ(client.error_of(2), CallError::session_expired);
    EXPECT_TRUE(client.core().is_served());
    EXPECT_EQ(client.core().cluster(), next.id);
    EXPECT_EQ(client.core().agent().open_session(), SessionId{1'001});
    EXPECT_EQ(client.attached_twice, 0U);  // a member closes a connection for that
    client.acquire(3, "a");
    client.run_for(1s);
    EXPECT_TRUE(client.granted(3));
}

TEST_F(ClientClusters, WhileItsLeaseLastsItEntersNoOtherCluster) {
    ClientOfPlayedMembers client{options_for(2), {{&cluster}, {&cluster}}};
    client.run_for(1s);
    client.acquire(1, "a");
    client.run_for(100ms);
    become(client, next);
    client.run_for(5s);
    become(client, cluster);
    client.run_for(30s);
    EXPECT_THAT(client.lost, IsEmpty());
    EXPECT_EQ(next.openings, 0U);
    EXPECT_TRUE(client.core().is_served());
}

// It said in its hello that it belongs to none, and joined one while it was connected. A session of
// a cluster that the client does not know would be continued in any other one.
TEST_F(ClientClusters, AMemberThatJoinsAClusterMeanwhileIsAskedAgainWhichOne) {
    ClientOfPlayedMembers client{options_for(1), {{.cluster = &next, .is_new = true}}};
    client.run_for(1s);
    EXPECT_FALSE(client.core().is_served());
    client.members.front().is_new = false;
    client.run_for(10s);
    EXPECT_TRUE(client.core().is_served());
    EXPECT_EQ(client.core().cluster(), next.id);
    become(client, cluster);  // begun anew: its log is shorter
    client.run_for(20s);
    EXPECT_TRUE(client.core().is_served());
    EXPECT_EQ(client.core().cluster(), cluster.id);
}

// Its call waits in the queue of its own cluster, whose members are away for a while.
TEST_F(ClientClusters, AClusterWithoutALeaderDoesNotEndItsSession) {
    ClientOfPlayedMembers client{options_for(2), {{&cluster}, {&former}}};
    client.run_for(10s);
    const auto session = client.core().agent().open_session();
    ASSERT_TRUE(session);
    cluster.grants = false;
    client.acquire(1, "a");
    client.run_for(100ms);
    client.members.front().is_reachable = false;
    client.run_for(25s);
    client.members.front().is_reachable = true;
    client.run_for(5s);
    EXPECT_TRUE(client.core().is_served());
    EXPECT_EQ(client.core().agent().open_session(), session);
    EXPECT_FALSE(client.error_of(1));
}

// A cluster that was founded anew counts its sessions from one. An operation must not mean two
// grants (S19).
TEST_F(ClientClusters, TheIdOfItsFormerSessionIsNotUsedAgain) {
    PlayedCluster founded_anew{4};
    ClientOfPlayedMembers client{options_for(1), {{&cluster}}};
    client.run_for(1s);
    client.acquire(1, "a");
    client.run_for(100ms);
    ASSERT_EQ(client.granted(1), (OperationId{SessionId{1}, Seq{1}}));
    become(client, founded_anew);
    client.run_for(15s);
    ASSERT_TRUE(client.core().is_served());
    client.acquire(2, "a");
    client.run_for(1s);
    EXPECT_EQ(client.granted(2), (OperationId{SessionId{2}, Seq{1}}));
}

TEST_F(ClientClusters, ACloseEndsAlthoughItsClusterIsGone) {
    ClientOfPlayedMembers client{options_for(1), {{&cluster}}};
    client.run_for(1s);
    client.acquire(1, "a");
    client.run_for(100ms);
    client.members.front().is_reachable = false;
    client.lose_member();
    client.call(CloseCall{CallTag{2}});
    client.members.front().is_reachable = true;
    client.members.front().cluster = &next;
    client.run_for(15s);
    EXPECT_TRUE(client.core().agent().is_closed());
}

// --- eras (docs/decisions/0095)

// All machines lost power, and with that entries whose outcomes the client has received.
TEST_F(ClientClusters, AClientThatOutlivedAnEraIsServedAtOnce) {
    ClientOfPlayedMembers client{options_for(2), {{&cluster}, {&cluster}}};
    client.run_for(1s);
    client.acquire(1, "a");
    client.run_for(100ms);
    const auto hold = client.granted(1);
    ASSERT_TRUE(hold);
    client.lose_member();
    cluster.begin_era(40);
    client.run_for(2s);
    EXPECT_TRUE(client.core().is_served());
    ASSERT_THAT(client.lost, SizeIs(1));
    EXPECT_EQ(client.lost.front().hold, *hold);
    client.acquire(2, "a");
    client.run_for(1s);
    EXPECT_TRUE(client.granted(2));
}

TEST_F(ClientClusters, AMemberThatIsBehindTheEraDoesNotServeIt) {
    PlayedCluster behind = cluster;  // the same, and nothing is applied there any more
    ClientOfPlayedMembers client{options_for(1), {{&cluster}}};
    client.run_for(1s);
    client.lose_member();
    cluster.begin_era(40);
    client.run_for(2s);
    behind.applied = LogIndex{cluster.applied.raw() + 1'000};
    become(client, behind);
    client.run_for(2s);
    EXPECT_FALSE(client.core().is_served());
    EXPECT_EQ(behind.openings, 0U);
}

// --- where fewer clients are (docs/decisions/0067)

TEST(ClientMembers, AClientGoesToAMemberThatServesFewerAndLosesNothing) {  // P6
    PlayedCluster cluster{1};
    ClientOfPlayedMembers client{options_for(2), {{&cluster}, {&cluster}}};
    client.run_for(1s);
    const auto first = client.member();
    const auto session = client.core().agent().open_session();
    client.members.at(first).load = {10, 224};
    client.members.at(1 - first).load = {2, 224};
    client.acquire(1, "a");
    client.run_for(61s);
    EXPECT_EQ(client.looked, 1U);
    EXPECT_EQ(client.member(), 1 - first);
    EXPECT_TRUE(client.core().is_served());
    EXPECT_EQ(client.core().agent().open_session(), session);
    EXPECT_THAT(client.lost, IsEmpty());
    client.members.at(first).load = {9, 224};
    client.members.at(1 - first).load = {3, 224};
    client.run_for(5min);
    EXPECT_EQ(client.member(), 1 - first);
    EXPECT_EQ(client.dialled, 2U);
}

TEST(ClientMembers, AClientThatWaitsForAnAnswerDoesNotLookAround) {
    PlayedCluster cluster{1};
    ClientOfPlayedMembers client{options_for(2), {{&cluster}, {&cluster}}};
    client.run_for(1s);
    const auto first = client.member();
    client.members.at(first).load = {10, 224};
    client.members.at(1 - first).load = {0, 224};
    cluster.grants = false;
    client.acquire(1, "a");
    client.run_for(2min);
    EXPECT_EQ(client.looked, 0U);
    client.call(CancelCall{CallTag{1}});
    client.run_for(1s);
    EXPECT_EQ(client.looked, 1U);
    EXPECT_EQ(client.member(), 1 - first);
}

TEST(ClientMembers, AClientStaysWhereOthersAreNoBetter) {
    PlayedCluster cluster{1};
    ClientOfPlayedMembers client{options_for(2), {{&cluster}, {&cluster}}};
    client.members.at(0).load = client.members.at(1).load = {50, 224};
    client.run_for(10min);
    EXPECT_EQ(client.dialled, 1U);
    EXPECT_GE(client.looked, 3U);
    EXPECT_LE(client.looked, 5U);
}

// With a long TTL nothing else is said (docs/decisions/0066).
TEST(ClientMembers, AnIdleClientShowsThatItLives) {
    PlayedCluster cluster{1};
    ClientOfPlayedMembers client{options_for(1, 86'400'000), {{&cluster}}};
    client.run_for(65s);
    EXPECT_GE(client.members[0].pings, 5U);
    EXPECT_LE(client.members[0].pings, 7U);
}

}  // namespace
}  // namespace mortise::core::test
