// The marks of a FenceGate (S14): an acknowledged mark is found, whatever the disk does, or its
// loss is detected.
#include "storage/marks/mark_store.hpp"

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include <rocksdb/db.h>

#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {
namespace {

class MarkStoreTest : public testing::Test {
protected:
    std::unique_ptr<MarkStore> open() {
        auto store = MarkStore::open(path_);
        EXPECT_TRUE(store) << store.error().what;
        return store ? *std::move(store) : nullptr;
    }
    [[nodiscard]] std::filesystem::path log_file() const {
        std::filesystem::path newest;
        for (const auto& file : std::filesystem::directory_iterator{path_ / "marks"}) {
            if (file.path().extension() == ".log" && file.path() > newest) newest = file.path();
        }
        return newest;
    }

    // The last byte of these writes is not zero.
    [[nodiscard]] std::size_t end_of_data() const {
        std::ifstream log{log_file(), std::ios::binary};
        const std::string bytes{std::istreambuf_iterator<char>{log}, {}};
        return bytes.find_last_not_of('\0') + 1;
    }

    TemporaryDirectory directory_;
    std::filesystem::path path_ = directory_.data();
};

TEST_F(MarkStoreTest, BeginWithNone) {
    const auto store = open();
    ASSERT_TRUE(store);
    const auto found = store->mark("x");
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, std::nullopt);
}

TEST_F(MarkStoreTest, BelongToOneProcess) {
    const auto store = open();
    const auto second = MarkStore::open(path_);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::locked);
}

// An unacknowledged write may be lost: a crash within a write leaves this.
TEST_F(MarkStoreTest, MayLoseAWriteThatWasCutShort) {
    ASSERT_TRUE(open()->raise("x", 7));
    {
        std::ofstream torn{log_file(), std::ios::app | std::ios::binary};
        torn << "torn write";
    }
    const auto store = open();
    ASSERT_TRUE(store);
    EXPECT_EQ(*store->mark("x"), std::optional<std::int64_t>{7});
}

// RocksDB's file ends at the end of a write, so only the witness detects the loss.
TEST_F(MarkStoreTest, AreMissedWhenTheNewestAreCutOff) {
    std::uintmax_t before = 0;
    {
        auto store = open();
        ASSERT_TRUE(store->raise("x", 7));
        before = end_of_data();
        ASSERT_TRUE(store->raise("x", 8));
    }
    std::filesystem::resize_file(log_file(), before);
    const auto store = MarkStore::open(path_);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::damaged);
}

// RocksDB goes on at the next block, without an error, and its sequence number is the newest one.
TEST_F(MarkStoreTest, AreMissedWhenAnOlderOneBecameZeros) {  // P4
    constexpr std::size_t block = 32'768;
    std::size_t from = 0;
    std::size_t to = 0;
    {
        auto store = open();
        from = end_of_data();
        ASSERT_TRUE(store->raise("x", 7));
        to = end_of_data();
        // The next write must begin at the start of a block.
        ASSERT_TRUE(store->raise(std::string(200, 'a'), 1));
        const auto beside_key = end_of_data() - to - 200;
        ASSERT_TRUE(store->raise(std::string(15'000, 'a'), 1));
        const auto left = block - end_of_data();
        constexpr std::size_t key_max = 16'000;  // its length takes two bytes, as that of the first
        if (left - beside_key > key_max) {
            ASSERT_TRUE(store->raise(std::string(5'000, 'a'), 1));
        }
        ASSERT_TRUE(store->raise(std::string(block - end_of_data() - beside_key, 'b'), 1));
        ASSERT_EQ(end_of_data(), block);
        ASSERT_TRUE(store->raise("y", 8));
    }
    {
        std::fstream log{log_file(), std::ios::in | std::ios::out | std::ios::binary};
        log.seekp(static_cast<std::streamoff>(from));
        log << std::string(to - from, '\0');
    }
    const auto store = MarkStore::open(path_);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::damaged) << store.error().what;
}

TEST_F(MarkStoreTest, AreMissedWhenTheNewestBecameZeros) {
    std::size_t before = 0;
    {
        auto store = open();
        ASSERT_TRUE(store->raise("x", 7));
        before = end_of_data();
        ASSERT_TRUE(store->raise("x", 8));
    }
    const auto size = std::filesystem::file_size(log_file());
    std::filesystem::resize_file(log_file(), before);
    std::filesystem::resize_file(log_file(), size);
    const auto store = MarkStore::open(path_);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::damaged) << store.error().what;
}

TEST_F(MarkStoreTest, AreMissedWhenTheDatabaseIsGone) {
    ASSERT_TRUE(open()->raise("x", 7));
    std::filesystem::remove_all(path_ / "marks");
    const auto store = MarkStore::open(path_);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::damaged);
}

// A token that was refused would be accepted otherwise.
TEST_F(MarkStoreTest, AreMissedWhenOneCannotBeRead) {
    ASSERT_TRUE(open()->raise("x", 7));
    {
        rocksdb::DB* opened = nullptr;
        ASSERT_TRUE(rocksdb::DB::Open({}, (path_ / "marks").string(), &opened).ok());
        const std::unique_ptr<rocksdb::DB> database{opened};
        std::string row;
        ASSERT_TRUE(database->Get({}, "mx", &row).ok());
        row.front() ^= 4;
        ASSERT_TRUE(database->Put({}, "mx", row).ok());
    }
    const auto store = open();
    const auto found = store->mark("x");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, Errc::damaged) << found.error().what;
}

TEST_F(MarkStoreTest, AreNotRaisedAnyMoreWhenTheDirectoryWasMoved) {
    const auto store = open();
    std::filesystem::rename(path_, directory_.path() / "moved");
    EXPECT_FALSE(store->mark("x"));
    EXPECT_FALSE(store->raise("x", 7));
}

TEST_F(MarkStoreTest, MayBeRaisedByManyThreads) {
    constexpr int threads = 4;
    constexpr int raises = 25;
    {
        auto store = open();
        std::vector<std::jthread> running;
        for (int thread = 0; thread < threads; ++thread) {
            running.emplace_back([&store, thread] {
                for (int mark = 1; mark <= raises; ++mark)
                    EXPECT_TRUE(store->raise(std::to_string(thread), mark));
            });
        }
    }
    const auto store = open();
    for (int thread = 0; thread < threads; ++thread)
        EXPECT_EQ(*store->mark(std::to_string(thread)), std::optional<std::int64_t>{raises});
}

}  // namespace
}  // namespace mortise::storage::test
