// Every step to the disk fails once, and power fails at every step: what was acknowledged is found
// again, and nothing that contradicts it.
#include "tests/unit/storage/script.hpp"

namespace mortise::storage::test {
namespace {

void fail_every_step(std::uint64_t seed, const Act& act) {
    bool done = false;
    for (std::uint64_t step = 1; !done; ++step) {
        FaultyDisk disk;
        disk.trouble_at(step, Trouble::once);
        Script script{seed, act};
        const bool ran_through = script.run(disk);
        SCOPED_TRACE(testing::Message() << "step " << step << ": " << disk.failed_step());
        EXPECT_TRUE(ran_through || disk.has_failed());
        script.expect_everything_is_there();
        done = !disk.has_failed() || testing::Test::HasFailure();
    }
}

// Unsynced data is lost in the named part of the directory.
void cut_power_at_every_step(std::uint64_t seed, const Act& act, std::string_view part = {}) {
    bool done = false;
    for (std::uint64_t step = 1; !done; ++step) {
        FaultyDisk disk;
        disk.trouble_at(step, Trouble::power_off);
        Script script{seed, act};
        script.run(disk);
        SCOPED_TRACE(testing::Message() << "step " << step << ": " << disk.failed_step());
        disk.lose_unsynced(step, part);
        script.expect_everything_is_there();
        done = !disk.has_failed() || testing::Test::HasFailure();
    }
}

TEST(DataDirectoryFaults, LoseNothingAcknowledgedWhateverStepFails) {  // P5, B-D7, B-D9
    fail_every_step(7, anything);
}

TEST(DataDirectoryFaults, LoseNothingAcknowledgedWheneverThePowerFails) {
    // P4, B-D2, B-D16, B-D21, B-D23, B-A1
    cut_power_at_every_step(8, anything);
}

TEST(DataDirectoryFaults, LeaveAnInstallWholeOrUndoneWhateverStepFails) {
    fail_every_step(3, states_from_elsewhere);
}

TEST(DataDirectoryFaults, LeaveAnInstallWholeOrUndoneWheneverThePowerFails) {  // B-D15, B-S3
    cut_power_at_every_step(4, states_from_elsewhere);
}

// The next run builds on what a failed one left, including names that were created and not synced.
TEST(DataDirectoryFaults, LoseNothingAcknowledgedWhenThePowerFailsInTheLifeAfterAnError) {  // P4
    bool done = false;
    for (std::uint64_t step = 1; !done; ++step) {
        FaultyDisk disk;
        disk.trouble_at(step, Trouble::once);
        Script script{13, anything};
        script.run(disk);
        SCOPED_TRACE(testing::Message() << "step " << step << ": " << disk.failed_step());
        done = !disk.has_failed();
        disk.mend();
        EXPECT_TRUE(script.run(disk));
        disk.lose_unsynced(step);
        script.expect_everything_is_there();
        done = done || testing::Test::HasFailure();
    }
}

TEST(DataDirectoryFaults, LoseNothingAcknowledgedWhenThePowerFailsAgainAndAgain) {  // P4
    constexpr std::uint64_t steps_max = 150;
    for (std::uint64_t seed = 1; seed <= 60 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        core::Prng prng{seed};
        FaultyDisk disk;
        Script script{seed, anything};
        for (int times = 0; times < 4; ++times) {
            disk.trouble_at(1 + prng.below(steps_max), Trouble::power_off);
            EXPECT_TRUE(script.run(disk) || disk.has_failed());
            disk.lose_unsynced(prng.next());
        }
        script.expect_everything_is_there();
    }
}

// One of them may get all of its bytes to the disk, and the other none.
TEST(DataDirectoryFaults, LoseNothingAcknowledgedWhenTheLogIsCutAndTheStateIsNot) {  // B-D24
    cut_power_at_every_step(9, anything, "/log/");
}

TEST(DataDirectoryFaults, LoseNothingAcknowledgedWhenTheStateIsCutAndTheLogIsNot) {
    cut_power_at_every_step(10, anything, "/state/");
}

// A purge reaches the disk with the next write, and not before.
TEST(DataDirectoryFaults, UndoAPurgeThatNoWriteFollowed) {  // B-D23
    OnDisk place;
    const std::vector<Entry> entries{commands(log_id(1, 1)), commands(log_id(1, 2))};
    ASSERT_TRUE(place.open());
    {
        auto node = place.open();
        ASSERT_TRUE(node && put(*node, appends(entries)));
    }
    for (int life = 0; life < 2; ++life) {
        auto node = place.open();  // from the second time on they are in a file of their own
        ASSERT_TRUE(node) << node.error().what;
        EXPECT_EQ(node->state.raft.entries, entries);
        ASSERT_TRUE(node->state_store->write({log_id(1, 2), {}, rows_at(LogIndex{2})}));
        ASSERT_TRUE(node->state_store->flush());
        ASSERT_TRUE(node->log->purge_to({log_id(1, 2), {}}));
    }
    const auto node = place.open();
    ASSERT_TRUE(node) << node.error().what;
    EXPECT_EQ(node->state.raft.entries, entries);
}

}  // namespace
}  // namespace mortise::storage::test
