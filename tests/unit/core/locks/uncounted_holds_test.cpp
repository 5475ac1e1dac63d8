#include "core/locks/machine/uncounted_holds.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

constexpr SessionId bounded_session{1};
constexpr Seq bounded_hold{1};

// A table where that session got "a" at this index, with a max_hold.
LockTable granted_at(LogIndex index) {
    LockTable table;
    table.begin(index, 0, nullptr);
    Waiter waiter;
    waiter.ticket = {index, 0};
    waiter.operation = {bounded_session, bounded_hold};
    waiter.terms.max_hold_ms = 1'000;
    LockTable::Grants grants;
    RecordRefs stands;
    table.acquire(waiter, {{{"a", LockMode::exclusive}}, true, {}, false, {}}, {}, grants, stands);
    return table;
}

Session session_that_holds(bool held) {
    Session session;
    session.id = bounded_session;
    session.operations.add(bounded_hold, {{RecordRef::make("a", LockRecord{QueuePolicy::fifo})},
                                          {.held = held, .is_bounded = true}});
    return session;
}

TEST(UncountedHolds, BeginWhenTheNodeHasLearnedOfTheGrant) {  // S8
    auto table = granted_at(LogIndex{5});
    const auto session = session_that_holds(true);
    UncountedHolds uncounted;
    uncounted.add(bounded_session, bounded_hold);
    uncounted.begin_counting(session, LogIndex{4}, table);
    EXPECT_TRUE(table.take_begun_closures().empty());
    EXPECT_TRUE(uncounted.has(bounded_session));
    uncounted.begin_counting(session, LogIndex{5}, table);
    const auto begun = table.take_begun_closures();
    ASSERT_EQ(begun.size(), 1U);
    EXPECT_EQ(begun.front().closure.kind, Closure::Kind::max_hold);
    EXPECT_FALSE(uncounted.has(bounded_session));
}

TEST(UncountedHolds, ForgetOperationsThatAreNotHeldAnyMore) {
    auto table = granted_at(LogIndex{5});
    UncountedHolds uncounted;
    uncounted.add(bounded_session, bounded_hold);
    uncounted.begin_counting(session_that_holds(false), LogIndex{9}, table);
    EXPECT_FALSE(uncounted.has(bounded_session));
    uncounted.add(bounded_session, bounded_hold);
    uncounted.forget(bounded_session);
    EXPECT_FALSE(uncounted.has(bounded_session));
    EXPECT_TRUE(table.take_begun_closures().empty());
}

TEST(CountedTerms, AllowForWrongClocks) {  // S8, S9
    // 1000 ms by a clock that is 10 % slow, counted by one that is 10 % fast; rounded up.
    const auto terms = counted_terms({1'000, 1'000, 500}, 100'000);
    EXPECT_EQ(terms.max_hold_ms, 1'223U);
    EXPECT_EQ(terms.min_hold_ms, 1'100U);
    EXPECT_EQ(terms.lock_delay_ms, 550U);
    const auto exact = counted_terms({1'000, 1'000, 500}, 0);
    EXPECT_EQ(exact, (HoldTerms{1'000, 1'000, 500}));
    constexpr auto most = std::numeric_limits<std::uint32_t>::max();
    EXPECT_EQ(counted_terms({most, most, most}, 1), (HoldTerms{most, most, most}));
}

}  // namespace
}  // namespace mortise::core
