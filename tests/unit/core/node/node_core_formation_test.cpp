#include <gtest/gtest.h>

#include "core/codec/configuration_codec.hpp"
#include "core/raft/configuration_change.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

// Node 1 of three bootstraps: its first entry is being written.
HandDrivenNode founder() {
    HandDrivenNode node{1, {1, 2, 3}};
    node.step(PeerUp{empty_hello(2, {1, 2, 3})});
    node.step(PeerUp{empty_hello(3, {1, 2, 3})});
    node.all_agree();
    return node;
}

FormationOffer offer_to(const Configuration& configuration) {
    return {configures(log_id(1, 1), configuration)};
}

void meet_founder(HandDrivenNode& node) {
    node.step(PeerUp{HandDrivenNode{1, {1, 2, 3}}.hello()});
}

// --- who bootstraps, and when (S47)

TEST(NodeCoreFormation, NeedsEveryVoter) {  // P2
    HandDrivenNode node{1, {1, 2, 3}};
    node.timer();
    EXPECT_FALSE(node.is_formed());
    node.step(PeerUp{empty_hello(2, {1, 2, 3})});
    node.timer();
    EXPECT_FALSE(node.is_formed());
    EXPECT_TRUE(node.sent.empty());
    node.step(PeerUp{empty_hello(3, {1, 2, 3})});
    EXPECT_TRUE(node.writes.empty());
    node.all_agree();
    EXPECT_TRUE(node.is_formed());
    EXPECT_TRUE(node.noted(Note::Kind::formed));
}

TEST(NodeCoreFormation, NeedsThemConnectedAtTheSameTime) {
    HandDrivenNode node{1, {1, 2, 3}};
    node.step(PeerUp{empty_hello(2, {1, 2, 3})});
    node.step(PeerDown{n2});
    node.step(PeerUp{empty_hello(3, {1, 2, 3})});
    EXPECT_TRUE(node.sent.empty());
    node.step(PeerUp{empty_hello(2, {1, 2, 3})});
    node.all_agree();
    EXPECT_TRUE(node.is_formed());
}

// Each was empty when it connected. It is certain that all were empty at one moment only if each
// says so again after all have said it.
TEST(NodeCoreFormation, AsksEverybodyAgainWhenAllWereHeardOf) {  // P2
    HandDrivenNode node{1, {1, 2, 3}};
    auto second = empty_hello(2, {1, 2, 3});
    second.generation.life = 22;
    node.step(PeerUp{second});
    node.step(PeerUp{empty_hello(3, {1, 2, 3})});
    const auto asked = node.newest<FormationQuestion>(n2);
    EXPECT_EQ(asked.life, 22U);
    EXPECT_EQ(node.newest<FormationQuestion>(n3).round, asked.round);
    node.receive(n2, FormationAnswer{asked.round});
    node.receive(n2, FormationAnswer{asked.round});
    node.receive(n4, FormationAnswer{asked.round});
    EXPECT_FALSE(node.is_formed());
    node.receive(n3, FormationAnswer{asked.round});
    EXPECT_TRUE(node.is_formed());
}

TEST(NodeCoreFormation, ALostQuestionIsAskedAgain) {
    HandDrivenNode node{1, {1, 2, 3}};
    node.step(PeerUp{empty_hello(2, {1, 2, 3})});
    node.step(PeerUp{empty_hello(3, {1, 2, 3})});
    const auto asked = node.newest<FormationQuestion>(n2);
    node.receive(n2, FormationAnswer{asked.round});
    node.sent.clear();
    node.timer();
    EXPECT_TRUE(node.sent.empty()) << "not before a heartbeat has passed";
    node.timer_when_due();
    EXPECT_TRUE(node.take<FormationQuestion>(n2).empty());
    EXPECT_EQ(node.newest<FormationQuestion>(n3).round, asked.round);
}

TEST(NodeCoreFormation, AnAnswerBeforeSomebodyCameBackCountsForNothing) {
    HandDrivenNode node{1, {1, 2, 3}};
    node.step(PeerUp{empty_hello(2, {1, 2, 3})});
    node.step(PeerUp{empty_hello(3, {1, 2, 3})});
    const auto asked = node.newest<FormationQuestion>(n2);
    node.receive(n2, FormationAnswer{asked.round});
    node.sent.clear();
    auto third = empty_hello(3, {1, 2, 3});
    third.generation.boot_epoch = third.generation.boot_epoch.next();
    third.generation.life = 33;
    node.step(PeerUp{third});
    const auto again = node.newest<FormationQuestion>(n3);
    EXPECT_NE(again.round, asked.round);
    EXPECT_EQ(again.life, 33U);
    node.receive(n2, FormationAnswer{asked.round});
    node.receive(n3, FormationAnswer{again.round});
    EXPECT_FALSE(node.is_formed());
    node.receive(n2, FormationAnswer{again.round});
    EXPECT_TRUE(node.is_formed());
}

// Its disk was new when it connected; since then it was brought back into its cluster.
TEST(NodeCoreFormation, WhoJoinedMeanwhileDoesNotAgree) {  // P2
    HandDrivenNode node{2, {1, 2, 3}};
    node.step(PeerUp{empty_hello(1, {1, 2, 3})});
    node.receive(n1, FormationQuestion{5, node.hello().generation.life});
    EXPECT_EQ(node.newest<FormationAnswer>(n1).round, 5U);
    node.step(PeerUp{empty_hello(3, {1, 2, 3})});
    auto present = voters({1, 2, 3});
    present.voters[1].incarnation = Incarnation{7};
    node.receive(n3, RaftMessage{append(2, {}, {configures(log_id(1, 1), present)})});
    ASSERT_TRUE(node.is_formed());
    const auto refused = node.core().refused_messages();
    node.receive(n1, FormationQuestion{6, node.hello().generation.life});
    node.complete_writes();
    node.receive(n1, FormationQuestion{7, node.hello().generation.life});
    EXPECT_TRUE(node.take<FormationAnswer>(n1).empty());
    EXPECT_EQ(node.core().refused_messages(), refused + 2);
}

TEST(NodeCoreFormation, AQuestionToAnotherLifeOrFromAStrangerIsRefused) {
    HandDrivenNode node{2, {1, 2, 3}};
    node.step(PeerUp{empty_hello(1, {1, 2, 3})});
    node.step(PeerUp{empty_hello(4, {1, 2, 3})});
    node.receive(n1, FormationQuestion{5, node.hello().generation.life + 1});
    node.receive(n4, FormationQuestion{5, node.hello().generation.life});
    EXPECT_TRUE(node.sent.empty());
    EXPECT_EQ(node.core().refused_messages(), 2U);
}

// Each member offers the cluster to every voter that it knew as empty, and most of these belong to
// it by then. A count of refused messages is a sign of trouble, and there is none.
TEST(NodeCoreFormation, ACountOfRefusalsIsZeroAfterIt) {
    NodeCluster cluster{1, 2, 3};
    cluster.connect_all();
    cluster.run_for(5 * election_timeout);
    ASSERT_NE(cluster.leader(), nullptr);
    for (auto& [id, node] : cluster)
        EXPECT_EQ(node.core().refused_messages(), 0U) << "node " << id.raw();
}

TEST(NodeCoreFormation, ARefusalSaysWhatAndWhy) {
    HandDrivenNode node{2, {1, 2, 3}};
    meet_founder(node);
    node.receive(n1, offer_to(voters({1, 3})));
    ASSERT_TRUE(node.noted(Note::Kind::unheard_message));
    EXPECT_EQ(node.notes.back().message, "FormationOffer");
    EXPECT_EQ(node.notes.back().peer, n1);
    EXPECT_FALSE(node.notes.back().why.empty());
}

TEST(NodeCoreFormation, NamesTheVotersAndTheirIncarnations) {
    const auto node = founder();
    ASSERT_EQ(node.writes.size(), 1U);
    const auto& write = node.writes.front();
    EXPECT_EQ(write.hard_state, (HardState{Term{1}, {}}));
    ASSERT_EQ(write.append.size(), 1U);
    const auto configuration = decode_configuration(write.append.front().payload);
    ASSERT_TRUE(configuration);
    EXPECT_TRUE(configuration->cluster.is_set());
    EXPECT_EQ(configuration->voters, members({1, 2, 3}));
    EXPECT_FALSE(configuration->is_joint());
    EXPECT_TRUE(configuration->learners.empty());
}

TEST(NodeCoreFormation, OnlyTheLowestIdFounds) {
    HandDrivenNode node{2, {1, 2, 3}};
    meet_founder(node);
    node.step(PeerUp{empty_hello(1, {1, 2, 3})});
    node.step(PeerUp{empty_hello(3, {1, 2, 3})});
    node.timer();
    EXPECT_FALSE(node.is_formed());
}

TEST(NodeCoreFormation, TwoClustersGetTwoIds) {
    auto options = node_options(1, {1});
    HandDrivenNode first{options, RaftState{}};
    options.seed = 77;
    HandDrivenNode second{options, RaftState{}};
    first.timer();
    second.timer();
    EXPECT_NE(first.raft().configuration().cluster, second.raft().configuration().cluster);
}

TEST(NodeCoreFormation, DifferentVoterListsNeverForm) {
    NodeCluster cluster{1, 2, 3};
    cluster[n3].configure({1, 2, 3, 4});
    cluster.connect_all();
    cluster.run_for(10 * election_timeout);
    for (const auto& [id, node] : cluster)
        EXPECT_FALSE(node.is_formed());
}

TEST(NodeCoreFormation, AVoterThatIsNotEmptyForbidsIt) {
    HandDrivenNode node{1, {1, 2, 3}};
    auto formed = empty_hello(3, {1, 2, 3});
    formed.cluster = {5, 5};
    node.step(PeerUp{empty_hello(2, {1, 2, 3})});
    node.step(PeerUp{formed});
    node.timer();
    EXPECT_FALSE(node.is_formed());
}

TEST(NodeCoreFormation, ASingleNodeFormsAlone) {
    HandDrivenNode node{1, {1}};
    node.timer();
    node.complete_writes();
    EXPECT_TRUE(node.is_formed());
    EXPECT_FALSE(node.hello().is_empty());
    node.timer_when_due();
    node.complete_writes();
    EXPECT_TRUE(node.raft().is_leader());
}

TEST(NodeCoreFormation, FormsOnce) {
    auto node = founder();
    const auto cluster = node.raft().configuration().cluster;
    node.complete_writes();
    node.step(PeerDown{n2});
    node.step(PeerUp{empty_hello(2, {1, 2, 3})});
    EXPECT_TRUE(node.writes.empty());
    EXPECT_EQ(node.raft().configuration().cluster, cluster);
}

// A wiped directory has a new incarnation, whose epochs begin again.
TEST(NodeCoreFormation, AVoterWipedBeforehandTakesPartAsItIsNow) {
    NodeCluster cluster{1, 2, 3};
    cluster.connect(n1, n2);
    cluster.crash_and_restart(n2);
    cluster.connect(n1, n2);
    cluster.wipe_and_restart(n2);
    cluster.connect_all();
    cluster.settle();
    ASSERT_TRUE(cluster[n1].is_formed());
    EXPECT_EQ(cluster[n1].raft().configuration().find(n2)->incarnation,
              cluster[n2].hello().generation.incarnation);
}

// --- the offer

TEST(NodeCoreFormation, OffersOnlyADurableFoundingEntry) {
    auto node = founder();
    EXPECT_TRUE(node.hello().is_empty());
    node.timer();
    EXPECT_TRUE(node.sent.empty());
    node.complete_writes();
    EXPECT_EQ(node.hello().cluster, node.raft().configuration().cluster);
    EXPECT_EQ(node.newest<FormationOffer>(n2).founding, node.raft().log().at(LogIndex{1}));
    EXPECT_EQ(node.take<FormationOffer>(n3).size(), 1U);
}

TEST(NodeCoreFormation, AFoundingEntryLostInACrashWasNeverOffered) {
    auto node = founder();
    EXPECT_TRUE(node.take<FormationOffer>(n2).empty());
    node.crash_and_restart();
    EXPECT_FALSE(node.is_formed());
    EXPECT_TRUE(node.hello().is_empty());
}

TEST(NodeCoreFormation, AnOfferIsTakenByWhoIsNamed) {
    HandDrivenNode node{2, {1, 2, 3}};
    meet_founder(node);
    const auto offer = offer_to(voters({1, 2, 3}));
    node.receive(n1, offer);
    EXPECT_EQ(node.raft().configuration(), voters({1, 2, 3}));
    EXPECT_TRUE(node.hello().is_empty());      // not before it is on disk
    EXPECT_TRUE(node.hello().voters.empty());  // and it agrees to no other bootstrap meanwhile
    ASSERT_EQ(node.writes.size(), 1U);
    EXPECT_EQ(node.writes.front().hard_state, (HardState{Term{1}, {}}));
    EXPECT_EQ(node.writes.front().append, std::vector{offer.founding});
    node.complete_writes();
    EXPECT_EQ(node.hello().cluster, voters({}).cluster);
    EXPECT_EQ(node.raft().commit_index(), LogIndex{1});
}

TEST(NodeCoreFormation, AnOfferToAnotherIncarnationIsRefused) {
    auto configuration = voters({1, 2, 3});
    configuration.voters[1].incarnation = Incarnation{9999};
    HandDrivenNode node{2, {1, 2, 3}};
    meet_founder(node);
    node.receive(n1, offer_to(configuration));
    EXPECT_FALSE(node.is_formed());
    EXPECT_EQ(node.core().refused_messages(), 1U);
    node.receive(n1, offer_to(voters({1, 3})));
    EXPECT_FALSE(node.is_formed());
    EXPECT_TRUE(node.writes.empty());
}

// The disk of the bootstrapping node was replaced: the offer of its former run is void (S47).
TEST(NodeCoreFormation, AnOfferOfALifeThatIsOverIsRefused) {
    HandDrivenNode node{2, {1, 2, 3}};
    meet_founder(node);
    auto wiped = HandDrivenNode{1, {1, 2, 3}}.hello();
    wiped.generation.incarnation = Incarnation{9999};
    node.step(PeerUp{wiped});
    node.receive(n1, offer_to(voters({1, 2, 3})));
    EXPECT_FALSE(node.is_formed());
    EXPECT_EQ(node.core().refused_messages(), 1U);
}

TEST(NodeCoreFormation, ASecondOfferIsRefused) {
    HandDrivenNode node{2, {1, 2, 3}};
    meet_founder(node);
    node.receive(n1, offer_to(voters({1, 2, 3})));
    auto other = voters({1, 2, 3});
    other.cluster = {1, 1};
    node.receive(n1, offer_to(other));
    EXPECT_EQ(node.raft().configuration(), voters({1, 2, 3}));
    EXPECT_EQ(node.core().refused_messages(), 1U);
}

TEST(NodeCoreFormation, AnOfferThatIsNoFoundingEntryIsRefused) {
    const auto whole = configures(log_id(1, 1), voters({1, 2, 3}));
    auto damaged = whole;
    damaged.checksum ^= 1U;
    for (const auto& entry :
         {damaged, configures(log_id(2, 1), voters({1, 2, 3})),
          configures(log_id(1, 2), voters({1, 2, 3})),
          make_entry(log_id(1, 1), EntryKind::commands, whole.payload),
          make_entry(log_id(1, 1), EntryKind::configuration, Bytes{"nonsense"}), Entry{}}) {
        HandDrivenNode node{2, {1, 2, 3}};
        meet_founder(node);
        node.receive(n1, FormationOffer{entry});
        EXPECT_FALSE(node.is_formed());
        EXPECT_EQ(node.core().refused_messages(), 1U);
    }
}

TEST(NodeCoreFormation, ALostOfferIsMadeAgain) {
    auto node = founder();
    node.complete_writes();
    node.sent.clear();
    node.timer_when_due();
    EXPECT_EQ(node.take<FormationOffer>(n2).size(), 1U);
    node.step(PeerDown{n2});
    node.timer_when_due();
    EXPECT_TRUE(node.take<FormationOffer>(n2).empty());
    node.step(PeerUp{empty_hello(2, {1, 2, 3})});
    EXPECT_EQ(node.take<FormationOffer>(n2).size(), 1U);
}

TEST(NodeCoreFormation, TheOffersEndWhenThePeerIsHeardOf) {
    auto node = founder();
    node.complete_writes();
    node.receive(n2, RaftMessage{PreVoteRequest{Term{1}, 1, log_id(1, 1)}});
    node.sent.clear();
    node.timer_when_due();
    EXPECT_TRUE(node.take<FormationOffer>(n2).empty());
    EXPECT_EQ(node.take<FormationOffer>(n3).size(), 1U);
}

// Followers of one leader have no reason to send Raft messages to each other, so none of them hears
// from the other that it is a member.
TEST(NodeCoreFormation, TheOffersEndWhenALeaderIsFollowed) {  // P8
    NodeCluster cluster{1, 2, 3};
    cluster.connect_all();
    cluster.run_for(2 * heartbeat);
    ASSERT_NE(cluster.leader(), nullptr);
    for (int timer = 0; timer < 20; ++timer) {
        cluster.pass(heartbeat);
        for (auto& [id, node] : cluster) {
            node.timer();
            for (const auto to : {n1, n2, n3})
                EXPECT_TRUE(node.take<FormationOffer>(to).empty()) << id.raw();
        }
        cluster.settle();
    }
}

// The leader, which would bring it the entry, does not reach it: it is the other voter that can
// elect the next one.
TEST(NodeCoreFormation, TheOffersGoOnWhenTheLeaderIsLost) {  // P8
    NodeCluster cluster{1, 2, 3};
    cluster.connect_all();
    cluster.deliver();  // questions
    cluster.deliver();  // answers
    cluster.disconnect(n1, n3);
    cluster[n1].complete_writes();
    cluster[n1].take<FormationOffer>(n3);
    cluster.deliver();
    cluster[n2].complete_writes();
    EXPECT_EQ(cluster[n2].take<FormationOffer>(n3).size(), 1U);  // which is lost
    cluster.run_for(2 * heartbeat);
    ASSERT_EQ(cluster[n2].raft().leader(), n1);
    ASSERT_FALSE(cluster[n3].is_formed());
    cluster.disconnect(n1, n2);
    cluster.run_for(3 * election_timeout);
    EXPECT_TRUE(cluster[n3].is_formed());
    EXPECT_TRUE(cluster[n2].raft().is_leader() || cluster[n3].raft().is_leader());
}

// It was away while the others formed their cluster, and elected a leader.
TEST(NodeCoreFormation, AVoterThatComesLateIsBroughtTheEntryByTheLeaderAlone) {
    NodeCluster cluster{1, 2, 3};
    cluster.connect_all();
    cluster.deliver();  // questions
    cluster.deliver();  // answers
    cluster.crash_and_restart(n3);
    cluster.run_for(2 * heartbeat);
    ASSERT_EQ(cluster.leader(), &cluster[n1]);
    ASSERT_FALSE(cluster[n3].is_formed());
    cluster.connect(n1, n3);
    cluster[n1].take<FormationOffer>(n3);
    cluster.run_for(2 * heartbeat);
    EXPECT_TRUE(cluster[n3].is_formed());
    EXPECT_EQ(cluster[n3].hello().cluster, cluster[n1].hello().cluster);
}

TEST(NodeCoreFormation, EveryMemberOffersNotOnlyTheFounder) {
    HandDrivenNode node{2, {1, 2, 3}};
    meet_founder(node);
    node.receive(n1, offer_to(voters({1, 2, 3})));
    node.complete_writes();
    node.step(PeerUp{empty_hello(3, {1, 2, 3})});
    EXPECT_EQ(node.newest<FormationOffer>(n3).founding,
              configures(log_id(1, 1), voters({1, 2, 3})));
}

TEST(NodeCoreFormation, AWipedNodeIsNotOffered) {
    auto node = founder();
    node.complete_writes();
    node.step(PeerDown{n2});
    node.sent.clear();
    auto wiped = empty_hello(2, {1, 2, 3});
    wiped.generation.incarnation = Incarnation{9999};
    node.step(PeerUp{wiped});
    node.timer_when_due();
    EXPECT_TRUE(node.take<FormationOffer>(n2).empty());
}

TEST(NodeCoreFormation, AStrangerIsNotOffered) {
    auto node = founder();
    node.complete_writes();
    node.step(PeerUp{empty_hello(5, {1, 2, 3})});
    EXPECT_TRUE(node.take<FormationOffer>(n5).empty());
}

// The log does not keep the entry for ever, and the configuration may have changed by then. A voter
// that never got the offer is still a voter, and there may be no leader without it.
TEST(NodeCoreFormation, IsOfferedWhenTheLogHasItNoMore) {
    auto changed = with_learner(voters({1, 2, 3}), member(4));
    changed.founders = members({1, 2, 3});
    for (const auto& present : {voters({1, 2, 3}), changed}) {
        RaftState state;
        state.hard_state = {Term{2}, {}};
        state.base = log_id(2, 40);
        state.applied = state.base.index;
        state.configuration = present;
        HandDrivenNode node{node_options(1, {1, 2, 3}), state};
        node.step(PeerUp{empty_hello(3, {1, 2, 3})});
        EXPECT_EQ(node.newest<FormationOffer>(n3).founding,
                  configures(log_id(1, 1), voters({1, 2, 3})));
        // a member that was not a configured voter at the bootstrap
        node.step(PeerUp{empty_hello(4, {1, 2, 3})});
        EXPECT_TRUE(node.take<FormationOffer>(n4).empty());
    }
}

// A later member proves by its own hello that it belongs to the cluster; an offer in flight from a
// disk that is gone does not.
TEST(NodeCoreFormation, AMemberThatDidNotFoundOffersToo) {
    auto later = HandDrivenNode{4, {1, 2, 3}}.hello();
    HandDrivenNode node{2, {1, 2, 3}};
    node.step(PeerUp{later});
    node.receive(n4, offer_to(voters({1, 2, 3})));
    EXPECT_FALSE(node.is_formed());
    later.cluster = voters({}).cluster;
    node.step(PeerUp{later});
    node.receive(n4, offer_to(voters({1, 2, 3})));
    EXPECT_TRUE(node.is_formed());
}

// --- before and after

// It follows a leader, and does nothing else (S47).
TEST(NodeCoreFormation, AnEmptyNodeOnlyFollows) {
    HandDrivenNode node{2, {1, 2, 3}};
    meet_founder(node);
    node.step(PeerUp{empty_hello(1, {1, 2, 3})});
    const RaftMessage messages[] = {PreVoteRequest{Term{1}, 1, log_id(1, 1)},
                                    VoteRequest{Term{2}, 1, log_id(1, 1), false}, AppendReply{},
                                    TimeoutNow{Term{1}, {}}};
    for (const auto& message : messages)
        node.receive(n1, message);
    EXPECT_EQ(node.core().refused_messages(), 4U);
    EXPECT_TRUE(node.sent.empty());
    EXPECT_TRUE(node.writes.empty());
    EXPECT_EQ(node.raft().term(), Term{});
    node.receive(n1, RaftMessage{append(2, {}, {configures(log_id(1, 1), voters({1, 2, 3}))})});
    EXPECT_TRUE(node.is_formed());
}

// Its data is gone, but it still knows that it had some (S47).
TEST(NodeCoreFormation, AFormerMemberFormsNothingAndFollowsItsOwnClusterOnly) {
    NodeState state;
    state.former_cluster = {7, 9};
    HandDrivenNode node{node_options(1, {1, 2, 3}), std::move(state)};
    EXPECT_FALSE(node.hello().is_empty());
    node.step(PeerUp{empty_hello(2, {1, 2, 3})});
    node.step(PeerUp{empty_hello(3, {1, 2, 3})});
    EXPECT_FALSE(node.is_formed());
    EXPECT_TRUE(node.writes.empty());
    auto founded = voters({1, 2, 3});
    founded.voters[0].incarnation = Incarnation{1};
    const RaftMessage leads{append(2, {}, {configures(log_id(1, 1), founded)})};
    auto known = empty_hello(2, {1, 2, 3});
    known.cluster = {7, 8};
    node.step(PeerUp{known});
    node.receive(n2, leads);
    EXPECT_FALSE(node.is_formed());
    known.cluster = {7, 9};
    known.generation.boot_epoch = known.generation.boot_epoch.next();
    node.step(PeerUp{known});
    node.receive(n2, leads);
    EXPECT_TRUE(node.is_formed());
    EXPECT_EQ(node.raft().deadline(), Instant::never());  // and it never campaigns
}

// The first entry of the leader was not on its disk when it said hello, and the connection is still
// the same.
TEST(NodeCoreFormation, AFormerMemberKnowsItsOwnClusterByWhatItIsBrought) {  // P7
    NodeState state;
    state.former_cluster = {7, 9};
    HandDrivenNode node{node_options(1, {1, 2, 3}), std::move(state)};
    node.step(PeerUp{empty_hello(2, {1, 2, 3})});
    auto founded = voters({1, 2, 3});
    founded.voters[0].incarnation = Incarnation{1};
    const auto brings = [&](const Configuration& configuration) {
        node.receive(n2, RaftMessage{append(2, {}, {configures(log_id(1, 1), configuration)})});
        return node.is_formed();
    };
    auto others = founded;
    others.cluster = {7, 8};
    EXPECT_FALSE(brings(others));
    SnapshotChunk chunk;
    chunk.term = Term{2};
    chunk.last = log_id(1, 1);
    chunk.configuration = others;
    chunk.done = true;
    node.receive(n2, RaftMessage{chunk});
    EXPECT_EQ(node.core().refused_messages(), 2U);
    node.receive(n2, RaftMessage{append(2, log_id(2, 5), {})});
    ASSERT_FALSE(node.sent.empty()) << "whoever leads is to hear what is wanting";
    EXPECT_TRUE(brings(founded));
}

TEST(NodeCoreFormation, ThreeNodesFormAndElect) {
    NodeCluster cluster{1, 2, 3};
    cluster.connect_all();
    cluster.run_for(heartbeat);
    cluster.run_for(heartbeat);
    ASSERT_TRUE(cluster[n1].raft().is_leader());  // the bootstrapping node asks first
    for (const auto& [id, node] : cluster) {
        EXPECT_EQ(node.raft().leader(), n1);
        EXPECT_EQ(node.raft().configuration(), cluster[n1].raft().configuration());
        EXPECT_EQ(node.hello().cluster, cluster[n1].hello().cluster);
        EXPECT_EQ(node.applied.front().entry.id, log_id(1, 1));
    }
}

TEST(NodeCoreFormation, NothingIsFormedByTheHalvesOfASplit) {
    NodeCluster cluster{1, 2, 3, 4, 5};
    cluster.connect(n1, n2);
    for (const auto& [a, b] : {std::pair{n3, n4}, {n3, n5}, {n4, n5}})
        cluster.connect(a, b);
    cluster.run_for(10 * election_timeout);
    for (const auto& [id, node] : cluster)
        EXPECT_FALSE(node.is_formed());
}

TEST(NodeCoreFormation, OutlivesACrashOfTheFounderBeforeAnybodyTookTheOffer) {
    NodeCluster cluster{1, 2, 3};
    cluster.connect_all();
    cluster.deliver();
    cluster[n1].complete_writes();
    const auto founded = cluster[n1].hello().cluster;
    ASSERT_TRUE(founded.is_set());
    cluster.crash_and_restart(n1);
    EXPECT_EQ(cluster[n1].hello().cluster, founded);
    EXPECT_FALSE(cluster[n2].is_formed());
    cluster.connect_all();
    cluster.run_for(3 * election_timeout);
    ASSERT_NE(cluster.leader(), nullptr);
    for (const auto& [id, node] : cluster)
        EXPECT_EQ(node.hello().cluster, founded);
}

TEST(NodeCoreFormation, OutlivesACrashOfAVoterThatWasWritingTheOffer) {
    NodeCluster cluster{1, 2, 3};
    cluster.connect_all();
    cluster.deliver();
    cluster[n1].complete_writes();
    cluster.deliver();
    ASSERT_TRUE(cluster[n2].is_formed());
    cluster.crash_and_restart(n2);
    ASSERT_FALSE(cluster[n2].is_formed());
    cluster.run_for(election_timeout);
    cluster.connect_all();
    cluster.run_for(3 * election_timeout);
    EXPECT_EQ(cluster[n2].hello().cluster, cluster[n1].hello().cluster);
    EXPECT_EQ(cluster[n2].raft().log().last(), cluster[n1].raft().log().last());
}

// Two of three voters are wiped: the empty ones are not voters of the cluster, and do not bootstrap
// while the third one is not empty. Nodes without data must not outvote what is left of it.
TEST(NodeCoreFormation, AWipedMajorityFoundsNoSecondCluster) {  // P2
    NodeCluster cluster{1, 2, 3};
    cluster.connect_all();
    cluster.run_for(election_timeout);
    const auto last = cluster[n3].raft().log().last();
    cluster.wipe_and_restart(n1);
    cluster.wipe_and_restart(n2);
    cluster.connect_all();
    cluster.run_for(10 * election_timeout);
    EXPECT_FALSE(cluster[n1].is_formed());
    EXPECT_FALSE(cluster[n2].is_formed());
    EXPECT_EQ(cluster.leader(), nullptr);
    EXPECT_EQ(cluster[n3].raft().log().last(), last);
}

}  // namespace
}  // namespace mortise::core::test
