// Client nodes with a cluster of three members (S49).
#include "core/client/client_core.hpp"

#include <gmock/gmock.h>

#include "tests/support/client_fixture.hpp"

namespace mortise::core::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class ClientCoreTest : public testing::Test {
protected:
    void SetUp() override {
        cluster.connect_all();
        cluster.run_for(3s);
    }
    // Connected with that member, with a session.
    void attach(NodeId member) {
        client.reach_only({member});
        client.step(ClientTimer{});
        client.run_for(1s);
        ASSERT_EQ(client.member(), member);
        ASSERT_TRUE(client.core().agent().open_session());
        client.reach_only({});
    }
    NodeId leader() { return cluster.leader()->hello().node; }
    NodeId follower() { return leader() == n1 ? n2 : n1; }
    NodeId third() {
        for (const auto id : {n1, n2, n3}) {
            if (id != leader() && id != follower()) return id;
        }
        return {};
    }
    const Session* session_at(NodeId member) {
        return cluster[member].core().machine().sessions().find(client.session());
    }

    NodeCluster cluster{1, 2, 3};
    HandDrivenClient client{cluster};
};

TEST_F(ClientCoreTest, ItHoldsALockByWayOfAFollower) {
    attach(follower());
    client.acquire(1, "a");
    client.run_for(100ms);
    const auto hold = client.granted(1);
    EXPECT_EQ(hold.session, client.session());
    EXPECT_FALSE(session_at(leader())->opened.node.is_set());
    client.call(ReleaseCall{CallTag{2}, hold});
    client.run_for(100ms);
    EXPECT_TRUE(client.was_answered<Released>(2));
}

TEST_F(ClientCoreTest, ItHoldsALockByWayOfTheLeader) {
    attach(leader());
    client.acquire(1, "a");
    client.run_for(100ms);
    EXPECT_TRUE(client.was_answered<Acquired>(1));
}

TEST_F(ClientCoreTest, ATryThatFindsTheNameTakenIsAnswered) {
    attach(follower());
    cluster[leader()].acquire(1, "a");
    cluster.run_for(100ms);
    client.acquire(2, "a", false);
    client.run_for(100ms);
    EXPECT_TRUE(client.was_answered<Busy>(2));
}

TEST_F(ClientCoreTest, ItWaitsUntilAMemberReleases) {
    attach(follower());
    auto& holder = cluster[leader()];
    holder.acquire(1, "a");
    cluster.run_for(100ms);
    client.acquire(2, "a");
    client.run_for(1s);
    EXPECT_FALSE(client.was_answered<Acquired>(2));
    holder.call(ReleaseCall{{}, holder.granted(1)});
    client.run_for(100ms);
    EXPECT_TRUE(client.was_answered<Acquired>(2));
}

TEST_F(ClientCoreTest, ItsSessionLastsWhileItIsRenewed) {
    attach(follower());
    client.acquire(1, "a");
    client.run_for(60s);
    EXPECT_NE(session_at(leader()), nullptr);
    EXPECT_THAT(client.lost, IsEmpty());
}

TEST_F(ClientCoreTest, ItsHoldsSurviveTheSilenceOfItsMember) {  // P6
    attach(follower());
    client.acquire(1, "a");
    client.run_for(100ms);
    const auto silent = client.member();
    client.silence(silent);
    client.run_for(30s);
    EXPECT_NE(client.member(), silent);
    EXPECT_TRUE(client.core().is_served());
    EXPECT_THAT(client.lost, IsEmpty());
    client.call(ReleaseCall{CallTag{2}, client.granted(1)});
    client.run_for(100ms);
    EXPECT_TRUE(client.was_answered<Released>(2));
}

// Nothing is unanswered: the grant may come at any time.
TEST_F(ClientCoreTest, ASilentMemberIsLeftSoonWhileACallWaits) {
    attach(follower());
    cluster[leader()].acquire(1, "a");
    cluster.run_for(100ms);
    client.acquire(2, "a");
    client.run_for(100ms);
    const auto silent = client.member();
    client.silence(silent);
    client.run_for(7 * election_timeout / 2);
    EXPECT_NE(client.member(), silent);
    EXPECT_THAT(client.left_because, ElementsAre("it does not answer"));
}

TEST_F(ClientCoreTest, AMemberWithoutALeaderIsLeft) {  // P6
    attach(follower());
    client.acquire(1, "a");
    client.run_for(100ms);
    const auto alone = follower();
    cluster.disconnect(alone, leader());
    cluster.disconnect(alone, third());
    client.run_for(8s);
    EXPECT_NE(client.member(), alone);
    EXPECT_THAT(client.left_because, ElementsAre("it knows no leader"));
    EXPECT_TRUE(client.core().is_served());
    EXPECT_THAT(client.lost, IsEmpty());
}

// (session, seq): what was asked by way of one member is answered by way of another.
TEST_F(ClientCoreTest, AnUnansweredRequestGoesOnByAnotherMember) {  // P6
    attach(follower());
    client.acquire(1, "a");  // delivered, and not answered before the connection breaks
    client.reach_only({third()});
    client.lose_member();
    client.run_for(3s);
    EXPECT_EQ(client.member(), third());
    EXPECT_TRUE(client.was_answered<Acquired>(1));
    EXPECT_THAT(session_at(leader())->operations, SizeIs(1));
}

TEST_F(ClientCoreTest, AQueuedRequestGoesOnByAnotherMember) {
    attach(follower());
    auto& holder = cluster[leader()];
    holder.acquire(1, "a");
    cluster.run_for(100ms);
    client.acquire(2, "a");
    client.run_for(100ms);
    client.reach_only({third()});
    client.lose_member();
    holder.call(ReleaseCall{{}, holder.granted(1)});  // granted while it is away
    cluster.run_for(100ms);
    client.run_for(3s);
    EXPECT_TRUE(client.was_answered<Acquired>(2));
}

// The member knows that it waits, and the client does not.
TEST_F(ClientCoreTest, ARequestThatWasQueuedUnseenGoesOnByAnotherMember) {
    attach(follower());
    auto& holder = cluster[leader()];
    holder.acquire(1, "a");
    cluster.run_for(100ms);
    client.acquire(2, "a");
    cluster.run_for(100ms);  // queued, and the client does not hear of it
    client.reach_only({third()});
    client.lose_member();
    client.run_for(3s);
    EXPECT_FALSE(client.error_of(2));
    holder.call(ReleaseCall{{}, holder.granted(1)});
    client.run_for(100ms);
    EXPECT_TRUE(client.was_answered<Acquired>(2));
}

TEST_F(ClientCoreTest, ABreakWhileItIsAwayIsALoss) {
    attach(follower());
    client.acquire(1, "a");
    client.run_for(100ms);
    client.reach_only({third()});
    client.lose_member();
    const auto view = cluster[leader()].core().machine().inspect("a");
    cluster[leader()].call(
        WriteCall{CallTag{5}, {}, BreakLock{"a", view.holders.at(0).token, "why", false}});
    cluster.run_for(100ms);
    client.run_for(3s);
    ASSERT_THAT(client.lost, SizeIs(1));
    EXPECT_EQ(client.lost.front().reason, HoldLost::Reason::broken);
}

TEST_F(ClientCoreTest, AMemberThatIsBehindReportsNothingUntilItHasCaughtUp) {  // P6
    attach(follower());
    const auto behind = third();
    cluster.disconnect(behind, leader());
    cluster.disconnect(behind, follower());
    client.acquire(1, "a");
    client.run_for(100ms);
    ASSERT_TRUE(client.was_answered<Acquired>(1));
    ASSERT_LT(ClientPosition{cluster[behind].core().applied_index()}, client.core().position());
    client.reach_only({behind});
    client.lose_member();
    client.run_for(500ms);
    EXPECT_EQ(client.member(), behind);
    EXPECT_FALSE(client.core().is_served());
    EXPECT_THAT(client.lost, IsEmpty());
    client.run_for(4s);
    EXPECT_EQ(client.left_because.back(), "it has not caught up with the other members");
    cluster.connect(behind, leader());
    cluster.connect(behind, follower());
    client.run_for(3s);
    EXPECT_TRUE(client.core().is_served());
    EXPECT_THAT(client.lost, IsEmpty());
}

TEST_F(ClientCoreTest, ItsHoldsAreLostWhenNoMemberAnswersForALease) {
    attach(follower());
    client.acquire(1, "a");
    client.run_for(100ms);
    for (const auto id : {n1, n2, n3})
        client.silence(id);
    const auto before = client.at().boot;
    client.run_for(11s);
    ASSERT_THAT(client.lost, SizeIs(1));
    EXPECT_EQ(client.lost.front().reason, HoldLost::Reason::expired);
    for (const auto id : {n1, n2, n3})
        client.unsilence(id);
    client.run_for(5s);
    EXPECT_TRUE(client.core().is_served());
    client.acquire(2, "a");
    client.run_for(5s);
    EXPECT_TRUE(client.was_answered<Acquired>(2));
    EXPECT_LT(before, client.at().boot);
}

TEST_F(ClientCoreTest, ItOpensAnotherSessionWhenItsOwnHasEnded) {
    attach(follower());
    const auto former = client.session();
    client.acquire(1, "a");
    client.run_for(100ms);
    for (const auto id : {n1, n2, n3})
        client.silence(id);
    client.run_for(40s);
    EXPECT_EQ(cluster[leader()].core().machine().sessions().find(former), nullptr);
    for (const auto id : {n1, n2, n3})
        client.unsilence(id);
    client.run_for(8s);
    EXPECT_NE(client.session(), former);
    client.acquire(2, "a");
    client.run_for(1s);
    EXPECT_TRUE(client.was_answered<Acquired>(2));
}

TEST_F(ClientCoreTest, ACallThatNobodyCanAnswerEndsInTime) {
    for (const auto id : {n1, n2, n3})
        client.silence(id);
    client.step(ClientTimer{});
    client.acquire(1, "a");
    client.run_for(9s);
    EXPECT_FALSE(client.error_of(1));
    client.run_for(2s);
    EXPECT_EQ(client.error_of(1), CallError::no_quorum);
}

TEST_F(ClientCoreTest, ItHearsOfOthersThatWait) {
    attach(follower());
    client.acquire(1, "a");
    client.run_for(100ms);
    const auto hold = client.granted(1);
    client.call(WatchCall{{}, hold});
    cluster[leader()].acquire(2, "a");
    client.run_for(100ms);
    EXPECT_THAT(client.contended, ElementsAre(Contended{hold, LockMode::exclusive, 1, {}}));
    // The next member watches the hold as well.
    client.contended.clear();
    client.reach_only({third()});
    client.lose_member();
    client.run_for(1s);
    EXPECT_THAT(client.contended, ElementsAre(Contended{hold, LockMode::exclusive, 1, {}}));
}

TEST_F(ClientCoreTest, ItHearsOfOthersThatAsk) {
    attach(follower());
    client.acquire(1, "a");
    client.run_for(100ms);
    const auto hold = client.granted(1);
    cluster[leader()].call(WriteCall{CallTag{9}, {}, AskRelease{"a", "please"}});
    client.run_for(100ms);
    EXPECT_THAT(client.contended, IsEmpty());
    client.call(WatchCall{{}, hold});
    EXPECT_THAT(client.contended, ElementsAre(Contended{hold, LockMode::exclusive, 0, "please"}));
    client.contended.clear();
    cluster[leader()].call(WriteCall{CallTag{10}, {}, AskRelease{"a", "again"}});
    client.run_for(100ms);
    EXPECT_THAT(client.contended, ElementsAre(Contended{hold, LockMode::exclusive, 0, "again"}));
}

TEST_F(ClientCoreTest, AMemberMayBreakItsLock) {
    attach(follower());
    client.acquire(1, "a");
    client.run_for(100ms);
    const auto view = cluster[leader()].core().machine().inspect("a");
    cluster[leader()].call(
        WriteCall{CallTag{5}, {}, BreakLock{"a", view.holders.at(0).token, "why", false}});
    client.run_for(100ms);
    ASSERT_THAT(client.lost, SizeIs(1));
    EXPECT_EQ(client.lost.front().reason, HoldLost::Reason::broken);
}

// It does not wait for the end of its lease.
TEST_F(ClientCoreTest, AnEvictionIsALossAndThenAnotherSession) {  // S24
    attach(follower());
    client.acquire(1, "a");
    client.run_for(100ms);
    const auto session = client.session();
    cluster[leader()].call(WriteCall{CallTag{5}, {}, EvictSession{session, "stuck"}});
    client.run_for(10ms);
    ASSERT_THAT(client.lost, SizeIs(1));
    EXPECT_EQ(client.lost.front().reason, HoldLost::Reason::broken);
    client.call(ToldCall{{}, client.lost.front().hold});
    client.run_for(200ms);
    EXPECT_NE(client.session(), session);
    client.acquire(2, "a");
    client.run_for(100ms);
    EXPECT_TRUE(client.was_answered<Acquired>(2));
}

TEST_F(ClientCoreTest, AnEvictionWhileItIsAwayIsALoss) {  // S24
    attach(follower());
    client.acquire(1, "a");
    client.run_for(100ms);
    const auto session = client.session();
    client.reach_only({third()});
    client.lose_member();
    cluster[leader()].call(WriteCall{CallTag{5}, {}, EvictSession{session, "stuck"}});
    cluster.run_for(100ms);
    client.run_for(2s);
    ASSERT_THAT(client.lost, SizeIs(1));
    EXPECT_EQ(client.lost.front().reason, HoldLost::Reason::broken);
    EXPECT_NE(client.session(), session);
}

TEST_F(ClientCoreTest, ClosingEndsItsSession) {
    attach(follower());
    client.acquire(1, "a");
    client.run_for(100ms);
    const auto session = client.session();
    client.call(CloseCall{CallTag{2}});
    client.run_for(100ms);
    EXPECT_TRUE(client.was_answered<Closed>(2));
    EXPECT_EQ(cluster[leader()].core().machine().sessions().find(session), nullptr);
}

TEST_F(ClientCoreTest, ItMayNotDoWhatItsCertificateDoesNotAllow) {
    auto options = HandDrivenClient::default_options();
    options.access = {{AccessRole::client}, {{Right::acquire, "mine/"}}};
    HandDrivenClient narrow{cluster, options};
    narrow.access = options.access;
    narrow.step(ClientTimer{});
    narrow.run_for(1s);
    narrow.acquire(1, "yours");
    EXPECT_TRUE(narrow.was_answered<Denied>(1));
    narrow.acquire(2, "mine/1");
    narrow.run_for(100ms);
    EXPECT_TRUE(narrow.was_answered<Acquired>(2));
}

// Its member writes the access of its certificate into the opening, so apply refuses as well.
TEST_F(ClientCoreTest, AClientThatIgnoresItsCertificateIsRefused) {
    client.access = {{AccessRole::client}, {{Right::acquire, "mine/"}}};
    attach(follower());
    client.acquire(1, "yours");
    client.run_for(100ms);
    EXPECT_TRUE(client.was_answered<Denied>(1));
    EXPECT_EQ(session_at(leader())->opened.access, client.access);
}

TEST_F(ClientCoreTest, ACertificateThatMayAcquireNothingOpensNoSession) {
    client.access = {{AccessRole::observer}, {}};
    client.step(ClientTimer{});
    client.run_for(1s);
    EXPECT_FALSE(client.core().agent().open_session());
    EXPECT_THAT(client.core().refused(), testing::HasSubstr("role client"));
}

TEST_F(ClientCoreTest, ItsMembersAreNotChangedByIt) {
    attach(follower());
    client.call(ChangeCall{CallTag{1}, {}, Instant::never()});
    EXPECT_TRUE(client.was_answered<Denied>(1));
}

// --- what a client may ask for
// --------------------------------------------------------------------

class ClientRights : public ClientCoreTest {
protected:
    void SetUp() override {
        ClientCoreTest::SetUp();
        attach(follower());
    }
    // As if this client had sent it.
    void say(const Command& command) {
        BatchBuilder batch;
        batch.add(command);
        cluster[client.member()].step(
            ClientSaid{client.connection(), {Forward{batch.take(), {}}}, Access::all()});
        cluster.run_for(100ms);
    }
    HandDrivenNode& member() { return cluster[client.member()]; }
    void tell(std::vector<ClientMessage> messages) {
        tell(std::move(messages), client.connection());
    }
    void tell(std::vector<ClientMessage> messages, ClientId from) {
        member().step(ClientSaid{from, std::move(messages), Access::all()});
    }
    static Forward opening(std::uint64_t nonce) {
        BatchBuilder batch;
        OpenSession opening;
        opening.nonce = nonce;
        opening.ttl_ms = 10'000;
        opening.rho_ppm = 10'000;
        batch.add(opening);
        return {batch.take(), {}};
    }
    std::uint64_t nonce() { return session_at(client.member())->opened.nonce; }
    std::size_t session_count() {
        return cluster[leader()].core().machine().sessions().all().size();
    }
    SessionId session_of_nonce(std::uint64_t nonce) {
        const auto* found = cluster[leader()].core().machine().sessions().find_by_nonce(nonce);
        return found == nullptr ? SessionId{} : found->id;
    }
    const ClientId other{1'000'000};  // another connection with its member
    SessionId session_of(NodeId node) {
        return cluster[node].core().agent().open_session().value();
    }
    bool lives(SessionId session) {
        return cluster[leader()].core().machine().sessions().find(session) != nullptr;
    }
};

TEST_F(ClientRights, ItDoesNotUseTheSessionOfAMember) {
    const auto session = session_of(third());
    const auto applied = cluster[leader()].core().machine().sessions().find(session)->applied;
    say(Request{session, applied.next(), CloseSession{}});
    EXPECT_TRUE(lives(session));
}

TEST_F(ClientRights, ItDoesNotUseTheSessionOfAnotherClient) {
    auto options = HandDrivenClient::default_options();
    options.seed = 99;
    HandDrivenClient other{cluster, options};
    other.reach_only({follower()});
    other.step(ClientTimer{});
    other.run_for(1s);
    const auto session = other.session();
    const auto applied = cluster[leader()].core().machine().sessions().find(session)->applied;
    say(Request{session, applied.next(), CloseSession{}});
    EXPECT_TRUE(lives(session));
    cluster[client.member()].step(
        ClientSaid{client.connection(), {Forward{{}, Renewal{session, 1'000}}}, Access::all()});
    cluster.run_for(100ms);
    EXPECT_LT(cluster[leader()].core().machine().sessions().find(session)->renewal_number, 1'000U);
}

TEST_F(ClientRights, ItDoesNotOpenTheSessionOfAMember) {
    auto opening = opening_of(third(), 10'000);
    opening.nonce = 123;
    say(opening);
    EXPECT_THAT(cluster[client.member()].unfit_clients, ElementsAre(client.connection()));
}

// What it says of its own address does not count.
TEST_F(ClientRights, ItsAddressIsThatOfItsConnection) {
    auto options = HandDrivenClient::default_options();
    options.seed = 98;
    options.origin = {"db3", "back\nup", 4'711, "10.0.0.1"};
    HandDrivenClient speaks{cluster, options};
    speaks.address = "192.168.7.7";
    speaks.reach_only({follower()});
    speaks.step(ClientTimer{});
    speaks.run_for(1s);
    const auto* origin = cluster[leader()].core().machine().views().origin_of(speaks.session());
    ASSERT_NE(origin, nullptr);
    EXPECT_EQ(*origin, (Origin{"db3", "back?up", 4'711, "192.168.7.7"}));
}

TEST_F(ClientRights, ItSaysItsOriginOnlyToMembersThatReadIt) {  // P12
    auto options = HandDrivenClient::default_options();
    options.seed = 97;
    options.origin = {"db3", "backup", 4'711, {}};
    HandDrivenClient speaks{cluster, options};
    speaks.member_format = command_format_oldest;
    speaks.reach_only({follower()});
    speaks.step(ClientTimer{});
    speaks.run_for(1s);
    ASSERT_TRUE(speaks.core().agent().open_session());
    EXPECT_EQ(cluster[leader()].core().machine().views().origin_of(speaks.session()), nullptr);
}

TEST_F(ClientRights, ItDoesNotEndSessions) {
    say(Expire{session_of(third()), LogIndex{1}});
    EXPECT_THAT(cluster[client.member()].unfit_clients, ElementsAre(client.connection()));
}

// Members keep their nonces to themselves; even so they are of no use to a client.
TEST_F(ClientRights, ItDoesNotAttachToTheSessionOfAMember) {
    const auto session = session_of(third());
    const auto nonce = cluster[leader()].core().machine().sessions().find(session)->opened.nonce;
    auto& member = cluster[client.member()];
    member.notices.clear();
    member.step(ClientSaid{ClientId{1'000'000}, {Attach{nonce, {}}}, Access::all()});
    ASSERT_THAT(member.notices, SizeIs(1));
    EXPECT_FALSE(member.notices.front().second.state->session.is_set());
}

TEST_F(ClientRights, NonsenseIsNotPassedOn) {
    cluster[client.member()].step(
        ClientSaid{client.connection(), {Forward{Bytes{"nonsense"}, {}}}, Access::all()});
    EXPECT_THAT(cluster[client.member()].unfit_clients, ElementsAre(client.connection()));
}

TEST_F(ClientRights, ItDoesNotAttachAgainWhileItsSessionLives) {
    tell({Attach{nonce(), {}}});
    EXPECT_THAT(member().unfit_clients, ElementsAre(client.connection()));
}

TEST_F(ClientRights, ItOpensOneSessionAtATime) {
    const auto sessions = session_count();
    tell({Attach{111, {}}}, other);
    tell({opening(111), Attach{222, {}}, opening(222)}, other);
    EXPECT_THAT(member().unfit_clients, ElementsAre(other));
    cluster.run_for(100ms);
    EXPECT_EQ(session_count(), sessions + 1);
}

TEST_F(ClientRights, ItNamesAnotherSessionWhenItsOwnHasEnded) {
    tell({Attach{111, {}}}, other);
    tell({opening(111)}, other);
    cluster.run_for(100ms);
    const auto session = session_of_nonce(111);
    BatchBuilder end;
    end.add(Request{session, Seq{1}, CloseSession{}});
    tell({Forward{end.take(), {}}}, other);
    cluster.run_for(100ms);
    ASSERT_FALSE(lives(session));
    tell({Attach{222, {}}}, other);
    EXPECT_THAT(member().unfit_clients, IsEmpty());
    tell({opening(222)}, other);
    cluster.run_for(100ms);
    EXPECT_TRUE(session_of_nonce(222).is_set());
}

TEST_F(ClientRights, ItIsNotHeardAfterNonsense) {
    const auto sessions = session_count();
    tell({Attach{111, {}}}, other);
    tell({Forward{Bytes{"nonsense"}, {}}, opening(111), Forward{Bytes{"nonsense"}, {}}}, other);
    tell({opening(111)}, other);
    cluster.run_for(100ms);
    EXPECT_THAT(member().unfit_clients, ElementsAre(other));
    EXPECT_EQ(session_count(), sessions);
}

// A message of an abandoned connection that arrives late is such a case as well.
TEST_F(ClientRights, WhoeverNamesItsSessionTakesItsPlace) {
    const auto former = client.connection();
    tell({Attach{nonce(), {}}}, other);
    EXPECT_THAT(member().replaced_clients, ElementsAre(former));
    EXPECT_THAT(member().unfit_clients, IsEmpty());
    tell({Forward{{}, Renewal{client.session(), 1'000}}}, former);
    cluster.run_for(100ms);
    EXPECT_LT(session_at(leader())->renewal_number, 1'000U);
}

// All of them are ready in the same step.
TEST(ClientStates, AreToldInSeveralSteps) {
    NodeCluster alone{1};
    alone.run_for(3s);
    auto& member = alone[n1];
    constexpr std::size_t many = 2'000;
    const auto next = member.core().applied_index().next();
    for (std::uint64_t i = 1; i <= many; ++i)
        member.step(ClientSaid{ClientId{i}, {Attach{i, next}}, Access::all()});
    ASSERT_THAT(member.notices, IsEmpty());
    member.acquire(1, "a");
    alone.settle();
    for (std::size_t told = 0; told < many;) {
        ASSERT_GT(member.notices.size(), told);
        ASSERT_LT(member.notices.size(), told + many / 2);
        told = member.notices.size();
        if (told == many) break;
        EXPECT_EQ(member.core().deadline(), member.now);
        member.step(TimerFired{});
    }
    EXPECT_GT(member.core().deadline(), member.now);
}

TEST_F(ClientRights, AMemberWithNarrowerRulesServesNoClientWithMore) {
    NodeCluster narrow{{1}, [](NodeOptions& options) {
                           options.access = {{AccessRole::voter}, {{Right::acquire, "a"}}};
                       }};
    narrow.connect_all();
    narrow.run_for(3s);
    auto options = HandDrivenClient::default_options();
    options.members = 1;
    HandDrivenClient wide{narrow, options};
    wide.step(ClientTimer{});
    wide.run_for(1s);
    EXPECT_FALSE(wide.core().agent().open_session());
    EXPECT_THAT(wide.core().refused(), testing::HasSubstr("narrower"));
}

}  // namespace
}  // namespace mortise::core::test
