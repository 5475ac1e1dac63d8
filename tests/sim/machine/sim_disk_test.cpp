#include "tests/sim/machine/sim_disk.hpp"

#include <memory>
#include <set>

#include <gtest/gtest.h>

#include "core/codec/configuration_codec.hpp"

namespace mortise::sim {
namespace {

core::Entry entry_at(std::uint64_t index, std::uint64_t term = 1) {
    return core::make_entry({core::Term{term}, core::LogIndex{index}}, core::EntryKind::commands,
                            core::Bytes{"entry " + std::to_string(index)});
}

core::Write append(std::uint64_t id, std::uint64_t index) {
    core::Write write;
    write.id = core::WriteId{id};
    write.append.push_back(entry_at(index));
    return write;
}

struct SimDiskTest : testing::Test, DiskListener {
    void on_platter(const core::HardState& before, const core::Write& write) override {
        hard_states.push_back(before);
        on_platter_ids.push_back(write.id.raw());
    }
    void write_done(core::WriteId id) override { done.push_back(id.raw()); }
    void write_failed() override { failed = true; }

    void submit_three() {
        for (std::uint64_t id = 1; id <= 3; ++id)
            disk.submit(append(id, id));
    }

    using Ids = std::vector<std::uint64_t>;

    EventHeap heap;
    Tally tally;
    SimDisk disk{heap, tally, *this, 7};
    Ids done;
    Ids on_platter_ids;
    std::vector<core::HardState> hard_states;
    bool failed = false;
};

TEST_F(SimDiskTest, ReportsWritesInTheirOrderOnceTheyAreOnThePlatter) {
    submit_three();
    EXPECT_EQ(disk.in_flight(), 3U);
    EXPECT_FALSE(disk.platter().last().index.is_set());
    heap.run_until(sim_second);
    EXPECT_EQ(done, (Ids{1, 2, 3}));
    EXPECT_EQ(disk.platter().last().index, core::LogIndex{3});
}

TEST_F(SimDiskTest, CompletesWithinSubmitWhenItIsThatFast) {
    DiskOptions fast;
    fast.at_once_ppm = 1'000'000;
    disk.configure(fast);
    submit_three();
    EXPECT_EQ(done, (Ids{1, 2, 3}));
}

TEST_F(SimDiskTest, LosesUnsyncedWritesInACrashButForAPrefix) {
    std::set<std::uint64_t> kept;
    // exist as long as the events that they have scheduled
    std::vector<std::unique_ptr<SimDisk>> disks;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        disks.push_back(std::make_unique<SimDisk>(heap, tally, *this, seed));
        auto& each = *disks.back();
        for (std::uint64_t id = 1; id <= 3; ++id)
            each.submit(append(id, id));
        each.crash();
        const auto last = each.platter().last().index.raw();
        EXPECT_LE(last, 3U);
        EXPECT_EQ(each.platter().entries.size(), last);
        kept.insert(last);
    }
    heap.run_until(sim_second);
    EXPECT_EQ(kept, (std::set<std::uint64_t>{0, 1, 2, 3}));
    EXPECT_TRUE(done.empty()) << "a write of a former life is never reported";
    EXPECT_GT(tally.of(Fault::write_lost), 0U);
    EXPECT_GT(tally.of(Fault::write_torn), 0U);
}

TEST_F(SimDiskTest, KeepsWhatItReported) {
    submit_three();
    heap.run_until(sim_second);
    disk.submit(append(4, 4));
    disk.crash();
    const auto state = disk.recover().value().raft;
    ASSERT_GE(state.entries.size(), 3U);
    EXPECT_EQ(state.entries[2], entry_at(3));
    EXPECT_EQ(disk.platter().boot_epoch, core::BootEpoch{1});
}

TEST_F(SimDiskTest, ReportsNothingWhileItStalls) {
    disk.stall_until(sim_second);
    submit_three();
    heap.run_until(sim_second - 1);
    EXPECT_TRUE(done.empty());
    heap.run_until(2 * sim_second);
    EXPECT_EQ(done, (Ids{1, 2, 3}));
}

TEST_F(SimDiskTest, ReportsNothingAfterAFailure) {
    disk.fail_next_write();
    submit_three();
    heap.run_until(sim_second);
    EXPECT_TRUE(failed);
    disk.submit(append(4, 4));
    heap.run_until(2 * sim_second);
    EXPECT_TRUE(done.empty());
}

TEST_F(SimDiskTest, ReplacesTheSuffixThatAWriteTruncates) {
    submit_three();
    core::Write write;
    write.id = core::WriteId{4};
    write.hard_state = core::HardState{core::Term{2}, core::NodeId{1}};
    write.truncate_from = core::LogIndex{2};
    write.append.push_back(entry_at(2, 2));
    disk.submit(write);
    heap.run_until(sim_second);
    EXPECT_EQ(disk.platter().last(), (core::LogId{core::Term{2}, core::LogIndex{2}}));
    EXPECT_EQ(disk.platter().hard_state.term, core::Term{2});
    EXPECT_TRUE(disk.platter().has({core::Term{1}, core::LogIndex{1}}));
    EXPECT_FALSE(disk.platter().has({core::Term{1}, core::LogIndex{2}}));
}

TEST_F(SimDiskTest, RemembersTheConfigurationItPurges) {
    core::Configuration configuration;
    configuration.cluster = {1, 2};
    configuration.voters.push_back({core::NodeId{1}, core::Incarnation{9}, "here"});
    core::Write write = append(1, 1);
    write.append[0] =
        core::make_entry({core::Term{1}, core::LogIndex{1}}, core::EntryKind::configuration,
                         core::encode_configuration(configuration));
    disk.submit(write);
    disk.submit(append(2, 2));
    heap.run_until(sim_second);
    core::LockMachine machine;
    disk.save({{core::Term{1}, core::LogIndex{2}}, configuration, machine.take_changed_rows()});
    ASSERT_TRUE(disk.flush_state());
    disk.purge_to({{core::Term{1}, core::LogIndex{2}}, configuration});
    disk.submit(append(3, 3));  // at the latest with the next write
    heap.run_until(2 * sim_second);
    const auto state = disk.recover().value().raft;
    EXPECT_EQ(state.base.index, core::LogIndex{2});
    EXPECT_EQ(state.configuration, configuration);
    EXPECT_EQ(disk.platter().founding, write.append[0].checksum);
}

// --- the state, in rows

core::StateDelta delta(std::uint64_t applied, std::vector<core::Row> rows) {
    return {{core::Term{1}, core::LogIndex{applied}}, {}, std::move(rows)};
}

TEST_F(SimDiskTest, KeepsTheStateBehindTheLog) {  // B-D24
    disk.submit(append(1, 1));
    disk.save(delta(1, {{"key", "value"}}));
    EXPECT_FALSE(disk.flush_state()) << "the log is not there yet";
    heap.run_until(sim_second);
    EXPECT_EQ(disk.flush_state(), core::LogIndex{1});
    EXPECT_EQ(disk.platter().rows.at("key"), "value");
    EXPECT_FALSE(disk.flush_state()) << "nothing is new";
}

// An entry of that index is on the disk, but it is another one.
TEST_F(SimDiskTest, KeepsTheStateBehindAWriteThatReplacesWhatItContains) {
    submit_three();
    heap.run_until(sim_second);
    core::Write write;
    write.id = core::WriteId{4};
    write.truncate_from = core::LogIndex{3};
    write.append.push_back(entry_at(3, 2));
    disk.submit(write);
    disk.save({{core::Term{2}, core::LogIndex{3}}, {}, {}});
    EXPECT_FALSE(disk.flush_state());
    heap.run_until(2 * sim_second);
    EXPECT_EQ(disk.flush_state(), core::LogIndex{3});
}

TEST_F(SimDiskTest, RemovesRowsThatAreGone) {
    submit_three();
    heap.run_until(sim_second);
    disk.save(delta(1, {{"a", "1"}, {"b", "1"}}));
    disk.save(delta(2, {{"a", std::nullopt}, {"b", "2"}}));
    while (disk.flush_state()) {
    }
    EXPECT_EQ(disk.platter().rows, (std::map<std::string, std::string>{{"b", "2"}}));
    EXPECT_EQ(disk.platter().applied, core::LogIndex{2});
}

TEST_F(SimDiskTest, LosesDeltasInACrashButForAPrefix) {
    std::set<std::uint64_t> kept;
    // exist as long as the events that they have scheduled
    std::vector<std::unique_ptr<SimDisk>> disks;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        disks.push_back(std::make_unique<SimDisk>(heap, tally, *this, seed));
        auto& each = *disks.back();
        for (std::uint64_t id = 1; id <= 3; ++id)
            each.submit(append(id, id));
        heap.run_until(heap.now() + sim_second);
        for (std::uint64_t id = 1; id <= 3; ++id)
            each.save(delta(id, {{"row " + std::to_string(id), "value"}}));
        each.crash();
        EXPECT_EQ(each.platter().rows.size(), each.platter().applied.raw());
        kept.insert(each.platter().applied.raw());
    }
    EXPECT_EQ(kept, (std::set<std::uint64_t>{0, 1, 2, 3}));
}

TEST_F(SimDiskTest, FindsNoStateInRowsThatMakeNone) {
    submit_three();
    heap.run_until(sim_second);
    disk.save(delta(1, {{"nonsense", "value"}}));
    ASSERT_TRUE(disk.flush_state());
    EXPECT_FALSE(disk.recover());
}

// --- a snapshot

constexpr core::LogId far_ahead{core::Term{2}, core::LogIndex{9}};

core::InstallStep step(std::uint64_t position, const std::string& key, bool done) {
    core::Configuration configuration;
    configuration.cluster = {1, 2};
    return {position, far_ahead, configuration, {{key, "value"}}, done};
}

TEST_F(SimDiskTest, PutsAStateInPlaceWithItsLastStep) {
    submit_three();
    heap.run_until(sim_second);
    disk.save(delta(1, {{"old", "value"}}));
    disk.install(step(0, "a", false));
    ASSERT_TRUE(disk.flush_state());
    EXPECT_FALSE(disk.finish_install());
    EXPECT_TRUE(disk.platter().rows.contains("old"));
    disk.install(step(1, "b", true));
    EXPECT_EQ(disk.finish_install(), far_ahead);
    EXPECT_EQ(disk.platter().rows.size(), 2U);
    EXPECT_EQ(disk.platter().applied_id(), far_ahead);
}

TEST_F(SimDiskTest, BeginsAStateAnewAtItsFirstStep) {
    disk.install(step(0, "a", false));
    disk.install(step(0, "b", true));
    EXPECT_EQ(disk.finish_install(), far_ahead);
    EXPECT_EQ(disk.platter().rows.count("a"), 0U);
}

TEST_F(SimDiskTest, InstallsNothingBeforeTheWritesBeforeAreDone) {
    disk.submit(append(1, 1));
    disk.install(step(0, "a", true));
    EXPECT_FALSE(disk.finish_install());
    heap.run_until(sim_second);
    EXPECT_EQ(disk.finish_install(), far_ahead);
}

// The write that resets the log was lost.
TEST_F(SimDiskTest, AStartWithAStateAheadOfTheLogBeginsAtTheState) {
    submit_three();
    heap.run_until(sim_second);
    core::LockMachine machine;
    auto only = step(0, "a", true);
    only.rows = machine.take_changed_rows();
    disk.install(only);
    ASSERT_TRUE(disk.finish_install());
    disk.crash();
    const auto state = disk.recover().value().raft;
    EXPECT_EQ(state.base, far_ahead);
    EXPECT_TRUE(state.entries.empty());
    EXPECT_EQ(state.configuration, only.configuration);
}

TEST_F(SimDiskTest, AResetLeavesNothingOfTheLog) {
    submit_three();
    disk.install(step(0, "a", true));
    heap.run_until(sim_second);
    ASSERT_TRUE(disk.finish_install());
    core::Write write;
    write.id = core::WriteId{4};
    write.reset = core::LogBase{far_ahead, {}};
    write.append.push_back(entry_at(10, 2));
    disk.submit(write);
    heap.run_until(2 * sim_second);
    EXPECT_EQ(disk.platter().base, far_ahead);
    EXPECT_EQ(disk.platter().last().index, core::LogIndex{10});
    EXPECT_EQ(disk.platter().entries.size(), 1U);
}

TEST_F(SimDiskTest, AViewStaysAsItWas) {
    submit_three();
    heap.run_until(sim_second);
    disk.save(delta(1, {{"a", "1"}, {"b", "1"}}));
    ASSERT_TRUE(disk.flush_state());
    const core::NodeId peer{2};
    const auto first = disk.read({peer, std::nullopt, 1}).value();
    disk.save(delta(2, {{"b", "2"}, {"c", "2"}}));
    while (disk.flush_state()) {
    }
    const auto second = disk.read({peer, first.rows.back().key, 100}).value();
    EXPECT_EQ(first.rows, (std::vector<core::Row>{{"a", "1"}}));
    EXPECT_FALSE(first.done);
    EXPECT_EQ(second.rows, (std::vector<core::Row>{{"b", "1"}}));
    EXPECT_TRUE(second.done);
    EXPECT_EQ(second.last, first.last);
}

TEST_F(SimDiskTest, IsEmptyAfterAWipe) {
    submit_three();
    heap.run_until(sim_second);
    disk.wipe(core::Incarnation{5});
    EXPECT_EQ(disk.platter().incarnation, core::Incarnation{5});
    EXPECT_EQ(disk.recover().value().raft.entries.size(), 0U);
}

// --- bits that flip

TEST_F(SimDiskTest, FindsABitThatFlippedInAnEntry) {
    submit_three();
    EXPECT_FALSE(disk.flip_bit()) << "nothing is at rest yet";
    heap.run_until(sim_second);
    EXPECT_FALSE(disk.is_damaged());
    ASSERT_TRUE(disk.flip_bit());
    EXPECT_TRUE(disk.may_be_damaged());
    EXPECT_TRUE(disk.is_damaged());
}

TEST_F(SimDiskTest, GoesBackToAnImageOfItsLife) {
    disk.submit(append(1, 1));
    heap.run_until(sim_second);
    disk.submit(append(2, 2));
    disk.take_image_in_life();
    heap.run_until(2 * sim_second);
    ASSERT_EQ(disk.platter().last().index, core::LogIndex{2});
    ASSERT_NE(disk.image_in_life(), nullptr);
    disk.crash();
    disk.set_back();
    EXPECT_EQ(disk.platter().last().index, core::LogIndex{1});
    EXPECT_EQ(disk.image_in_life(), nullptr) << "it is used once";
}

TEST_F(SimDiskTest, HasAnImageOfThePresentLifeOnly) {
    disk.take_image_in_life();
    EXPECT_EQ(disk.image_in_life(), nullptr) << "there is no cluster on the disk";
    disk.submit(append(1, 1));
    heap.run_until(sim_second);
    disk.take_image_in_life();
    EXPECT_NE(disk.image_in_life(), nullptr);
    disk.crash();
    ASSERT_TRUE(disk.recover());
    EXPECT_EQ(disk.image_in_life(), nullptr);
}

TEST_F(SimDiskTest, GivesNobodyARowInWhichABitFlipped) {
    disk.submit(append(1, 1));
    heap.run_until(sim_second);
    disk.save(delta(1, {{"key", "value"}}));
    disk.flush_state();
    disk.purge_to({{core::Term{1}, core::LogIndex{1}}, {}});
    while (!disk.platter().entries.empty()) {  // at the latest with a write
        auto nothing = append(2, 2);
        nothing.append.clear();
        disk.submit(nothing);
        heap.run_until(heap.now() + sim_second);
    }
    const core::SnapshotRead read{core::NodeId{2}, std::nullopt, 100};
    EXPECT_TRUE(disk.read(read));
    ASSERT_TRUE(disk.flip_bit());
    EXPECT_NE(disk.platter().rows.at("key"), "value");
    EXPECT_FALSE(disk.read(read));
    EXPECT_TRUE(disk.is_damaged());
}

TEST_F(SimDiskTest, IsSoundAgainOnceADamagedRowIsWrittenAnew) {
    submit_three();
    heap.run_until(sim_second);
    disk.save(delta(1, {{"key", "value"}}));
    disk.flush_state();
    for (int flips = 0; flips < 20; ++flips)
        disk.flip_bit();
    const bool is_in_row = disk.platter().rows.at("key") != "value";
    ASSERT_TRUE(is_in_row);
    disk.save(delta(2, {{"key", "another"}}));
    disk.flush_state();
    EXPECT_TRUE(disk.read({core::NodeId{2}, std::nullopt, 100}));
}

}  // namespace
}  // namespace mortise::sim
