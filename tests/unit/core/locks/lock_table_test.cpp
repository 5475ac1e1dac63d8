#include "core/locks/table/lock_table.hpp"

#include <limits>
#include <optional>

#include <gtest/gtest.h>

#include "core/base/check.hpp"
#include "core/locks/table/table_invariants.hpp"

namespace mortise::core {
namespace {

using enum LockMode;
using Result = LockTable::Result;

OperationId operation(std::uint64_t session) {
    return {SessionId{session}, Seq{1}};
}

Grant grant(std::uint64_t session, LockMode mode, FencingToken token) {
    return {operation(session), mode, token, LogIndex{1}, "label " + std::to_string(session)};
}

// No hold blocks the name after its end.
bool remove(LockRecord& record, std::uint64_t session, Predecessor how) {
    return record.remove(operation(session), how, [](const Holder&, Predecessor) { return false; });
}

TEST(LockRecord, AdmitsModesThatConflictWithNoHolder) {
    LockRecord record{QueuePolicy::phase_fair};
    EXPECT_TRUE(record.admits(exclusive));
    record.add(grant(1, intent_shared, FencingToken{1}));
    record.add(grant(2, intent_shared, FencingToken{1}));
    EXPECT_FALSE(record.admits(exclusive));
    EXPECT_TRUE(record.admits(shared_intent_exclusive));
    EXPECT_FALSE(record.has_writer());
    EXPECT_TRUE(remove(record, 1, Predecessor::clean));
    EXPECT_FALSE(record.admits(exclusive));  // the other one still holds
    record.add(grant(3, update, FencingToken{2}));
    EXPECT_TRUE(record.has_writer());
    EXPECT_FALSE(record.admits(intent_exclusive));
}

TEST(LockRecord, KeepsHowTheLastHoldEnded) {  // S23
    LockRecord record{QueuePolicy::phase_fair};
    record.add(grant(1, shared, FencingToken{4}));
    record.add(grant(2, shared, FencingToken{4}));
    EXPECT_EQ(record.previous(), Previous{});
    EXPECT_FALSE(remove(record, 9, Predecessor::expired));
    EXPECT_EQ(record.previous(), Previous{});
    EXPECT_TRUE(remove(record, 2, Predecessor::expired));
    EXPECT_EQ(record.previous(), (Previous{Predecessor::expired, "label 2", FencingToken{4}}));
    EXPECT_EQ(record.find(operation(2)), nullptr);
    EXPECT_NE(record.find(operation(1)), nullptr);
}

TEST(LockRecord, SharesOnlyTheNewestTokenTakenInThatMode) {  // S13
    LockRecord record{QueuePolicy::phase_fair};
    FencingToken newest{10};
    const auto enter = [&](std::uint64_t session, LockMode mode) {
        const auto token = record.take_token(mode, newest);
        record.add(grant(session, mode, token));
        return token.raw();
    };
    EXPECT_EQ(enter(1, shared), 11U);
    EXPECT_EQ(enter(2, shared), 11U);
    EXPECT_EQ(enter(3, intent_shared), 12U);  // another mode
    EXPECT_EQ(enter(4, intent_shared), 12U);
    EXPECT_EQ(enter(5, shared), 13U);  // 11 is not the newest any more
    EXPECT_EQ(enter(6, update), 14U);
    EXPECT_EQ(enter(7, shared), 15U);  // an update holder came in between (P1)
    EXPECT_TRUE(remove(record, 7, Predecessor::clean));
    EXPECT_EQ(enter(8, shared), 16U);  // whoever had it has left
    EXPECT_EQ(newest, FencingToken{16});
}

// It is that of the only holder nearly always, and kept elsewhere when it is not.
TEST(LockRecord, KnowsItsNewestTokenWhateverBecomesOfItsHolders) {  // S12
    LockRecord record{QueuePolicy::phase_fair};
    FencingToken newest{10};
    const auto enter = [&](std::uint64_t session, LockMode mode) {
        record.add(grant(session, mode, record.take_token(mode, newest)));
    };
    enter(1, shared);
    enter(2, intent_shared);
    EXPECT_EQ(record.newest_token(), FencingToken{12});
    EXPECT_TRUE(remove(record, 2, Predecessor::clean));  // the one that stays has 11
    EXPECT_EQ(record.newest_token(), FencingToken{12});
    enter(3, intent_shared);
    EXPECT_EQ(record.newest_token(), FencingToken{13});
    EXPECT_TRUE(remove(record, 1, Predecessor::clean));
    EXPECT_EQ(record.newest_token(), FencingToken{13});
    EXPECT_EQ(record.take_token(exclusive, newest), FencingToken{14});
    record.convert(operation(3), exclusive, FencingToken{14});
    EXPECT_EQ(record.newest_token(), FencingToken{14});
    EXPECT_TRUE(remove(record, 3, Predecessor::clean));
    EXPECT_EQ(record.newest_token(), FencingToken{14});
}

TEST(LockRecord, CountsTheTokensThatACachedGrantReserves) {  // S39
    LockRecord record{QueuePolicy::phase_fair};
    FencingToken newest{10};
    auto cached = grant(1, exclusive, record.take_token(exclusive, newest));
    cached.cached_tokens = 100;
    record.reserve_tokens(99, newest);
    record.add(cached);
    EXPECT_EQ(record.newest_token(), FencingToken{110});
    EXPECT_EQ(newest, FencingToken{110});
    record.publish(operation(1), FencingToken{50}, {}, "label");
    EXPECT_EQ(record.newest_token(), FencingToken{110});
    EXPECT_TRUE(remove(record, 1, Predecessor::clean));
    EXPECT_EQ(record.newest_token(), FencingToken{110});
}

// A cluster may have millions of names: these 8 bytes less make the block of a name of 24 bytes one
// of 112.
TEST(LockRecord, IsSmall) {
    EXPECT_LE(sizeof(NamedRecord), 80U);
}

class LockTableTest : public testing::Test {
protected:
    Result acquire(std::uint64_t session, LockMode mode, bool wait = true,
                   const std::string& name = "a") {
        Waiter waiter;
        waiter.ticket = {LogIndex{session}, 0};
        waiter.operation = operation(session);
        const Acquire request{{{name, mode}}, wait, {}, false, {}};
        RecordRefs stands;
        const auto result = table_.acquire(waiter, request, {}, grants_, stands);
        check_invariants(table_);
        return result;
    }
    std::vector<std::uint64_t> take_granted() {
        std::vector<std::uint64_t> sessions;
        for (const auto& one : grants_)
            sessions.push_back(one.operation.session.raw());
        grants_.clear();
        return sessions;
    }
    using Sessions = std::vector<std::uint64_t>;
    void release(std::uint64_t session, const std::string& name = "a") {
        const auto record = table_.names().record(name);
        table_.release({&record, 1}, operation(session), Predecessor::clean, grants_);
    }
    void withdraw(std::uint64_t session) {
        const auto record = table_.names().record("a");
        table_.withdraw({&record, 1}, {LogIndex{session}, 0}, grants_);
    }
    LockTable::Cleared clear(const std::string& name, std::uint64_t endings,
                             const LockTable::Ended& ended, std::size_t max) {
        table_.begin(LogIndex{9}, endings, &ended);
        return table_.clear(name, max, grants_);
    }

    static constexpr auto all = std::numeric_limits<std::size_t>::max();

    LockTable table_;
    LockTable::Grants grants_;
};

TEST_F(LockTableTest, GrantsTheWaiterWhenTheHolderLeaves) {
    EXPECT_EQ(acquire(1, exclusive), Result::granted);
    EXPECT_EQ(acquire(2, exclusive), Result::queued);
    EXPECT_EQ(acquire(3, exclusive, false), Result::busy);
    EXPECT_EQ(take_granted(), Sessions{1});
    EXPECT_THROW(release(2), InvariantBroken);
    EXPECT_THROW(release(1, "b"), InvariantBroken);
    release(1);
    EXPECT_EQ(take_granted(), Sessions{2});
    EXPECT_EQ(table_.queue_of("a"), nullptr);
}

TEST_F(LockTableTest, ForgetsANameThatNobodyHoldsOrWaitsFor) {  // S37, P1
    acquire(1, exclusive);
    release(1);
    EXPECT_EQ(table_.find("a"), nullptr);
    EXPECT_TRUE(table_.records().empty());
}

TEST_F(LockTableTest, AWithdrawalGrantsThoseBehind) {  // S30
    acquire(1, shared);
    acquire(2, exclusive);
    acquire(3, shared);
    take_granted();
    withdraw(2);
    EXPECT_EQ(take_granted(), Sessions{3});
    EXPECT_THROW(withdraw(2), InvariantBroken);
}

TEST_F(LockTableTest, ClearsWhatEndedSessionsLeft) {  // S11
    acquire(1, exclusive);
    acquire(2, exclusive);
    acquire(3, shared);
    acquire(4, shared);
    take_granted();
    const Departure clean{Predecessor::clean, {}};
    const Departure expired{Predecessor::expired, "worker@db3:7"};
    const auto ended = [&](OperationId id) -> const Departure* {
        if (id.session.raw() == 3) return &clean;
        return id.session.raw() <= 2 ? &expired : nullptr;
    };
    const auto cleared = clear("a", 1, ended, all);
    EXPECT_TRUE(cleared.is_done);
    EXPECT_EQ(cleared.gone.size(), 3U);
    ASSERT_EQ(grants_.size(), 1U);
    EXPECT_EQ(grants_[0].answer.previous.how, Predecessor::expired);
    EXPECT_EQ(grants_[0].answer.previous.label, "worker@db3:7");
    EXPECT_EQ(take_granted(), Sessions{4});
    check_invariants(table_);

    // No other session has ended since, so the name is not examined again.
    const auto everybody = [&](OperationId) { return &expired; };
    EXPECT_TRUE(clear("a", 1, everybody, all).gone.empty());
    EXPECT_NE(table_.find("a"), nullptr);
    const auto last = clear("a", 2, everybody, all).last;
    EXPECT_EQ(table_.find("a"), nullptr);
    EXPECT_EQ(last.how, Predecessor::expired);
    EXPECT_TRUE(clear("never seen", 3, ended, all).is_done);
}

TEST_F(LockTableTest, ClearsANameInPartsAndGrantsNothingBefore) {  // S11, P10
    for (std::uint64_t session = 1; session <= 3; ++session)
        acquire(session, shared);
    for (std::uint64_t session = 4; session <= 6; ++session)
        acquire(session, exclusive);
    acquire(7, shared);
    take_granted();
    const Departure expired{Predecessor::expired, {}};
    const auto ended = [&](OperationId id) { return id.session.raw() > 6 ? nullptr : &expired; };
    std::size_t parts = 0;
    while (!clear("a", 1, ended, 2).is_done) {
        check_invariants(table_, {"a"});
        EXPECT_TRUE(grants_.empty());
        ++parts;
    }
    EXPECT_EQ(parts, 2U);
    EXPECT_EQ(take_granted(), Sessions{7});
    check_invariants(table_);
    EXPECT_EQ(table_.find("a")->previous().token, FencingToken{1});
}

TEST_F(LockTableTest, VisitsTheNamesThatHaveWaiters) {
    for (const auto* name : {"b", "a", "c", "d"})
        acquire(1, exclusive, true, name);
    acquire(2, shared, true, "d");
    acquire(2, shared, true, "b");
    EXPECT_EQ(table_.names().next_waited(""), "b");
    EXPECT_EQ(table_.names().next_waited("b"), "d");
    EXPECT_EQ(table_.names().next_waited("d"), "");
}

TEST_F(LockTableTest, WouldGrantForeseesAnAcquire) {
    EXPECT_TRUE(table_.would_grant("a", exclusive, 0));
    acquire(1, shared);
    EXPECT_TRUE(table_.would_grant("a", shared, 0));
    EXPECT_TRUE(table_.would_grant("a", update, 0));
    EXPECT_FALSE(table_.would_grant("a", exclusive, 0));
    acquire(2, exclusive);
    EXPECT_FALSE(table_.would_grant("a", shared, 0));
    EXPECT_FALSE(table_.would_grant("a", intent_shared, 0));
}

}  // namespace
}  // namespace mortise::core
