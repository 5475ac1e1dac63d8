// Every step to the disk fails once, and power fails at every step: what was acknowledged is found
// again, and nothing that contradicts it.
#include <gtest/gtest.h>

#include "tests/support/fault_file_system.hpp"
#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {
namespace {

using mortise::test::FaultyDisk;

constexpr int acts_per_life = 6;

// Lives on a disk, always the same, until a call fails.
class Script {
public:
    explicit Script(std::uint64_t seed) : seed_{seed} {}

    // False: it ended early.
    bool run(FaultyDisk& disk) {
        core::Prng lives{seed_};
        for (int life = 0; life < 2; ++life) {
            auto node = open(&disk);
            if (!node) return false;
            RandomLife writer{lives.next(), memory_};
            EXPECT_EQ(writer.begin(*node), "");
            for (int acts = 0; acts < acts_per_life; ++acts) {
                if (writer.act(*node)) continue;
                expect_it_is_over(*node, disk);
                return false;
            }
        }
        return true;
    }

    // On a disk without faults.
    void expect_everything_is_there() {
        const auto node = open(nullptr);
        ASSERT_TRUE(node) << node.error().what;
        EXPECT_EQ((RandomLife{0, memory_}.begin(*node)), "");
    }

private:
    Result<Opened> open(FaultyDisk* disk) {
        Seams seams;
        if (disk != nullptr) seams = {mortise::test::file_system_of(*disk), disk};
        return open_directory(directory_.data(), as_node_1(), seams);
    }

    // Whichever store failed goes on failing, and writes nothing more, not even on its way out.
    static void expect_it_is_over(Opened& node, FaultyDisk& disk) {
        const auto written = disk.written_after_failure().size();
        if (!node.log->write({})) {
            EXPECT_FALSE(put(node, votes(1'000'000, n2)));
            EXPECT_FALSE(node.log->purge_to({log_id(1, 1), {}}));
        } else {
            EXPECT_FALSE(node.state_store->flush());
            EXPECT_FALSE(node.state_store->write({log_id(1'000, 1'000), {}, {}}));
            EXPECT_FALSE(node.state_store->save_countdowns({}));
        }
        node = {};
        EXPECT_EQ(disk.written_after_failure().size(), written)
            << disk.written_after_failure().back();
    }

    std::uint64_t seed_;
    TemporaryDirectory directory_;
    Memory memory_;
};

TEST(Faults, LoseNothingAcknowledgedWhateverStepFails) {
    bool done = false;
    for (std::uint64_t step = 1; !done; ++step) {
        FaultyDisk disk;
        disk.fail_at(step);
        Script script{7};
        const bool ran_through = script.run(disk);
        SCOPED_TRACE(testing::Message() << "step " << step << ": " << disk.failed_step());
        EXPECT_TRUE(ran_through || disk.has_failed());
        script.expect_everything_is_there();
        done = !disk.has_failed() || testing::Test::HasFailure();
    }
}

TEST(Faults, LoseNothingAcknowledgedWheneverThePowerFails) {
    bool done = false;
    core::Prng steps{5};
    for (std::uint64_t step = 1; !done; step += 1 + steps.below(3)) {
        FaultyDisk disk;
        disk.power_off_at(step);
        Script script{8};
        script.run(disk);
        SCOPED_TRACE(testing::Message() << "step " << step << ": " << disk.failed_step());
        disk.lose_unsynced(step);
        script.expect_everything_is_there();
        done = !disk.has_failed() || testing::Test::HasFailure();
    }
}

}  // namespace
}  // namespace mortise::storage::test
