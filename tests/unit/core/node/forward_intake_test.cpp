// What a leader takes of what the nodes forward, without a node.
#include "core/node/forward_intake.hpp"

#include <gtest/gtest.h>

#include "tests/support/node_around_part.hpp"

namespace mortise::core::test {
namespace {

NodeOptions options_of_intake() {
    auto options = node_options(1, {1, 2, 3});
    options.state_lag_bytes_max = 4'000;
    return options;
}

Forward forward_of_commands(const std::vector<Command>& commands) {
    BatchBuilder batch;
    for (const auto& command : commands)
        batch.add(command);
    return forward_of(batch.take());
}

// Node 1 leads; node 2 has a session.
struct ForwardIntakeTest : testing::Test {
    ForwardIntakeTest() {
        for (const auto peer : {n2, n3})
            node.meet(node.member_hello(peer));
        session = node.open(n2);
        node.elect();
    }
    [[nodiscard]] Command request(std::uint64_t seq, RequestBody body = Release{Seq{1}}) const {
        return Request{session, Seq{seq}, std::move(body)};
    }
    void take(const std::vector<Command>& commands, NodeId from = n2) {
        intake.take(from, forward_of_commands(commands));
    }
    // What would be the next entry.
    [[nodiscard]] std::vector<Command> taken() {
        if (!intake.proposer().has_commands()) return {};
        return decode_batch(intake.proposer().take_batch().payload).value();
    }
    // The state on disk is that many bytes behind.
    void lag(std::size_t bytes) {
        node.saver.applied(commands(log_id(1, 1), std::string(bytes, 'x')));
    }

    NodeAroundPart node{options_of_intake()};
    SessionId session;
    ForwardIntake intake{node.options, node.raft(), node.machine, node.peers, node.saver};
};

TEST_F(ForwardIntakeTest, KnowsWhichBatchesHaveToBeSealed) {
    intake.proposer().set_sealing({true, false, {}});
    take({request(1)});
    EXPECT_EQ(intake.proposer().take_batch().kind, EntryKind::commands);
    take({opening_of(n3, 10'000)}, n3);
    ASSERT_TRUE(intake.proposer().has_commands());
    EXPECT_EQ(intake.proposer().take_batch().kind, EntryKind::sealed_commands);
}

TEST_F(ForwardIntakeTest, TakesAStreamInItsOrderAndEachRequestOnce) {
    take({request(1), request(2)});
    take({request(2), request(3)});
    const auto all = taken();
    ASSERT_EQ(all.size(), 3U);
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_EQ(std::get<Request>(all[i]).seq, Seq{i + 1});
}

TEST_F(ForwardIntakeTest, WaitsForNoRenewalOfAnEvictedSession) {  // S24
    intake.take(n2, forward_of({}, Renewal{session, 1}));
    ASSERT_TRUE(intake.proposer().has_renewal_of(session));
    intake.evicted(session);
    EXPECT_FALSE(intake.proposer().has_renewal_of(session));
}

TEST_F(ForwardIntakeTest, TellsTheSenderOfAGapOnce) {
    take({request(3)});
    take({request(4)});
    EXPECT_TRUE(taken().empty());
    const auto gaps = intake.collect().gaps;
    ASSERT_EQ(gaps.size(), 1U);
    EXPECT_EQ(gaps.front().to, n2);
    EXPECT_EQ(gaps.front().gap.session, session);
    EXPECT_EQ(gaps.front().gap.next, Seq{1});
}

TEST_F(ForwardIntakeTest, TakesNothingForTheSessionOfAnotherNode) {
    take({request(1)}, n3);
    EXPECT_TRUE(taken().empty());
    const auto out = intake.collect();
    EXPECT_EQ(out.refused, 1U);
    ASSERT_EQ(out.notes.size(), 1U);
    EXPECT_EQ(out.notes.front().peer, n3);
}

TEST_F(ForwardIntakeTest, AnOpeningMayNameOnlyTheDirectoryOfItsSender) {
    auto opening = opening_of(n3, 10'000);
    take({opening}, n2);
    auto later = opening;
    later.generation.boot_epoch = later.generation.boot_epoch.next();
    take({later}, n3);
    take({opening, opening}, n3);
    EXPECT_EQ(intake.collect().refused, 3U);
    EXPECT_TRUE(taken().empty());
    take({opening}, n3);
    EXPECT_EQ(taken().size(), 1U);
}

// S50: what the opener says about its own rights does not count.
TEST_F(ForwardIntakeTest, AnOpeningGetsTheAccessOfTheCertificate) {
    auto hello = node.member_hello(n3);
    hello.access = {{AccessRole::client}, {}};
    node.meet(hello);
    take({opening_of(n3, 10'000)}, n3);
    const auto all = taken();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(std::get<OpenSession>(all.front()).access, hello.access);
}

// S50: the member of a client checks it first, unless that lies.
TEST_F(ForwardIntakeTest, AMemberOpensForItsClientsWithNoMoreThanItsOwnAccess) {
    auto hello = node.member_hello(n3);
    hello.access = {{AccessRole::voter}, {{Right::acquire, "jobs/"}}};
    node.meet(hello);
    auto opening = opening_of(n3, 10'000);
    opening.node = {};
    opening.generation = {};
    opening.access = {{AccessRole::client}, {}};
    take({opening}, n3);
    EXPECT_EQ(intake.collect().refused, 1U);
    EXPECT_TRUE(taken().empty());
    opening.access.rules = {{Right::acquire, "jobs/nightly"}};
    take({opening}, n3);
    const auto all = taken();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(std::get<OpenSession>(all.front()).access, opening.access);
}

TEST_F(ForwardIntakeTest, KeepsWhatComesBeforeTheEntryThatOpensItsSession) {
    const SessionId next{session.raw() + 1};
    const auto comes_early = [&] { take({Request{next, Seq{1}, Release{Seq{1}}}}, n3); };
    comes_early();
    intake.take_early_forwards();
    EXPECT_TRUE(taken().empty());
    ASSERT_EQ(node.open(n3), next);
    intake.take_early_forwards();
    EXPECT_EQ(taken().size(), 1U);
    intake.take_early_forwards();
    EXPECT_TRUE(taken().empty());
}

TEST_F(ForwardIntakeTest, ForgetsWhatAPeerSentEarlyWhenItIsGone) {
    take({Request{SessionId{session.raw() + 1}, Seq{1}, Release{Seq{1}}}}, n3);
    intake.gone(n3);
    node.open(n3);
    intake.take_early_forwards();
    EXPECT_TRUE(taken().empty());
}

// P11: a disk that lags stops acquires first, and endings only when there is more than an entry.
TEST_F(ForwardIntakeTest, DeclinesAcquiresWhileTheDiskLags) {
    lag(4'200);
    Acquire acquire;
    acquire.names.push_back({"a"});
    take({request(1, acquire), request(2)});
    const auto all = taken();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_TRUE(std::holds_alternative<Declined>(std::get<Request>(all[0]).body));
    EXPECT_TRUE(std::holds_alternative<Release>(std::get<Request>(all[1]).body));
}

TEST_F(ForwardIntakeTest, AsksForWhatItHadNoCapacityForWhenThereIsSome) {
    lag(5'200);
    BatchBuilder full;
    for (std::uint64_t seq = 1; seq <= entry_commands_max; ++seq)
        full.add(request(seq));
    intake.take(n2, forward_of(full.take()));
    take({request(entry_commands_max + 1)});
    intake.ask_for_held_up();
    EXPECT_TRUE(intake.collect().gaps.empty());
    node.saver.replaced(LogIndex{1});  // the disk has caught up
    intake.ask_for_held_up();
    const auto gaps = intake.collect().gaps;
    ASSERT_EQ(gaps.size(), 1U);
    EXPECT_EQ(gaps.front().gap.next, Seq{entry_commands_max + 1});
}

// S21: they are not sent again by a timer, which would keep the names for seconds.
TEST_F(ForwardIntakeTest, AsksForReleasesThatItHadNoRoomForWhenThereIsSome) {
    BatchBuilder large;
    large.add(Request{SessionId{99}, Seq{1},
                      SetValue{Seq{1}, "a", std::string(batch_bytes_max - 100, 'x')}});
    const auto batch = large.take();
    while (intake.proposer().takes(session, 100))
        intake.proposer().add({SessionId{99}, batch, 1, 1});
    take({request(1), request(2)});
    take({request(3)});
    intake.ask_for_held_up();
    auto out = intake.collect();
    EXPECT_TRUE(out.gaps.empty());
    EXPECT_EQ(out.refused, 0U);
    std::size_t entries = 0;
    for (; out.gaps.empty() && intake.proposer().has_commands(); out = intake.collect()) {
        (void)intake.proposer().take_batch();
        intake.ask_for_held_up();
        ++entries;
    }
    ASSERT_EQ(out.gaps.size(), 1U);
    EXPECT_EQ(out.gaps.front().to, n2);
    EXPECT_EQ(out.gaps.front().gap.next, Seq{1});
    EXPECT_LE(entries, 3U);
    take({request(1), request(2), request(3)});
    intake.ask_for_held_up();
    EXPECT_TRUE(intake.collect().gaps.empty());
    EXPECT_TRUE(intake.proposer().has_commands());
}

// P10: an entry has no more names than are applied in a moment, also when what it ends is not
// applied yet.
TEST_F(ForwardIntakeTest, CountsTheNamesOfWhatItHasJustTaken) {
    constexpr std::uint64_t operations = entry_commands_max;
    const auto names_of = [](const std::vector<Command>& entry) {
        std::size_t names = 0;
        for (const auto& command : entry) {
            const auto& body = std::get<Request>(command).body;
            const auto* acquire = std::get_if<Acquire>(&body);
            names += acquire != nullptr ? acquire->names.size() : names_at_once_max;
        }
        return names;
    };
    Acquire several;
    several.which = Acquire::Which::all;
    for (std::size_t i = 0; i < names_at_once_max; ++i)
        several.names.push_back({std::string(1, static_cast<char>('!' + i))});
    for (std::uint64_t seq = 1; seq <= operations; ++seq)
        take({request(seq, several)});
    std::vector<Command> endings;
    for (std::uint64_t seq = 1; seq <= operations; ++seq)
        endings.push_back(request(operations + seq, seq % 2 == 0 ? RequestBody{Cancel{Seq{seq}}}
                                                                 : RequestBody{Release{Seq{seq}}}));
    take(endings);
    std::size_t commands = 0;
    for (auto entry = taken(); !entry.empty(); entry = taken()) {
        EXPECT_LE(names_of(entry), entry_commands_max);
        commands += entry.size();
        for (const auto& command : entry)
            node.apply(command);
    }
    EXPECT_EQ(commands, 2 * operations);
    // All of that is applied now, so it does not count for what comes later.
    const auto next = 2 * operations + 1;
    several.names = {{"a"}, {"b"}};
    take({request(next, Cancel{Seq{1}}), request(next + 1, several),
          request(next + 2, Cancel{Seq{next + 1}}), request(next + 3, Cancel{Seq{next}})});
    EXPECT_EQ(intake.proposer().commands(), 1U + 2U + 2U + 2U);
}

TEST_F(ForwardIntakeTest, BeginsAgainAfterTheStateWhenLeadershipHasChanged) {
    take({request(1)});
    intake.clear();
    EXPECT_TRUE(taken().empty());
    take({request(1)});
    EXPECT_EQ(taken().size(), 1U);
}

TEST(ForwardIntake, TakesNothingWhileItsNodeDoesNotLead) {
    NodeAroundPart node;
    node.meet(node.member_hello(n2));
    ForwardIntake intake{node.options, node.raft(), node.machine, node.peers, node.saver};
    intake.take(n2, forward_of_commands({opening_of(n2, 10'000)}));
    EXPECT_FALSE(intake.proposer().has_commands());
}

}  // namespace
}  // namespace mortise::core::test
