// A node on a small volume: its log does not fill it, and a full volume has a way back.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <rocksdb/file_system.h>
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
using namespace std::chrono_literals;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
constexpr std::uint64_t entry_bytes = mebibyte / 4;

std::ptrdiff_t count(const fs::path& directory, const char* extension) {
    return std::ranges::count_if(fs::directory_iterator{directory}, [&](const auto& file) {
        return file.path().extension() == extension;
    });
}

// The tables of the log that RocksDB's own thread writes.
class HeldTables final : public rocksdb::FileSystemWrapper {
public:
    HeldTables() : FileSystemWrapper{rocksdb::FileSystem::Default()} {}
    [[nodiscard]] const char* Name() const override { return "HeldTables"; }

    enum class Tables {
        written,
        held,             // none is begun; an opening waits a moment for one that is
        fail_at_the_end,  // none is written: there is no room when all memtables are full
    };
    void let(Tables tables) { tables_ = tables; }

    rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* file,
                                      rocksdb::IODebugContext* debug) override {
        const fs::path path{name};
        const bool is_own = std::this_thread::get_id() != writer_;
        if (is_own && path.extension() == ".sst" && path.parent_path().filename() == "log") {
            is_held_ = true;
            wait_for(30s, [&] {
                const bool is_end = count(path.parent_path(), ".log") > LogRoom::memtables;
                return tables_ == Tables::written || (tables_ != Tables::held && is_end);
            });
            if (tables_ == Tables::fail_at_the_end) return rocksdb::IOStatus::NoSpace(name);
        }
        return target()->NewWritableFile(name, options, file, debug);
    }
    // An opening does this before it gives the memtables their size.
    rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                   std::unique_ptr<rocksdb::FSDirectory>* directory,
                                   rocksdb::IODebugContext* debug) override {
        if (tables_ == Tables::held && std::this_thread::get_id() == writer_)
            wait_for(200ms, [this] { return is_held_.load(); });
        return target()->NewDirectory(name, options, directory, debug);
    }

    // False if it does not come true in that time.
    template <class Condition>
    static bool wait_for(std::chrono::milliseconds time, Condition condition) {
        for (; time > 0ms && !condition(); time -= 1ms)
            std::this_thread::sleep_for(1ms);
        return time > 0ms;
    }

private:
    const std::thread::id writer_ = std::this_thread::get_id();
    std::atomic<Tables> tables_{Tables::written};
    std::atomic<bool> is_held_ = false;
};
using Tables = HeldTables::Tables;

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
    void resize_to(std::uint64_t mebibytes) const {
        const auto size = "size=" + std::to_string(mebibytes) + "m";
        ASSERT_EQ(::mount("none", volume().c_str(), "tmpfs", MS_REMOUNT, size.c_str()), 0);
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
        return open_directory(directory_.data(), options, Seams{files_});
    }
    // So much more is free than there was after fill().
    void leave(std::uint64_t bytes) const {
        const auto balloon = volume() / "balloon";
        fs::resize_file(balloon, fs::file_size(balloon) - bytes);
    }
    [[nodiscard]] std::uint64_t reserved() const {
        return fs::file_size(directory_.data() / "reserve");
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
    const std::shared_ptr<HeldTables> files_ = std::make_shared<HeldTables>();
    bool is_mounted_ = false;
};

// A node that keeps as much for slow members as it may.
TEST_F(SmallVolume, IsNotFilledByTheLog) {
    for (const std::uint64_t size : {48U, 64U, 100U}) {
        SCOPED_TRACE(std::to_string(size) + " MiB");
        mount_of(size);
        if (IsSkipped()) return;
        std::uint64_t last = 0;
        for (std::uint64_t start = 1; start <= 3; ++start) {
            auto node = open();
            ASSERT_TRUE(node) << node.error().what;
            const auto log_bytes_max = node->log_bytes_max();
            EXPECT_LE(log_bytes_max, size * mebibyte / 7);
            const auto kept = log_bytes_max / entry_bytes;
            for (std::uint64_t i = 0; i < 3 * size + start; ++i) {
                const auto done = append(*node, ++last, kept);
                ASSERT_TRUE(done) << done.error().what << " at " << i / 4 << " MiB";
            }
        }
        EXPECT_TRUE(open());
        unmount();
    }
}

// It would put the large memtables in force again, with which the log is opened.
TEST_F(SmallVolume, ACompactionBeginsWhenTheMemtablesAreSmall) {
    mount_of(64);
    if (IsSkipped()) return;
    std::uint64_t last = 0;
    for (int start = 1; start <= 4; ++start) {
        auto node = open();
        ASSERT_TRUE(node) << node.error().what;
        ASSERT_TRUE(append(*node, ++last, 100));
    }
    files_->let(Tables::held);
    auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    files_->let(Tables::written);
    const auto is_compacted = [&] { return count(directory_.data() / "log", ".sst") == 1; };
    ASSERT_TRUE(HeldTables::wait_for(10s, is_compacted));
    for (int i = 0; i < 40; ++i) {
        ASSERT_TRUE(append(*node, ++last, 100));
        EXPECT_LT(longest_log(), 2 * mebibyte);
    }
}

// Everything in the log written ahead is kept, and others have taken what was free.
TEST_F(SmallVolume, AnOpeningNeedsNoMoreThanTheReserve) {
    for (const std::uint64_t size : {32U, 64U, 240U}) {
        SCOPED_TRACE(std::to_string(size) + " MiB");
        mount_of(size);
        if (IsSkipped()) return;
        std::uint64_t last = 0;
        std::uint64_t reserve = 0;
        {
            auto node = open();
            ASSERT_TRUE(node) << node.error().what;
            reserve = reserved();
            files_->let(Tables::fail_at_the_end);
            const std::string longest(core::batch_bytes_max, 'x');
            while (put(*node, appends({commands(log_id(1, last + 1), longest)})))
                ++last;
            files_->let(Tables::written);
        }
        fill();
        leave(reserve);
        const auto refused = open();
        ASSERT_FALSE(refused);
        // The log is open by then.
        EXPECT_NE(refused.error().what.find("free space or more"), std::string::npos)
            << refused.error().what;
        leave(reserve + mebibyte);
        const auto node = open();
        ASSERT_TRUE(node) << node.error().what;
        EXPECT_EQ(node->state.raft.entries.back().id, log_id(1, last));
        unmount();
    }
}

// A memtable is exceeded by one write, which must not be a long one.
TEST_F(SmallVolume, ALongWriteIsWrittenInPieces) {
    mount_of(64);
    if (IsSkipped()) return;
    std::vector<Entry> entries;
    for (std::uint64_t index = 1; index <= 32; ++index)
        entries.push_back(large(index));
    {
        auto node = open();
        ASSERT_TRUE(node) << node.error().what;
        auto write = appends(entries);
        write.hard_state = core::HardState{Term{1}, n1};
        ASSERT_TRUE(put(*node, write));
        EXPECT_LT(longest_log(), 2 * mebibyte);
    }
    const auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    EXPECT_EQ(node->state.raft.entries, entries);
    EXPECT_EQ(node->state.raft.hard_state, (core::HardState{Term{1}, n1}));
}

// A start requires space for its reserve, and the log that it opens has space to give: here a long
// one, of a volume that was larger.
TEST_F(SmallVolume, HasAWayBackWhenItIsFull) {
    mount_of(4'096);
    if (IsSkipped()) return;
    constexpr std::uint64_t entries = 100;  // a little less than a memtable
    std::uint64_t last = entries;
    {
        auto node = open();
        ASSERT_TRUE(node) << node.error().what;
        for (std::uint64_t index = 1; index <= entries; ++index)
            ASSERT_TRUE(append(*node, index, 1));
        ASSERT_TRUE(put(*node, appends({commands(log_id(1, ++last))})));
        fs::remove(directory_.data() / "reserve");
        resize_to(200);
        fill();
        auto refused = put(*node, appends({large(last + 1)}));
        while (refused)
            refused = put(*node, appends({large(++last + 1)}));
        EXPECT_EQ(refused.error().code, Errc::no_space) << refused.error().what;
    }
    leave(2 * mebibyte);
    const auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    EXPECT_EQ(node->state.raft.entries.back().id, log_id(1, last));
    EXPECT_EQ(reserved(), log_room(fs::space(volume()).capacity).opening_bytes());
}

// Others had taken almost all space when it was opened.
TEST_F(SmallVolume, GivesTheLogItsSizeBackWhenThereIsRoomAgain) {
    constexpr std::uint64_t size = 512;
    mount_of(size);
    if (IsSkipped()) return;
    fill();
    fs::resize_file(volume() / "balloon", (size - 48) * mebibyte);
    auto node = open();
    ASSERT_TRUE(node) << node.error().what;
    ASSERT_LT(node->log_bytes_max(), 4 * mebibyte);
    std::uint64_t last = 0;
    for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(append(*node, ++last, 1));
    ASSERT_LT(longest_log(), mebibyte);
    fs::remove(volume() / "balloon");
    EXPECT_GT(node->log_bytes_max(), size / 8 * mebibyte);
    // A log file of the former size may be full only after some of them.
    for (int i = 0; i < 60 && longest_log() <= 3 * mebibyte; ++i)
        ASSERT_TRUE(append(*node, ++last, 1));
    EXPECT_GT(longest_log(), 3 * mebibyte);
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
