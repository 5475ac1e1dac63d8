// A node that has many entries to apply, as after a start, does it in pieces, and does everything
// else in between (P10, B-V14).
#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"
#include "core/raft/snapshot_sum.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

constexpr std::uint64_t last = 21;

// Applying these entries has no effect, but they have to be applied.
RaftState disk() {
    auto state =
        disk_with(voters({1, 2, 3}), {Term{1}, {}}, std::vector<std::uint64_t>(last - 1, 1));
    for (auto& entry : state.entries) {
        if (entry.kind == EntryKind::commands) entry = make_entry(entry.id, EntryKind::noop, {});
    }
    return state;
}

// A later format than the newest one, with the same commands.
constexpr std::uint8_t invented = command_format_newest + 1;

// Node 1 has started with the whole log still to be applied; it is connected with node 2, and a
// piece has four entries.
struct Backlog {
    Backlog() : Backlog{disk()} {}
    explicit Backlog(const RaftState& state) : node{options(), state} {
        node.step(PeerUp{HandDrivenNode{node_options(2, {1, 2, 3}), disk()}.hello()});
    }
    static NodeOptions options() {
        auto options = node_options(1, {1, 2, 3});
        options.command_format = invented;
        options.apply_bytes_max = 4 * weight(make_entry(log_id(1, 2), EntryKind::noop, {}));
        return options;
    }
    void hear_leader() { node.receive(n2, RaftMessage{append(1, log_id(1, last), {}, last)}); }
    // Elected by node 2, which acknowledges everything.
    void lead() {
        while (node.raft().role() == Role::follower)
            node.timer_when_due();
        const auto asked = node.newest<PreVoteRequest>(n2);
        node.receive(n2, RaftMessage{PreVoteReply{Term{1}, asked.round, true}});
        node.complete_writes();
        const auto vote = node.newest<VoteRequest>(n2);
        node.receive(n2, RaftMessage{VoteReply{Term{2}, vote.round, true}});
        node.complete_writes();
        node.sent.clear();
        node.receive(n2, RaftMessage{accepts(2, last + 1)});
    }
    [[nodiscard]] std::uint64_t applied() const { return node.core().applied_index().raw(); }
    [[nodiscard]] bool is_called_at_once() const { return node.core().deadline() <= node.now; }

    HandDrivenNode node;
};

TEST(NodeCoreBacklog, IsAppliedInPiecesThatFollowAtOnce) {
    Backlog it;
    it.hear_leader();
    ASSERT_EQ(it.node.raft().commit_index(), LogIndex{last});
    EXPECT_EQ(it.applied(), 5U);
    for (std::uint64_t piece = 2; piece <= 5; ++piece) {
        ASSERT_TRUE(it.is_called_at_once());
        it.node.timer();
        EXPECT_EQ(it.applied(), 1 + 4 * piece);
    }
    EXPECT_EQ(it.applied(), last);
    EXPECT_FALSE(it.is_called_at_once());
    EXPECT_EQ(it.node.applied.size(), last - 1);
}

TEST(NodeCoreBacklog, AFollowerAnswersItsLeaderInBetween) {
    Backlog it;
    it.hear_leader();
    EXPECT_EQ(it.node.newest<AppendReply>(n2).match, LogIndex{last});
    it.hear_leader();
    EXPECT_FALSE(it.node.newest<AppendReply>(n2).rejected);
    EXPECT_LT(it.applied(), last);
}

TEST(NodeCoreBacklog, ALeaderSaysWhatIsCommittedAndThatItIsThereInBetween) {
    Backlog it;
    it.lead();
    ASSERT_TRUE(it.node.raft().has_committed_own_term());
    EXPECT_LT(it.applied(), last);
    EXPECT_EQ(it.node.newest<AppendRequest>(n2).commit, LogIndex{last + 1});
    it.node.now = it.node.now + heartbeat;
    it.node.timer();
    EXPECT_LT(it.applied(), last);
    EXPECT_EQ(it.node.sent_to<AppendRequest>(n2), 1U);
}

// The index of the read is not applied yet.
TEST(NodeCoreBacklog, AReadWaitsForThePieceItNeeds) {
    Backlog it;
    it.hear_leader();
    it.node.inspect(41, "name");
    const auto asked = it.node.newest<ReadRequest>(n2).id;
    it.node.receive(n2, RaftMessage{ReadReply{Term{1}, asked, LogIndex{last}}});
    ASSERT_LT(it.applied(), last);
    EXPECT_FALSE(it.node.was_answered<Viewed>(41));
    while (it.applied() < last) {
        EXPECT_FALSE(it.node.was_answered<Viewed>(41));
        it.node.timer();
    }
    EXPECT_TRUE(it.node.was_answered<Viewed>(41));
}

TEST(NodeCoreBacklog, ALeaderAnswersItsOwnReadsOfWhatItHasApplied) {
    Backlog it;
    it.lead();
    it.node.inspect(41, "name");
    const auto round = it.node.newest<AppendRequest>(n2).read_round;
    it.node.receive(n2, RaftMessage{accepts(2, last + 1, round)});
    while (it.applied() < last + 1) {
        EXPECT_FALSE(it.node.was_answered<Viewed>(41));
        it.node.timer();
    }
    EXPECT_TRUE(it.node.was_answered<Viewed>(41));
}

// The delta for the disk is as of what was applied, and so is what may be purged.
TEST(NodeCoreBacklog, TheStateOnDiskFollowsThePieces) {
    Backlog it;
    it.hear_leader();
    it.node.now = it.node.now + node_options(1, {1}).state_interval;
    it.node.timer();
    ASSERT_EQ(it.node.deltas.size(), 1U);
    EXPECT_EQ(it.node.deltas[0].applied, log_id(1, it.applied()));
    EXPECT_LT(it.applied(), last);
    it.node.receive(n2, RaftMessage{AppendRequest{
                            Term{1}, log_id(1, last), LogIndex{last}, LogIndex{last}, 0, {}}});
    const auto applied = it.node.core().applied_index();
    ASSERT_LT(applied, LogIndex{last});
    it.node.step(StateDurable{LogIndex{last}});
    EXPECT_LE(it.node.purged_to, applied);
}

// B-S2, B-A3: a delta after the last chunk of a snapshot would restore the old state.
TEST(NodeCoreBacklog, NothingIsAppliedOrHandedOverBehindAWholeState) {
    Backlog it;
    it.hear_leader();
    const auto applied = it.applied();
    const auto at = log_id(1, 1'024);
    LockMachine machine;
    Outcomes outcomes;
    machine.apply(LogIndex{5},
                  {OpenSession{5, n2, {Incarnation{99}, BootEpoch{1}}, 10'000, 0, false}},
                  outcomes);
    SnapshotChunk chunk{Term{1}, at,   voters({1, 2, 3}), 0, machine.take_changed_rows(), true,
                        0,       false};
    chunk.checksum = sum_with(0, chunk);
    it.node.receive(n2, RaftMessage{chunk});
    ASSERT_TRUE(it.node.raft().is_installing());
    EXPECT_FALSE(it.is_called_at_once());
    it.node.now = it.node.now + node_options(1, {1}).state_interval;
    it.node.timer();
    EXPECT_EQ(it.applied(), applied);
    EXPECT_TRUE(it.node.deltas.empty());
    it.node.step(StateInstalled{at});
    EXPECT_EQ(it.node.core().applied_index(), at.index);
    EXPECT_EQ(it.node.applied.size(), applied - 1);
}

// P10: if entries are small, a piece has a few hundred, because each of them is work besides its
// bytes.
TEST(NodeCoreBacklog, APieceHasAFewHundredSmallEntries) {
    constexpr std::uint64_t many = 5'000;
    auto state = disk_with(voters({1, 2, 3}), {Term{1}, {}}, std::vector<std::uint64_t>(many, 1));
    for (auto& entry : state.entries) {
        if (entry.kind == EntryKind::commands) entry = make_entry(entry.id, EntryKind::noop, {});
    }
    HandDrivenNode node{node_options(1, {1, 2, 3}), state};
    node.step(PeerUp{HandDrivenNode{node_options(2, {1, 2, 3}), state}.hello()});
    node.receive(n2, RaftMessage{append(1, log_id(1, many + 1), {}, many + 1)});
    EXPECT_GT(node.core().applied_index(), LogIndex{50});
    EXPECT_LT(node.core().applied_index(), LogIndex{700});
}

// --- the log of an earlier run

Bytes one(const Command& command) {
    BatchBuilder batch;
    batch.add(command);
    return batch.take();
}

constexpr std::uint64_t renewed_at = last - 1;

// A session is opened, and renewed near the end.
RaftState disk_with_session(SessionId session) {
    auto state = disk();
    const OpenSession opens{5, NodeId{77}, {Incarnation{99}, BootEpoch{1}}, 8'000, 0, false};
    auto& second = state.entries[1];
    second = make_entry(second.id, EntryKind::commands, one(opens));
    auto& renews = state.entries[renewed_at - 1];
    renews = make_entry(renews.id, EntryKind::commands, one(Renew{{{session, 1}}}));
    return state;
}

HandDrivenNode with_session(SessionId session, SavedCountdowns saved) {
    HandDrivenNode node{Backlog::options(),
                        NodeState{disk_with_session(session), {}, std::move(saved), {}}};
    node.step(PeerUp{HandDrivenNode{node_options(2, {1, 2, 3}), disk()}.hello()});
    node.receive(n2, RaftMessage{append(1, log_id(1, last), {}, last)});
    return node;
}

// S4: a save meanwhile, and another crash, must not make the countdowns begin anew.
TEST(NodeCoreBacklog, CountdownsOfWhatIsToBeAppliedAgainAreKept) {
    const auto session = with_session(SessionId{1}, {}).core().machine().sessions().newest();
    const SavedCountdowns saved{{{{session, LogIndex{renewed_at}}, std::chrono::seconds{5}}}, {}};
    auto node = with_session(session, saved);
    ASSERT_LT(node.core().applied_index().raw(), renewed_at);
    node.now = node.now + std::chrono::seconds{1};
    node.timer();
    ASSERT_LT(node.core().applied_index().raw(), renewed_at);
    EXPECT_EQ(node.countdowns, saved);
    while (node.core().applied_index().raw() < last)
        node.timer();
    node.now = node.now + std::chrono::seconds{1};
    node.timer();
    ASSERT_EQ(node.countdowns.leases.size(), 1U);
    EXPECT_EQ(node.countdowns.leases[0].timer.renewed_at, LogIndex{renewed_at});
    EXPECT_EQ(node.countdowns.leases[0].elapsed, std::chrono::seconds{6});
}

// P12: an earlier leader may have proposed in a newer format just before this one leads.
TEST(NodeCoreBacklog, ANewMemberMustReadTheEntriesToBeApplied) {
    auto begun = disk();
    begun.entries.resize(2);
    auto rest = disk().entries;
    rest.erase(rest.begin(), rest.begin() + 2);
    BatchBuilder newer;
    newer.add(Request{SessionId{9}, Seq{1}, Upgrade{Seq{1}, true}});
    rest.back() = make_entry(rest.back().id, EntryKind::commands, newer.take(invented));
    Backlog it{begun};
    it.node.receive(n2, RaftMessage{append(1, log_id(1, 2), rest, 2)});
    it.node.complete_writes();
    auto old = node_options(4, {});
    old.command_format = command_format_oldest;
    it.node.step(PeerUp{HandDrivenNode{old, RaftState{}}.hello()});
    it.lead();
    ASSERT_TRUE(it.node.raft().has_committed_own_term());
    it.node.change(1, {MembershipGoal::Kind::learner, n4, "somewhere"}, 5 * heartbeat);
    EXPECT_FALSE(it.node.raft().configuration().is_learner(n4));
    EXPECT_EQ(it.node.refusal_of(1), std::nullopt) << "it waits until all is applied";
    while (it.applied() < last)
        it.node.timer();
    it.node.now = it.node.now + heartbeat;
    it.node.timer();
    EXPECT_EQ(it.node.refusal_of(1), MembershipRefusal::too_old);
}

}  // namespace
}  // namespace mortise::core::test
