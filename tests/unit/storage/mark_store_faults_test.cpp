// The marks of a FenceGate (S14) with disk faults: an acknowledged mark is found, or its loss is
// detected.
#include <functional>
#include <map>

#include "storage/marks/mark_store.hpp"
#include "tests/support/fault_file_system.hpp"
#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {
namespace {

using mortise::test::FaultyDisk;
using mortise::test::Trouble;

Seams seams_of(FaultyDisk& disk) {
    return {mortise::test::file_system_of(disk), &disk};
}

// A few runs that raise marks, until a step fails.
class Lives {
public:
    Lives() = default;

    // False if they ended early.
    bool run(FaultyDisk& disk) {
        disk.watch_names(directory_.path());
        for (int life = 0; life < 2; ++life) {
            auto store = MarkStore::open(path(), seams_of(disk));
            if (!store) return false;
            for (int act = 0; act < 2; ++act) {
                ++newest_;
                const std::string key{newest_ % 2 == 0 ? "even" : "odd"};
                if (!(*store)->raise(key, newest_)) {
                    expect_it_is_over(**store);
                    return false;
                }
                answered_[key] = newest_;
            }
        }
        return true;
    }

    void expect_all_is_there() {
        auto store = MarkStore::open(path());
        ASSERT_TRUE(store) << store.error().what;
        for (const auto& [key, mark] : answered_) {
            const auto found = (*store)->mark(key);
            ASSERT_TRUE(found) << found.error().what;
            // A mark whose raise failed may exist as well.
            EXPECT_GE(found->value_or(0), mark) << key;
            EXPECT_LE(found->value_or(0), newest_) << key;
        }
    }

    // Or the loss is detected, and this returns true.
    bool expect_nothing_is_missing_unnoticed() {
        if (!MarkStore::open(path())) return true;
        expect_all_is_there();
        return false;
    }

    [[nodiscard]] std::filesystem::path path() const { return directory_.data(); }

private:
    static void expect_it_is_over(MarkStore& store) {
        EXPECT_FALSE(store.raise("later", 1));
        EXPECT_FALSE(store.mark("later"));
    }

    TemporaryDirectory directory_;
    std::map<std::string, std::int64_t> answered_;
    std::int64_t newest_ = 0;
};

void at_every_step(Trouble trouble, const std::function<void(FaultyDisk&, Lives&)>& then) {
    bool done = false;
    for (std::uint64_t step = 1; !done; ++step) {
        FaultyDisk disk;
        disk.trouble_at(step, trouble);
        Lives lives;
        lives.run(disk);
        SCOPED_TRACE(testing::Message() << "step " << step << ": " << disk.failed_step());
        done = !disk.has_failed();
        disk.mend();
        then(disk, lives);
        done = done || testing::Test::HasFailure();
        ASSERT_LT(step, 10'000U);
    }
}

TEST(MarkStoreFaults, AreKeptWhenAnyStepFailsOnce) {
    at_every_step(Trouble::once, [](FaultyDisk&, Lives& lives) { lives.expect_all_is_there(); });
}

TEST(MarkStoreFaults, AreKeptWhenThePowerFailsAtAnyStep) {  // P1, P4
    std::uint64_t seed = 0;
    at_every_step(Trouble::power_off, [&](FaultyDisk& disk, Lives& lives) {
        disk.lose_unsynced(++seed);
        lives.expect_all_is_there();
    });
}

TEST(MarkStoreFaults, AreKeptWhenTheDiskIsFull) {
    at_every_step(Trouble::full, [](FaultyDisk&, Lives& lives) { lives.expect_all_is_there(); });
}

// Unlike any other error, this one does not end the store.
TEST(MarkStoreFaults, CanBeRaisedAgainWhenThereAreDescriptorsAgain) {
    int failures = 0;
    for (std::uint64_t step = 1; step <= 6; ++step) {
        TemporaryDirectory directory;  // marks of an earlier life would be flushed meanwhile
        FaultyDisk disk;
        auto store = MarkStore::open(directory.data(), seams_of(disk));
        ASSERT_TRUE(store) << store.error().what;
        disk.trouble_at(step, Trouble::shortage);
        std::int64_t refused = 0;
        const std::string padding(100'000, 'x');  // memtables fill up, so that files are needed
        for (int i = 1; i <= 200 && refused == 0; ++i) {
            const auto raised = (*store)->raise(padding + std::to_string(i), i);
            if (raised) continue;
            EXPECT_EQ(raised.error().code, Errc::shortage) << raised.error().what;
            refused = i;
        }
        ASSERT_GT(refused, 1) << disk.failed_step();
        ++failures;
        const auto still = (*store)->raise("still", 1);
        ASSERT_FALSE(still);
        EXPECT_EQ(still.error().code, Errc::shortage) << still.error().what;
        disk.mend();
        const auto last = (*store)->mark(padding + std::to_string(refused - 1));
        ASSERT_TRUE(last) << last.error().what;
        EXPECT_EQ(*last, refused - 1);
        EXPECT_TRUE((*store)->raise("still", 2));
        EXPECT_EQ(*(*store)->mark("still"), 2);
    }
    EXPECT_GT(failures, 0);
}

TEST(MarkStoreFaults, AreNotMissedWhenSyncsAreLies) {
    int noticed = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        FaultyDisk disk;
        disk.lie_about_syncs_of("/marks/");
        Lives lives;
        EXPECT_TRUE(lives.run(disk));
        disk.lose_unsynced(seed, "/marks/");
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        if (lives.expect_nothing_is_missing_unnoticed()) ++noticed;
    }
    EXPECT_GT(noticed, 0);
}

}  // namespace
}  // namespace mortise::storage::test
