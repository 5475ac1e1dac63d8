// What an open database consists of, and the order in which that ends.
#include <gtest/gtest.h>

#include "storage/state/rocks_state_store.hpp"
#include "tests/unit/storage/storage_fixture.hpp"

namespace mortise::storage::test {
namespace {

TEST(RocksDatabase, IsClosedBeforeItsEnvironmentIsReplaced) {
    const TemporaryDirectory directory;
    auto first = RocksStateStore::open(directory.path() / "first", nullptr, true);
    auto second = RocksStateStore::open(directory.path() / "second", nullptr, true);
    ASSERT_TRUE(first && second);
    ASSERT_TRUE(first->db->Put({}, "a", "1").ok());
    ASSERT_TRUE(second->db->Put({}, "b", "2").ok());
    *first = *std::move(second);
    std::string value;
    EXPECT_TRUE(first->db->Get({}, "b", &value).ok());
    EXPECT_EQ(value, "2");
    EXPECT_EQ(first->path, directory.path() / "second");
}

}  // namespace
}  // namespace mortise::storage::test
