#include "core/locks/table/session_table.hpp"

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

OpenSession opening(std::uint64_t nonce, std::uint64_t incarnation, std::uint64_t epoch) {
    OpenSession open;
    open.nonce = nonce;
    open.generation.incarnation = Incarnation{incarnation};
    open.generation.boot_epoch = BootEpoch{epoch};
    return open;
}

TEST(SessionTable, NeverUsesAnIdAgain) {  // S1
    SessionTable table;
    const auto first = table.open(opening(1, 1, 1), LogIndex{1}).id;
    EXPECT_EQ(table.remove(first).id, first);
    const auto second = table.open(opening(2, 1, 1), LogIndex{2}).id;
    EXPECT_GT(second, first);
    EXPECT_EQ(table.find(first), nullptr);
    ASSERT_NE(table.find(second), nullptr);
    EXPECT_EQ(table.find(second)->renewed_at, LogIndex{2});
    EXPECT_EQ(table.find(second)->renewal_number, 0U);
}

TEST(SessionTable, FindsByNonceWhileTheSessionLives) {
    SessionTable table;
    const auto id = table.open(opening(77, 1, 1), LogIndex{1}).id;
    ASSERT_NE(table.find_by_nonce(77), nullptr);
    EXPECT_EQ(table.find_by_nonce(77)->id, id);
    EXPECT_EQ(table.find_by_nonce(78), nullptr);
    table.remove(id);
    EXPECT_EQ(table.find_by_nonce(77), nullptr);
}

TEST(SessionTable, RemembersTheNewestEpochOfAnIncarnation) {  // S10
    SessionTable table;
    table.open(opening(1, 5, 3), LogIndex{1});
    const auto id = table.open(opening(2, 5, 4), LogIndex{2}).id;
    table.open(opening(3, 6, 9), LogIndex{3});
    table.remove(id);
    EXPECT_EQ(table.newest_start(Incarnation{5}).boot_epoch, BootEpoch{4});
    EXPECT_EQ(table.newest_start(Incarnation{6}).boot_epoch, BootEpoch{9});
    EXPECT_FALSE(table.newest_start(Incarnation{7}).is_set());
}

}  // namespace
}  // namespace mortise::core
