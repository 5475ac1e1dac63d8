#include "core/locks/table/closure_book.hpp"

#include <gtest/gtest.h>

#include "core/base/check.hpp"

namespace mortise::core {
namespace {

using enum Closure::Kind;

class ClosureBookTest : public testing::Test {
protected:
    static OperationId hold(std::uint64_t session) { return {SessionId{session}, Seq{1}}; }

    static Grant grant(std::uint64_t session, ClosureId closures = {}) {
        Grant grant;
        grant.operation = hold(session);
        grant.mode = LockMode::shared;
        grant.token = FencingToken{1};
        if (closures.is_set()) grant.terms.max_hold_ms = 1;
        grant.closures = closures;
        return grant;
    }
    ClosureId begin(std::uint64_t session, Closure::Kind kind) {
        const auto id = closure_of(book_.take_numbers_of_a_hold(), kind);
        book_.begin("a", {id, kind, hold(session), LogIndex{1}, 10, 0});
        return id;
    }
    ClosureId begin_of_broken(std::uint64_t session) {
        const auto id = book_.take_number();
        book_.begin("a", {id, broken, hold(session), LogIndex{1}, 10, 0});
        return id;
    }
    using Ids = std::vector<ClosureId>;

    ClosureBook book_;
    LockRecord record_{QueuePolicy::phase_fair};
};

TEST_F(ClosureBookTest, KeepsEachTimerUnderItsName) {
    const auto id = begin_of_broken(1);
    ASSERT_TRUE(book_.find(id));
    EXPECT_EQ(book_.find(id)->name, "a");
    EXPECT_EQ(book_.of("a").size(), 1U);
    EXPECT_TRUE(book_.of("b").empty());
    EXPECT_EQ(book_.take_begun().size(), 1U);
    EXPECT_TRUE(book_.take_begun().empty());
    book_.end("a", id);
    EXPECT_FALSE(book_.find(id));
    EXPECT_TRUE(book_.all().empty());
    EXPECT_EQ(book_.take_ended(), Ids{id});
    book_.check_invariants();
}

TEST_F(ClosureBookTest, NeverUsesANumberAgain) {
    const auto first = book_.take_numbers_of_a_hold();
    EXPECT_EQ(book_.take_number().raw(), first.raw() + closures_of_a_hold);
    EXPECT_EQ(book_.newest().raw(), first.raw() + closures_of_a_hold);
}

TEST_F(ClosureBookTest, EndsTheTimersOfHoldsThatAreGone) {
    record_.add(grant(1));
    const auto stays = begin(1, min_hold);
    const auto goes = begin(2, min_hold);
    book_.end_over("a", &record_, hold(1));  // this one is still there
    EXPECT_TRUE(book_.take_ended().empty());
    book_.end_over("a", &record_);
    EXPECT_EQ(book_.take_ended(), Ids{goes});
    book_.end_over("a", nullptr);
    EXPECT_EQ(book_.take_ended(), Ids{stays});
}

TEST_F(ClosureBookTest, OnlyTheTimerOfTheBreakKeepsABrokenHold) {  // S24
    record_.add(grant(1));
    record_.mark_broken(hold(1));
    const auto limit = begin(1, max_hold);
    begin_of_broken(1);
    book_.end_over("a", &record_, hold(1));
    EXPECT_EQ(book_.take_ended(), Ids{limit});
    EXPECT_EQ(book_.of("a").size(), 1U);
}

TEST_F(ClosureBookTest, OnlyMinHoldAndLockDelayKeepAFormerHolder) {  // S8, S9
    begin(1, max_hold);
    begin_of_broken(1);
    EXPECT_FALSE(book_.keeps("a", hold(1)));
    begin(1, min_hold);
    EXPECT_TRUE(book_.keeps("a", hold(1)));
    EXPECT_FALSE(book_.keeps("a", hold(2)));
    EXPECT_FALSE(book_.keeps("b", hold(1)));
    begin(2, lock_delay);
    EXPECT_TRUE(book_.keeps("a", hold(2)));
}

TEST_F(ClosureBookTest, DetectsATimerThatDoesNotFitTheRecord) {
    record_.add(grant(1, ClosureId{1}));
    EXPECT_THROW(book_.check_name("a", record_), InvariantBroken);  // never numbered
    begin(1, min_hold);
    book_.check_name("a", record_);
    EXPECT_THROW(book_.check_name("a", LockRecord{QueuePolicy::fifo}), InvariantBroken);
    begin(1, lock_delay);  // it has not left
    EXPECT_THROW(book_.check_name("a", record_), InvariantBroken);
}

TEST_F(ClosureBookTest, LoadsNoNumberTwice) {
    const Closure one{ClosureId{3}, broken, hold(1), LogIndex{1}, 10, 0};
    EXPECT_TRUE(book_.restore("b", {}));
    EXPECT_TRUE(book_.restore("a", {one}));
    EXPECT_FALSE(book_.restore("b", {one}));
    EXPECT_EQ(book_.find(ClosureId{3})->name, "a");
}

}  // namespace
}  // namespace mortise::core
