// Disks that are full, that become read-only, that report data as written that is not, and that
// return wrong data.
#include <atomic>
#include <cerrno>
#include <fstream>

#include <rocksdb/file_system.h>

#include "tests/unit/storage/script.hpp"

namespace mortise::storage::test {
namespace {

// From a step on, until the trouble ends: the same process opens the directory again.
void expect_to_recover(std::uint64_t seed, Trouble trouble) {
    bool done = false;
    for (std::uint64_t step = 1; !done; ++step) {
        FaultyDisk disk;
        disk.trouble_at(step, trouble);
        Script script{seed, anything};
        script.run(disk);
        SCOPED_TRACE(testing::Message() << "step " << step << ": " << disk.failed_step());
        done = !disk.has_failed();
        disk.mend();
        script.expect_everything_is_there();
        done = done || testing::Test::HasFailure();
    }
}

TEST(DataDirectoryTrouble, EndsWithTheRoomThatComesBack) {
    expect_to_recover(11, Trouble::full);
}

TEST(DataDirectoryTrouble, EndsWhenAQuotaIsRaised) {
    expect_to_recover(11, Trouble::no_quota);
}

TEST(DataDirectoryTrouble, EndsWhenTheDiskIsWritableAgain) {
    expect_to_recover(12, Trouble::read_only);
}

// Descriptors run out at any step, until others are closed. This is never taken for damage, which
// would cost the node its vote, nor for a disk failure, which would end it.
TEST(DataDirectoryTrouble, IsNoFaultOfTheDiskWhenDescriptorsRunOut) {
    bool done = false;
    for (std::uint64_t step = 1; !done; ++step) {
        FaultyDisk disk;
        disk.trouble_at(step, Trouble::shortage);
        Script script{11, anything};
        const bool ran_through = script.run(disk);
        SCOPED_TRACE(testing::Message() << "step " << step << ": " << disk.failed_step());
        if (!ran_through) {
            EXPECT_EQ(script.error().code, Errc::shortage) << script.error().what;
            EXPECT_TRUE(may_pass(script.error()));
        }
        done = !disk.has_failed();
        disk.mend();
        script.expect_everything_is_there();
        done = done || testing::Test::HasFailure();
    }
}

// Descriptors are available again after so many attempts.
class ShortFor final : public rocksdb::FileSystemWrapper {
public:
    explicit ShortFor(int tries)
        : FileSystemWrapper{rocksdb::FileSystem::Default()}, tries_{tries} {}

    [[nodiscard]] const char* Name() const override { return "ShortFor"; }
    void begin() { is_short_ = true; }
    [[nodiscard]] bool is_over() const { return tries_ == 0; }

    rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* file,
                                      rocksdb::IODebugContext* debug) override {
        if (is_short_ && tries_ > 0) {
            --tries_;
            return rocksdb::IOStatus::IOError(path, std::generic_category().message(EMFILE));
        }
        return target()->NewWritableFile(path, options, file, debug);
    }

private:
    std::atomic<bool> is_short_ = false;
    std::atomic<int> tries_;
};

TEST(DataDirectoryShortage, ThatEndsSoonCostsTimeAndNothingElse) {
    TemporaryDirectory directory;
    const auto files = std::make_shared<ShortFor>(5);
    auto node = open_directory(directory.data(), as_node_1(), {files, nullptr});
    ASSERT_TRUE(node) << node.error().what;
    ASSERT_TRUE(put(*node, appends({commands(log_id(1, 1))})));
    ASSERT_TRUE(node->state_store->write({log_id(1, 1), {}, rows_at(LogIndex{1})}));
    files->begin();
    const auto flushed = node->state_store->flush();
    ASSERT_TRUE(flushed) << flushed.error().what;
    EXPECT_TRUE(files->is_over());
}

core::SavedCountdowns countdown_of(core::Nanoseconds elapsed) {
    return {{{{core::SessionId{7}, LogIndex{3}}, elapsed}}, {}};
}

// They are saved often, so nothing is opened for that.
TEST(DataDirectoryShortage, DoesNotKeepCountdownsFromBeingSaved) {
    TemporaryDirectory directory;
    FaultyDisk disk;
    const Seams seams{mortise::test::file_system_of(disk), &disk, {}};
    const auto saved = countdown_of(std::chrono::seconds{2});
    {
        auto node = open_directory(directory.data(), as_node_1(), seams);
        ASSERT_TRUE(node) << node.error().what;
        disk.trouble_at(1, Trouble::shortage);
        for (int times = 0; times < 3; ++times)
            ASSERT_TRUE(node->state_store->save_countdowns(saved));
        EXPECT_FALSE(disk.has_failed()) << disk.failed_step();
    }
    disk.mend();
    const auto node = open_directory(directory.data(), as_node_1(), seams);
    ASSERT_TRUE(node) << node.error().what;
    EXPECT_EQ(node->state.countdowns, saved);
}

// A process may be killed within a write.
TEST(DataDirectoryCountdowns, AreThoseOfTheSaveBeforeWhenTheNewestIsNotWhole) {
    TemporaryDirectory directory;
    const auto older = countdown_of(std::chrono::seconds{2});
    const auto newer = countdown_of(std::chrono::seconds{3});
    {
        auto node = open_directory(directory.data(), as_node_1());
        ASSERT_TRUE(node && node->state_store->save_countdowns(older));
        ASSERT_TRUE(node->state_store->save_countdowns(newer));
    }
    const auto path = directory.data() / "countdowns";  // written by every second save
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
    const auto node = open_directory(directory.data(), as_node_1());
    ASSERT_TRUE(node) << node.error().what;
    EXPECT_EQ(node->state.countdowns, older);
}

TEST(DataDirectoryCountdowns, AreThoseOfTheSaveBeforeWhenTheNewestIsDamaged) {
    TemporaryDirectory directory;
    const auto older = countdown_of(std::chrono::seconds{2});
    {
        auto node = open_directory(directory.data(), as_node_1());
        ASSERT_TRUE(node && node->state_store->save_countdowns(older));
        ASSERT_TRUE(node->state_store->save_countdowns(countdown_of(std::chrono::seconds{3})));
    }
    const auto path = directory.data() / "countdowns";
    const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(path) / 2);
    std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
    file.seekg(middle);
    const auto byte = static_cast<char>(file.get() ^ 4);
    file.seekp(middle);
    file.put(byte);
    file.close();
    const auto node = open_directory(directory.data(), as_node_1());
    ASSERT_TRUE(node) << node.error().what;
    EXPECT_EQ(node->state.countdowns, older);
}

// A disk that loses data that it reported as synced.
void expect_lies_are_noticed(const std::string& part) {
    int noticed = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        FaultyDisk disk;
        disk.lie_about_syncs_of(part);
        Script script{seed, anything};
        EXPECT_TRUE(script.run(disk));
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        disk.lose_unsynced(seed, part);
        if (script.expect_nothing_is_missing_unnoticed()) ++noticed;
    }
    EXPECT_GT(noticed, 0);
}

TEST(DataDirectoryTrouble, IsNoticedWhenSyncsOfTheLogAreLies) {
    expect_lies_are_noticed("/log/");
}

TEST(DataDirectoryTrouble, IsNoticedWhenSyncsOfTheStateAreLies) {
    expect_lies_are_noticed("/state/");
}

// The witness is a second copy, so one of the two may be lost.
TEST(DataDirectoryTrouble, LosesNoVoteWhenTheLogAloneLies) {
    int noticed = 0;
    for (std::uint64_t seed = 1; seed <= 16; ++seed) {
        TemporaryDirectory directory;
        FaultyDisk disk;
        const Seams seams{mortise::test::file_system_of(disk), &disk};
        {
            auto node = open_directory(directory.data(), as_node_1(), seams);
            ASSERT_TRUE(node) << node.error().what;
            disk.lie_about_syncs_of("/log/");
            ASSERT_TRUE(put(*node, votes(2, n2)));
            disk.trouble_at(1, Trouble::power_off);
        }
        disk.lose_unsynced(seed);
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        const auto node = open_directory(directory.data(), as_node_1());
        if (node) {
            EXPECT_EQ(node->state.raft.hard_state, (core::HardState{Term{2}, n2}));
            continue;
        }
        EXPECT_EQ(node.error().code, Errc::damaged) << node.error().what;
        ++noticed;
    }
    EXPECT_GT(noticed, 0);
}

TEST(DataDirectoryTrouble, IsNoticedWhenABitIsReadWrong) {
    int noticed = 0;
    bool done = false;
    for (std::uint64_t read = 1; !done; ++read) {
        FaultyDisk disk;
        Script script{13, anything};
        EXPECT_TRUE(script.run(disk));
        disk.trouble_at(read, Trouble::bit_flip);
        SCOPED_TRACE(testing::Message() << "read " << read);
        if (script.expect_nothing_is_missing_unnoticed(&disk)) ++noticed;
        done = !disk.has_failed() || testing::Test::HasFailure();
        script.expect_everything_is_there();
    }
    EXPECT_GT(noticed, 0);
}

class DataDirectoryReserve : public testing::Test {
protected:
    Result<Opened> open() {
        auto options = as_node_1();
        options.reserve_bytes = 4096;
        options.rejoins = true;
        return open_directory(path_, options, {mortise::test::file_system_of(disk_), &disk_});
    }
    bool has_reserve() const { return std::filesystem::exists(path_ / "reserve"); }
    void fill() { disk_.trouble_at(1, Trouble::full); }
    // Longer than the zeros that the log has ahead.
    static core::Write long_write() {
        return appends({commands(log_id(1, 2), std::string(std::size_t{1} << 20U, 'x'))});
    }

    TemporaryDirectory directory_;
    std::filesystem::path path_ = directory_.data();
    FaultyDisk disk_;
};

TEST_F(DataDirectoryReserve, IsKeptForTheEnd) {
    const auto entry = commands(log_id(1, 1));
    {
        auto node = open();
        ASSERT_TRUE(node) << node.error().what;
        EXPECT_EQ(std::filesystem::file_size(path_ / "reserve"), 4096U);
        ASSERT_TRUE(put(*node, appends({entry})));
        ASSERT_TRUE(node->state_store->write({log_id(1, 1), {}, rows_at(LogIndex{1})}));
        fill();
        const auto refused = put(*node, long_write());
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Errc::no_space) << refused.error().what;
        EXPECT_FALSE(has_reserve());
        EXPECT_EQ(*node->state_store->flush(), LogIndex{1});
        EXPECT_TRUE(node->state_store->save_countdowns({}));
    }
    fill();
    const auto refused = open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::no_space) << refused.error().what;
    disk_.mend();
    auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    EXPECT_TRUE(has_reserve());
    EXPECT_EQ(node->set_aside, "");
    EXPECT_EQ(node->state.raft.entries, (std::vector{entry}));
    EXPECT_EQ(node->state.raft.applied, LogIndex{1});
    EXPECT_TRUE(put(*node, appends({commands(log_id(1, 2))})));
}

TEST_F(DataDirectoryReserve, IsWantingWhenAQuotaIsUsedUp) {
    auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    disk_.trouble_at(1, Trouble::no_quota);
    ASSERT_TRUE(put(*node, appends({commands(log_id(1, 1))})));  // has its place already
    const auto refused = put(*node, long_write());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::no_space) << refused.error().what;
    EXPECT_FALSE(has_reserve());
}

// A file system may allocate the rest of its space before it reports that it is not enough.
class GreedyDisk final : public FileProbe {
public:
    int before(FileStep step, const std::filesystem::path& path) override {
        if (step != FileStep::allocate || std::filesystem::file_size(path) == 100'000) return 0;
        std::filesystem::resize_file(path, 100'000);
        return ENOSPC;
    }
    void after(FileStep /*step*/, const std::filesystem::path& /*path*/) override {}
};

TEST_F(DataDirectoryReserve, IsNotTakenWhenThereIsNotEnough) {
    for (const bool was_held : {false, true}) {
        SCOPED_TRACE(was_held);
        GreedyDisk disk;
        auto options = as_node_1();
        options.reserve_bytes = 4096;
        const auto refused = open_directory(path_, options, {nullptr, &disk});
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Errc::no_space);
        EXPECT_EQ(std::filesystem::file_size(path_ / "reserve"), 0U);
        ASSERT_TRUE(open());
    }
}

TEST_F(DataDirectoryReserve, IsGivenBackByTheStateToo) {
    auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    ASSERT_TRUE(put(*node, appends({commands(log_id(1, 1))})));
    ASSERT_TRUE(node->state_store->write({log_id(1, 1), {}, rows_at(LogIndex{1})}));
    fill();
    const auto refused = node->state_store->flush();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::no_space) << refused.error().what;
    EXPECT_FALSE(has_reserve());
    EXPECT_TRUE(put(*node, appends({commands(log_id(1, 2))})));
}

}  // namespace
}  // namespace mortise::storage::test
