#include <initializer_list>
#include <map>

#include <gtest/gtest.h>

#include "core/codec/configuration_codec.hpp"
#include "tests/explore/invariants.hpp"
#include "tests/explore/world.hpp"

namespace mortise::explore {

namespace {

core::RaftState disk_with(std::initializer_list<std::uint64_t> terms) {
    core::Configuration configuration;
    configuration.cluster = {7, 9};
    for (std::uint64_t id = 1; id <= cluster_size; ++id)
        configuration.voters.push_back({core::NodeId{id}, core::Incarnation{id}, ""});
    core::RaftState disk;
    disk.entries.push_back(core::make_entry({core::Term{1}, core::LogIndex{1}},
                                            core::EntryKind::configuration,
                                            core::encode_configuration(configuration)));
    for (const auto term : terms) {
        const auto index = disk.entries.back().id.index.next();
        disk.entries.push_back(
            core::make_entry({core::Term{term}, index}, core::EntryKind::noop, {}));
    }
    disk.hard_state.term = disk.entries.back().id.term;
    disk.applied = core::LogIndex{1};
    return disk;
}

class Invariants : public testing::Test {
protected:
    void put(std::size_t place, core::RaftState disk) {
        numbers_[place] = machines_.add(start(core::NodeId{place + 1}, std::move(disk)));
    }
    // An entry that this node committed, according to the history.
    void committed(std::size_t place, std::uint64_t index, std::uint64_t in) {
        const auto& log = machines_.machine(numbers_.at(place)).log;
        while (history.committed.size() < index)
            history.committed.push_back({log.at(history.committed.size()), core::Term{in}});
    }
    // The node campaigns and gets every vote.
    void lead(std::size_t place) {
        auto machine = machines_.machine(numbers_.at(place)).machine;
        const core::NodeId other{place == 0 ? 2U : 1U};
        (void)apply(machine, {Act::time_out, 0}, nullptr);
        const Packet pre_vote{other, machine.self,
                              core::PreVoteReply{machine.raft.term(), 1, true}};
        (void)apply(machine, {Act::deliver, 0}, &pre_vote);
        (void)apply(machine, {Act::write_done, 0}, nullptr);
        const Packet vote{other, machine.self, core::VoteReply{machine.raft.term(), 2, true}};
        (void)apply(machine, {Act::deliver, 0}, &vote);
        ASSERT_TRUE(machine.raft.is_leader());
        numbers_[place] = machines_.add(std::move(machine));
    }
    std::string verdict() {
        Cluster cluster{};
        for (const auto& [place, number] : numbers_)
            cluster.at(place) = &machines_.machine(number);
        return violation(cluster, history);
    }
    std::string observed(std::size_t place) {
        return observe(machines_.machine(numbers_.at(place)), history);
    }

    History history;

private:
    MachineStore machines_;
    std::map<std::size_t, Number> numbers_;
};

TEST_F(Invariants, HoldWhileLogsDifferAtTheEnd) {
    put(0, disk_with({2}));
    put(1, disk_with({3}));
    put(2, disk_with({}));
    committed(2, 1, 1);
    EXPECT_EQ(verdict(), "");
}

TEST_F(Invariants, LogMatching) {  // P2
    put(0, disk_with({2, 3}));
    put(1, disk_with({1, 3}));
    put(2, disk_with({}));
    committed(2, 1, 1);
    EXPECT_EQ(verdict(), "log matching: equal at an index, different below");
}

TEST_F(Invariants, StateMachineSafety) {  // P2
    put(0, disk_with({2}));
    auto ahead = disk_with({3});
    ahead.applied = core::LogIndex{2};
    put(1, ahead);
    put(2, disk_with({2}));
    committed(0, 2, 2);
    EXPECT_EQ(verdict(), "state machine safety: two entries committed at one index");
}

TEST_F(Invariants, LeaderCompleteness) {  // P2, B-C13
    put(0, disk_with({}));
    put(1, disk_with({1}));
    put(2, disk_with({1}));
    committed(1, 2, 1);
    lead(0);
    EXPECT_EQ(verdict(), "leader completeness: a leader lacks a committed entry");
}

TEST_F(Invariants, ALeaderMayLackWhatWasCommittedAfterIt) {
    put(0, disk_with({}));
    put(1, disk_with({1}));
    put(2, disk_with({1}));
    committed(1, 2, 5);
    lead(0);
    EXPECT_EQ(verdict(), "");
}

TEST_F(Invariants, Durability) {
    put(0, disk_with({2}));
    put(1, disk_with({}));
    put(2, disk_with({}));
    committed(0, 2, 2);
    EXPECT_EQ(verdict(), "durability: a committed entry is on less than a majority of disks");
}

TEST_F(Invariants, ElectionSafety) {  // P2
    put(0, disk_with({}));
    put(1, disk_with({}));
    lead(0);
    lead(1);
    EXPECT_EQ(observed(0), "");
    EXPECT_EQ(observed(0), "");
    EXPECT_EQ(observed(1), "election safety: two leaders of one term");
}

TEST(Machine, ACrashKeepsWhatGotToTheDisk) {
    auto machine = start(core::NodeId{1}, disk_with({}));
    const Packet append{core::NodeId{2}, core::NodeId{1},
                        core::AppendRequest{core::Term{2},
                                            {core::Term{1}, core::LogIndex{1}},
                                            {},
                                            {},
                                            0,
                                            {core::make_entry({core::Term{2}, core::LogIndex{2}},
                                                              core::EntryKind::noop, {})}}};
    (void)apply(machine, {Act::deliver, 0}, &append);
    ASSERT_EQ(machine.writes.size(), 1U);
    auto lost = machine;
    (void)apply(lost, {Act::crash, 0}, nullptr);
    (void)apply(machine, {Act::crash, 1}, nullptr);
    EXPECT_EQ(lost.raft.log().last().index, core::LogIndex{1});
    EXPECT_EQ(lost.raft.term(), core::Term{1});
    EXPECT_EQ(machine.raft.log().last().index, core::LogIndex{2});
    EXPECT_EQ(machine.raft.term(), core::Term{2});
    EXPECT_NE(identity_of(lost), identity_of(machine));
}

TEST(Machine, IsToldApartByWhatItWaitsFor) {
    auto a = start(core::NodeId{1}, disk_with({}));
    auto b = a;
    EXPECT_EQ(identity_of(a), identity_of(b));
    (void)apply(b, {Act::time_out, 0}, nullptr);
    EXPECT_NE(identity_of(a), identity_of(b));
    auto c = b;
    const Packet granted{core::NodeId{2}, core::NodeId{1},
                         core::PreVoteReply{core::Term{1}, 1, true}};
    (void)apply(c, {Act::deliver, 0}, &granted);
    EXPECT_NE(identity_of(b), identity_of(c));
}

TEST(Worlds, AreKeptOnceHoweverManyThereAre) {
    WorldStore worlds;
    World world;
    for (Number i = 0; i < 200'000; ++i) {
        world.machines = {i % 7, i, i % 3};
        world.packets = {i, i + 1};
        ASSERT_TRUE(worlds.add(world, i, {}));
        ASSERT_FALSE(worlds.add(world, i, {}));
    }
    const auto back = worlds[123'456];
    EXPECT_EQ(back.machines[1], 123'456U);
    EXPECT_EQ(back.packets, (std::vector<Number>{123'456, 123'457}));
    world.left.crashes = 1;
    EXPECT_TRUE(worlds.add(world, 0, {}));
}

}  // namespace

}  // namespace mortise::explore
