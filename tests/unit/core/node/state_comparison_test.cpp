#include "core/node/state_comparison.hpp"

#include <gtest/gtest.h>

#include "core/base/check.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

constexpr std::uint64_t every = 8;

NodeOptions options_comparing() {
    NodeOptions options;
    options.compare_every = every;
    return options;
}

StateSum sum_at(std::uint64_t index, std::uint64_t value = 5) {
    return {LogIndex{index}, value};
}

Entry entry_with(const StateSum& sum) {
    Entry entry;
    entry.id = log_id(1, sum.at.raw() + 1);
    entry.kind = EntryKind::state_sum;
    entry.payload = encode_state_sum(sum);
    return entry;
}

struct Comparing : testing::Test {
    NodeOptions options = options_comparing();
    StateComparison comparison{options};
};

TEST_F(Comparing, IsDueNowAndThen) {
    EXPECT_TRUE(comparison.is_due(LogIndex{2 * every}));
    EXPECT_FALSE(comparison.is_due(LogIndex{2 * every + 1}));
}

TEST_F(Comparing, ThrowsOnlyForAnotherChecksumOfAnIndexThatIsKept) {
    comparison.keep(sum_at(every));
    EXPECT_NO_THROW(comparison.compare(entry_with(sum_at(every)), LogIndex{every + 1}));
    EXPECT_NO_THROW(comparison.compare(entry_with(sum_at(2 * every, 6)), LogIndex{every + 1}));
    EXPECT_THROW(comparison.compare(entry_with(sum_at(every, 6)), LogIndex{every + 1}),
                 InvariantBroken);
    comparison.forget_own();
    EXPECT_NO_THROW(comparison.compare(entry_with(sum_at(every, 6)), LogIndex{every + 1}));
}

TEST_F(Comparing, TheNewestIsProposedOnceInATerm) {
    EXPECT_EQ(comparison.to_propose(), nullptr);
    comparison.keep(sum_at(every));
    comparison.keep(sum_at(2 * every));
    ASSERT_NE(comparison.to_propose(), nullptr);
    EXPECT_EQ(*comparison.to_propose(), sum_at(2 * every));
    comparison.proposed(*comparison.to_propose());
    EXPECT_EQ(comparison.to_propose(), nullptr);
    comparison.begin_term();
    EXPECT_NE(comparison.to_propose(), nullptr);
    comparison.compare(entry_with(sum_at(2 * every)), LogIndex{2 * every + 1});
    EXPECT_EQ(comparison.to_propose(), nullptr);
}

}  // namespace
}  // namespace mortise::core::test
