// The cached grants of client nodes: they are recalled as soon as somebody waits, and when nobody
// would tell the client of that (S40, docs/decisions/0093).
#include <gmock/gmock.h>

#include "core/client/client_core.hpp"
#include "core/locks/rows/session_row.hpp"
#include "tests/support/client_fixture.hpp"

namespace mortise::core::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ClientCache : public testing::Test {
protected:
    void SetUp() override {
        cluster.connect_all();
        cluster.run_for(3s);
        client.reach_only({follower()});
        client.step(ClientTimer{});
        client.run_for(1s);
        ASSERT_TRUE(client.core().hears_recalls());
    }
    NodeId leader() { return cluster.leader()->hello().node; }
    NodeId follower() { return leader() == n1 ? n2 : n1; }
    NodeId third() {
        for (const auto id : {n1, n2, n3}) {
            if (id != leader() && id != follower()) return id;
        }
        return {};
    }
    OperationId cached(std::uint64_t tag, std::string name) {
        client.acquire_cached(tag, std::move(name));
        client.run_for(100ms);
        return client.granted(tag);
    }
    [[nodiscard]] std::uint32_t tokens(std::uint64_t tag) const {
        for (const auto& answer : client.answers) {
            const auto* acquired = std::get_if<Acquired>(&answer.result);
            if (answer.tag == CallTag{tag} && acquired != nullptr) return acquired->cached_tokens;
        }
        return 0;
    }
    void go_to(NodeId member) {
        client.reach_only({member});
        client.lose_member();
    }
    static Contended recall(OperationId grant, std::size_t waiters) {
        return {grant, LockMode::exclusive, waiters, {}};
    }

    NodeCluster cluster{1, 2, 3};
    HandDrivenClient client{cluster};
};

TEST_F(ClientCache, S40_ARecallNeedsNoRequest) {
    const auto grant = cached(1, "a");
    EXPECT_EQ(tokens(1), 8U);
    EXPECT_THAT(client.contended, IsEmpty());
    cluster[leader()].acquire(2, "a");
    client.run_for(100ms);
    EXPECT_THAT(client.contended, ElementsAre(recall(grant, 1)));
}

TEST_F(ClientCache, S40_AGrantForWhichOthersWaitIsRecalledAtOnce) {
    cluster[leader()].acquire(2, "a");
    client.run_for(100ms);
    client.acquire_cached(1, "a");
    client.run_for(100ms);
    cluster[third()].acquire(3, "a");
    client.run_for(100ms);
    cluster[leader()].call(ReleaseCall{{}, cluster[leader()].granted(2)});
    client.run_for(100ms);
    EXPECT_THAT(client.contended, ElementsAre(recall(client.granted(1), 1)));
}

TEST_F(ClientCache, S40_LeavingAMemberRecallsEveryCachedGrant) {
    const auto grant = cached(1, "a");
    client.acquire(2, "b");
    client.run_for(100ms);
    client.reach_only({});
    client.silence(follower());
    client.run_for(20ms);
    EXPECT_THAT(client.contended, IsEmpty());
    client.lose_member();
    EXPECT_THAT(client.contended, ElementsAre(recall(grant, 0)));
    client.contended.clear();
    client.run_for(2s);
    EXPECT_TRUE(client.core().hears_recalls());
    EXPECT_THAT(client.contended, IsEmpty()) << "once";
    EXPECT_THAT(client.lost, IsEmpty());
}

TEST_F(ClientCache, S40_TheOpenRecallsComeWithTheState) {
    cluster[leader()].acquire(2, "a");
    client.run_for(100ms);
    client.acquire_cached(1, "a");
    client.run_for(100ms);
    // What the client does not hear: it gets the name, and somebody waits for it.
    go_to(third());
    client.silence(third());
    cluster[leader()].call(ReleaseCall{{}, cluster[leader()].granted(2)});
    cluster.run_for(100ms);
    cluster[leader()].acquire(3, "a");
    cluster.run_for(100ms);
    EXPECT_THAT(client.contended, IsEmpty());
    client.unsilence(third());
    client.run_for(2s);
    EXPECT_THAT(client.contended, ElementsAre(recall(client.granted(1), 1)));
    EXPECT_EQ(client.contended_with_state, 1U) << "not later";
}

// It does not know which recalls it has missed.
TEST_F(ClientCache, S40_AMemberThatReceivedAnotherStateRecallsEveryCachedGrant) {
    const auto grant = cached(1, "a");
    const auto& member = cluster[client.member()].core();
    const auto* session = member.machine().sessions().find(client.session());
    ClientNotice notice;
    notice.applied = member.applied_index();
    notice.state = {session->opened.nonce, session->id, encode_session_for_client(*session), {}};
    client.step(MemberSaid{client.core().connection(), std::move(notice)});
    EXPECT_THAT(client.contended, ElementsAre(recall(grant, 0)));
    EXPECT_TRUE(client.core().hears_recalls());
}

TEST_F(ClientCache, S40_ARequestToReleaseRecallsAsWell) {  // S24
    const auto grant = cached(1, "a");
    cluster[leader()].call(WriteCall{CallTag{9}, {}, AskRelease{"a", "please"}});
    client.run_for(100ms);
    EXPECT_THAT(client.contended, ElementsAre(Contended{grant, LockMode::exclusive, 0, "please"}));
}

TEST_F(ClientCache, S45_APublishedGrantIsAnOrdinaryHold) {
    const auto grant = cached(1, "a");
    client.call(PublishCall{{}, grant, FencingToken{1}});
    client.run_for(100ms);
    go_to(third());
    EXPECT_THAT(client.contended, IsEmpty());
}

TEST_F(ClientCache, S24_APublishedGrantIsWatchedWhenItsOwnerAsksForIt) {
    const auto grant = cached(1, "a");
    client.call(PublishCall{{}, grant, FencingToken{1}});
    client.run_for(100ms);
    cluster[leader()].acquire(2, "a");
    client.run_for(100ms);
    client.contended.clear();
    client.call(WatchCall{{}, grant});
    client.run_for(100ms);
    EXPECT_THAT(client.contended, ElementsAre(recall(grant, 1)));
}

TEST_F(ClientCache, AReleasedGrantIsNotRecalled) {
    const auto grant = cached(1, "a");
    client.call(ReleaseCall{{}, grant});
    go_to(third());
    EXPECT_THAT(client.contended, IsEmpty());
}

TEST_F(ClientCache, AnEarlierMemberIsAskedForNoCachedGrant) {  // P12
    client.member_format = command_format_oldest;
    go_to(third());
    client.run_for(1s);
    ASSERT_TRUE(client.core().is_served());
    ASSERT_FALSE(client.core().hears_recalls());
    cached(1, "a");
    EXPECT_EQ(tokens(1), 0U);
}

// A later member has passed the request on before.
TEST_F(ClientCache, ACachedGrantThatComesByAnEarlierMemberGoesBack) {  // P12
    cluster[leader()].acquire(2, "a");
    client.run_for(100ms);
    client.acquire_cached(1, "a");
    client.run_for(100ms);
    client.member_format = command_format_oldest;
    go_to(third());
    client.run_for(1s);
    cluster[leader()].call(ReleaseCall{{}, cluster[leader()].granted(2)});
    client.run_for(100ms);
    EXPECT_EQ(tokens(1), 8U);
    EXPECT_THAT(client.contended, ElementsAre(recall(client.granted(1), 0)));
}

}  // namespace
}  // namespace mortise::core::test
