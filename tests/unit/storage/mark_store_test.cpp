// The marks of a FenceGate (S14): an acknowledged mark is found, whatever the disk does, or its
// loss is detected.
#include "storage/mark_store.hpp"

#include <fstream>
#include <thread>

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
        before = std::filesystem::file_size(log_file());
        ASSERT_TRUE(store->raise("x", 8));
    }
    std::filesystem::resize_file(log_file(), before);
    const auto store = MarkStore::open(path_);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::damaged);
}

TEST_F(MarkStoreTest, AreMissedWhenTheDatabaseIsGone) {
    ASSERT_TRUE(open()->raise("x", 7));
    std::filesystem::remove_all(path_ / "marks");
    const auto store = MarkStore::open(path_);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::damaged);
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
