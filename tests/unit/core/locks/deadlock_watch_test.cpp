#include "core/locks/machine/deadlock_watch.hpp"

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

// Lockers 1 and 2 of one session hold a name each, and each may ask for the name of the other.
class DeadlockWatchTest : public testing::Test {
protected:
    DeadlockWatchTest() {
        OpenSession opening;
        opening.nonce = 1;
        session_ = sessions_.open(opening, LogIndex{1}).id;
        ask(1, "a");
        ask(2, "b");
    }

    // The locker asks for the name exclusively.
    OperationId ask(std::uint64_t locker, const std::string& name) {
        const Seq seq{++asked_};
        Waiter waiter;
        waiter.ticket = {LogIndex{seq.raw()}, 0};
        waiter.operation = {session_, seq};
        waiter.locker.number = locker;
        LockTable::Grants grants;
        RecordRefs stands;
        const auto result = table_.acquire(
            waiter, {{{name, LockMode::exclusive}}, true, {}, false, {}}, {}, grants, stands);
        const bool held = result == LockTable::Result::granted;
        sessions_.change(session_)->operations.add(
            seq, {stands, {.held = held, .ticket = waiter.ticket, .locker = locker}});
        lockers_.begin({session_, locker}, seq);
        if (held) lockers_.grant({session_, locker}, seq);
        return waiter.operation;
    }
    [[nodiscard]] std::optional<DeadlockWatch::Deadlock> find() {
        return watch_.find({table_, sessions_, lockers_}, steps_);
    }

    SessionTable sessions_;
    LockTable table_;
    LockerBook lockers_;
    DeadlockWatch watch_;
    SessionId session_;
    std::size_t steps_ = 0;
    std::uint64_t asked_ = 0;
};

TEST_F(DeadlockWatchTest, FindsTheRequestThatCompletesACycle) {  // S33
    watch_.queued(ask(1, "b"));
    EXPECT_FALSE(find());
    watch_.forget();
    const auto last = ask(2, "a");
    watch_.queued(last);
    const auto deadlock = find();
    ASSERT_TRUE(deadlock);
    EXPECT_EQ(deadlock->victim, last);
    EXPECT_EQ(deadlock->cycle.size(), 2U);
    EXPECT_GT(steps_, 0U);
}

TEST_F(DeadlockWatchTest, SearchesFromALockerThatWasGrantedMore) {
    ask(1, "b");
    ask(2, "a");
    EXPECT_FALSE(find());  // no command did anything
    watch_.let_in({session_, 1});
    EXPECT_TRUE(find());
}

TEST_F(DeadlockWatchTest, ForgetsTheCommandBefore) {
    ask(1, "b");
    watch_.queued(ask(2, "a"));
    watch_.let_in({session_, 1});
    watch_.forget();
    EXPECT_FALSE(watch_.asked().seq.is_set());
    EXPECT_FALSE(find());
}

}  // namespace
}  // namespace mortise::core
