#include "core/locks/lock_mode.hpp"

#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

using enum LockMode;

TEST(LockMode, ConflictsAreThoseOfTheTable) {  // S26
    const std::set<std::pair<LockMode, LockMode>> conflicts{
        {intent_shared, exclusive},
        {intent_exclusive, shared},
        {intent_exclusive, shared_intent_exclusive},
        {intent_exclusive, update},
        {intent_exclusive, exclusive},
        {shared, shared_intent_exclusive},
        {shared, exclusive},
        {shared_intent_exclusive, shared_intent_exclusive},
        {shared_intent_exclusive, update},
        {shared_intent_exclusive, exclusive},
        {update, update},
        {update, exclusive},
        {exclusive, exclusive},
    };
    for (const auto held : all_lock_modes) {
        for (const auto wanted : all_lock_modes) {
            const auto pair = std::minmax(held, wanted);
            EXPECT_EQ(conflict(held, wanted), conflicts.contains({pair.first, pair.second}))
                << static_cast<int>(held) << " " << static_cast<int>(wanted);
            EXPECT_NE(conflict(held, wanted), compatible(held, wanted));
        }
    }
}

TEST(LockMode, WritersConflictWithThemselves) {  // S31
    EXPECT_FALSE(is_writer(intent_shared));
    EXPECT_FALSE(is_writer(intent_exclusive));
    EXPECT_FALSE(is_writer(shared));
    EXPECT_TRUE(is_writer(shared_intent_exclusive));
    EXPECT_TRUE(is_writer(update));
    EXPECT_TRUE(is_writer(exclusive));
}

}  // namespace
}  // namespace mortise::core
