// A node on a small volume: its log does not fill it, and a full volume has a way back.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/directory/directory_copy.hpp"
#include "storage/files/log_room.hpp"
#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
constexpr std::uint64_t entry_bytes = mebibyte / 4;

// A volume that only this thread, and those that it starts, can see.
class SmallVolume : public testing::Test {
protected:
    void mount_of(std::uint64_t mebibytes) {
        const auto size = "size=" + std::to_string(mebibytes) + "m";
        if (::unshare(CLONE_NEWNS) != 0 ||
            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("none", volume().c_str(), "tmpfs", 0, size.c_str()) != 0)
            GTEST_SKIP() << "no file system can be mounted here";
        is_mounted_ = true;
    }
    void unmount() {
        if (is_mounted_) ::umount2(volume().c_str(), MNT_DETACH);
        is_mounted_ = false;
    }
    void TearDown() override { unmount(); }

    [[nodiscard]] const fs::path& volume() const { return directory_.path(); }
    [[nodiscard]] Result<Opened> open() const {
        auto options = as_node_1();
        options.reserve_bytes = 64 * mebibyte;
        return open_directory(directory_.data(), options);
    }
    static Entry large(std::uint64_t index) {
        return commands(log_id(1, index), std::string(entry_bytes, 'x'));
    }
    // What a node does: the state follows the log, and the log is purged but for what is kept.
    static Result<void> append(Opened& node, std::uint64_t index, std::uint64_t kept) {
        if (auto put_there = put(node, appends({large(index)})); !put_there) return put_there;
        if (index % 4 != 1) return {};
        const auto rows = index == 1 ? rows_at(LogIndex{1}) : std::vector<core::Row>{};
        if (auto done = node.state_store->write({log_id(1, index), {}, rows}); !done) return done;
        if (auto done = node.state_store->flush(); !done) return std::move(done).error();
        return index > kept ? node.log->purge_to({log_id(1, index - kept), {}}) : Result<void>{};
    }
    // The size of the longest file of the write-ahead log, which is that of a memtable at most.
    [[nodiscard]] std::uint64_t longest_log() const {
        std::uint64_t longest = 0;
        for (const auto& file : fs::directory_iterator{directory_.data() / "log"}) {
            std::error_code gone;  // the database may have deleted it meanwhile
            const auto size = file.file_size(gone);
            if (!gone && file.path().extension() == ".log") longest = std::max(longest, size);
        }
        return longest;
    }
    // Another program's file, which takes what is left.
    void fill() const {
        std::ofstream file{volume() / "balloon", std::ios::binary};
        const std::string block(mebibyte / 64, 'x');
        while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
        }
    }

    TemporaryDirectory directory_;
    bool is_mounted_ = false;
};

// Where RocksDB's threads get too little time, what was purged is freed late. The node goes on when
// it is.
TEST_F(SmallVolume, IsNotFilledByTheLog) {
    for (const std::uint64_t size : {48U, 64U, 100U}) {
        SCOPED_TRACE(std::to_string(size) + " MiB");
        mount_of(size);
        if (IsSkipped()) return;
        std::uint64_t last = 0;
        for (int start = 1; start <= 2; ++start) {
            std::optional node{open()};
            ASSERT_TRUE(*node) << node->error().what;
            const auto log_bytes_max = (*node)->log_bytes_max();
            EXPECT_LE(log_bytes_max, size * mebibyte / 7);
            const auto kept = log_bytes_max / entry_bytes;
            int times_full = 0;
            for (std::uint64_t i = 0; i < 8 * size; ++i) {
                const auto done = append(**node, ++last, kept);
                if (done) continue;
                ASSERT_EQ(done.error().code, Errc::no_space) << done.error().what;
                ASSERT_LE(++times_full, 3) << done.error().what << " at " << i / 4 << " MiB";
                node.reset();
                node.emplace(open());
                ASSERT_TRUE(*node) << node->error().what;
                last = (*node)->state.raft.entries.back().id.index.raw();
            }
        }
        EXPECT_TRUE(open());
        unmount();
    }
}

// A start requires space for its reserve, and the log that it opens has space to give.
TEST_F(SmallVolume, HasAWayBackWhenItIsFull) {
    mount_of(240);
    if (IsSkipped()) return;
    constexpr std::uint64_t entries = 25;  // a little less than a memtable
    std::uint64_t last = entries;
    {
        auto node = open();
        ASSERT_TRUE(node) << node.error().what;
        for (std::uint64_t index = 1; index <= entries; ++index)
            ASSERT_TRUE(append(*node, index, 1));
        ASSERT_TRUE(put(*node, appends({commands(log_id(1, ++last))})));
        fill();
        auto refused = put(*node, appends({large(last + 1)}));
        while (refused)
            refused = put(*node, appends({large(++last + 1)}));
        EXPECT_EQ(refused.error().code, Errc::no_space) << refused.error().what;
    }
    ASSERT_LT(fs::space(volume()).available, 8 * mebibyte);
    const auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    EXPECT_EQ(node->state.raft.entries.back().id, log_id(1, last));
    EXPECT_EQ(fs::file_size(directory_.data() / "reserve"), 4 * mebibyte);
}

// Others had taken almost all space when it was opened.
TEST_F(SmallVolume, GivesTheLogItsSizeBackWhenThereIsRoomAgain) {
    constexpr std::uint64_t size = 512;
    mount_of(size);
    if (IsSkipped()) return;
    fill();
    fs::resize_file(volume() / "balloon", (size - 24) * mebibyte);
    auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    ASSERT_LT(node->log_bytes_max(), 4 * mebibyte);
    std::uint64_t last = 0;
    for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(append(*node, ++last, 1));
    ASSERT_LT(longest_log(), 2 * mebibyte);
    fs::remove(volume() / "balloon");
    EXPECT_GT(node->log_bytes_max(), size / 8 * mebibyte);
    // A log file of the former size may be full only after some of them.
    for (int i = 0; i < 60 && longest_log() <= 4 * mebibyte; ++i)
        ASSERT_TRUE(append(*node, ++last, 1));
    EXPECT_GT(longest_log(), 4 * mebibyte);
}

TEST_F(SmallVolume, KeepsNoCopyThatDoesNotFit) {
    mount_of(32);
    if (IsSkipped()) return;
    ASSERT_TRUE(open());
    fill();
    fs::resize_file(volume() / "balloon", fs::file_size(volume() / "balloon") - mebibyte / 64);
    const auto free = fs::space(volume()).available;
    EXPECT_FALSE(copy_directory(directory_.data(), nullptr));
    EXPECT_EQ(fs::space(volume()).available, free);
}

TEST_F(SmallVolume, IsRefusedWithTheSizeThatIsNeeded) {
    mount_of(6);
    if (IsSkipped()) return;
    const auto refused = open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::no_space);
    EXPECT_NE(refused.error().what.find("8 MiB of free space or more"), std::string::npos)
        << refused.error().what;
}

// Otherwise a log would get smaller with each start.
TEST_F(SmallVolume, HasRoomForWhatItsLogHasAlready) {
    mount_of(32);
    if (IsSkipped()) return;
    ASSERT_TRUE(open());
    const auto before = room_of(directory_.data());
    std::ofstream{directory_.data() / "log" / "000099.sst", std::ios::binary}
        << std::string(8 * mebibyte, 'x');
    const auto after = room_of(directory_.data());
    ASSERT_TRUE(before && after);
    EXPECT_NEAR(static_cast<double>(*after), static_cast<double>(*before), mebibyte / 2.0);
}

TEST(LogRoom, IsWhatItWasOnALargeVolume) {
    const auto room = log_room(std::uint64_t{16} << 30U);
    EXPECT_EQ(room.memtable_bytes, 64 * mebibyte);
    EXPECT_EQ(room.log_bytes, 1'024 * mebibyte);
}

}  // namespace
}  // namespace mortise::storage::test
