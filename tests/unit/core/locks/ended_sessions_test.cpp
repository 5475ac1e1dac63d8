#include "core/locks/table/ended_sessions.hpp"

#include <gtest/gtest.h>

#include "core/base/check.hpp"

namespace mortise::core {
namespace {

constexpr SessionId first_ended{1};
constexpr SessionId second_ended{2};

Operations operations_on(const Names& names) {
    RecordRefs records;
    for (const auto& name : names)
        records.push_back(RecordRef::make(name, LockRecord{QueuePolicy::fifo}));
    Operations operations;
    operations.add(Seq{1}, {records, {.held = true}});
    return operations;
}

// A table where a request waits for each of these names.
LockTable table_waited_for(const std::vector<std::string>& names) {
    LockTable table;
    std::uint64_t session = 10;
    for (const auto& name : names) {
        for (int i = 0; i < 2; ++i) {
            Waiter waiter;
            waiter.ticket = {LogIndex{++session}, 0};
            waiter.operation = {SessionId{session}, Seq{1}};
            LockTable::Grants grants;
            RecordRefs stands;
            table.acquire(waiter, {{{name, LockMode::exclusive}}, true, {}, false, {}}, {{}},
                          grants, stands);
        }
    }
    return table;
}

TEST(EndedSessions, CountsSessionsThatHadNothing) {
    EndedSessions ended;
    ended.add(first_ended, {Predecessor::expired, {}}, {});
    EXPECT_EQ(ended.endings(), 1U);
    EXPECT_TRUE(ended.is_empty());
    EXPECT_TRUE(ended.changes().empty());
    EXPECT_EQ(ended.how(first_ended), std::nullopt);
    ended.check_invariants({});
}

TEST(EndedSessions, KnowsASessionUntilItsLastTraceIsRemoved) {  // S11
    EndedSessions ended;
    ended.add(first_ended, {Predecessor::expired, {}}, operations_on({"a", "b"}));
    EXPECT_EQ(ended.how(first_ended), Predecessor::expired);
    EXPECT_EQ(ended.names(), (EndedSessions::Names{"a", "b"}));
    ended.forget({first_ended, Seq{1}}, "a");
    ASSERT_NE(ended.find({first_ended, Seq{1}}), nullptr);
    EXPECT_EQ(ended.find({first_ended, Seq{1}})->names().size(), 1U);
    EXPECT_EQ(ended.find({first_ended, Seq{1}})->name(), "b");
    EXPECT_THROW(ended.forget({first_ended, Seq{1}}, "a"), InvariantBroken);
    EXPECT_THROW(ended.forget({second_ended, Seq{1}}, "b"), InvariantBroken);
    ended.forget_changes();
    ended.forget({first_ended, Seq{1}}, "b");
    EXPECT_TRUE(ended.is_empty());
    EXPECT_EQ(ended.find({first_ended, Seq{1}}), nullptr);
    EXPECT_EQ(ended.changes(), std::set{first_ended});
    ended.check_invariants({});
}

TEST(EndedSessions, SweepsNamesWithWaitersFirst) {  // S11
    EndedSessions ended;
    const auto table = table_waited_for({"c", "d"});
    EXPECT_EQ(ended.next_to_sweep(table), std::nullopt);
    ended.add(first_ended, {Predecessor::clean, {}}, operations_on({"a"}));
    EXPECT_EQ(ended.next_to_sweep(table), "c");
    EXPECT_EQ(ended.next_to_sweep(table), "c");  // not done yet
    ended.swept("c");
    EXPECT_EQ(ended.progress().waited_cursor, "c");
    EXPECT_EQ(ended.next_to_sweep(table), "d");
    ended.swept("d");
    EXPECT_EQ(ended.next_to_sweep(table), "a");
    EXPECT_TRUE(ended.progress().waited_done);
    ended.forget({first_ended, Seq{1}}, "a");
    ended.swept("a");
    EXPECT_EQ(ended.progress().waited_cursor, "");
    EXPECT_EQ(ended.next_to_sweep(table), std::nullopt);
}

TEST(EndedSessions, BeginsASweepAnewWithEachEnd) {
    EndedSessions ended;
    const auto table = table_waited_for({"c"});
    ended.add(first_ended, {Predecessor::clean, {}}, operations_on({"a"}));
    ended.swept("c");
    ASSERT_EQ(ended.next_to_sweep(table), "a");
    ended.add(second_ended, {Predecessor::clean, {}}, {});
    EXPECT_EQ(ended.next_to_sweep(table), "c");
}

TEST(EndedSessions, RefusesToLoadWhatContradictsItself) {
    EndedSessions nobody;
    EXPECT_FALSE(nobody.restore(3, {"a", true}, second_ended));
    EXPECT_FALSE(nobody.restore(3, {"", false}, second_ended));
    EXPECT_TRUE(nobody.restore(3, {}, second_ended));
    EXPECT_EQ(nobody.endings(), 3U);
    EXPECT_EQ(nobody.operations_to_restore(first_ended), nullptr);

    EndedSessions some;
    EXPECT_TRUE(some.restore(second_ended, {Predecessor::expired, {}}));
    EXPECT_FALSE(some.restore(second_ended, {}));
    EXPECT_FALSE(some.restore(3, {}, first_ended));  // a session from the future
    EXPECT_FALSE(some.restore(0, {}, second_ended));
    EXPECT_TRUE(some.restore(3, {"a", false}, second_ended));
    EXPECT_NE(some.operations_to_restore(second_ended), nullptr);
    EXPECT_THROW(some.check_invariants({}), InvariantBroken);  // nothing is left of it
}

}  // namespace
}  // namespace mortise::core
