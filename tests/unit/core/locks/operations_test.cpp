#include "core/locks/table/operations.hpp"

#include <gtest/gtest.h>

#include "core/base/check.hpp"

namespace mortise::core {
namespace {

RecordRef record(std::string_view name) {
    return RecordRef::make(name, LockRecord{QueuePolicy::fifo});
}

TEST(Operation, KeepsWhatItIs) {
    const auto name = record("a");
    Operation waits{{name},
                    {.ticket = {LogIndex{3}, 1}, .locker = 7, .is_bounded = true, .is_try = true}};
    EXPECT_FALSE(waits.held());
    EXPECT_EQ(waits.ticket(), (Ticket{LogIndex{3}, 1}));
    EXPECT_EQ(waits.locker(), 7U);
    EXPECT_TRUE(waits.is_bounded());
    EXPECT_TRUE(waits.is_try());
    waits.grant({name});
    EXPECT_TRUE(waits.held());
    EXPECT_EQ(waits.locker(), 7U);
    EXPECT_TRUE(waits.is_bounded());
    EXPECT_FALSE(waits.is_try());
    EXPECT_EQ(waits.name(), "a");
    const Operation upgrades{{name}, {.upgrades = Seq{5}}};
    EXPECT_EQ(upgrades.upgrades(), Seq{5});
}

TEST(Operation, GetsALockerLater) {
    Operation hold{{record("a")}, {.held = true}};
    EXPECT_EQ(hold.locker(), 0U);
    hold.set_locker(3);
    EXPECT_TRUE(hold.held());
    EXPECT_EQ(hold.locker(), 3U);
    EXPECT_EQ(hold.name(), "a");
    hold.set_locker(0);
    EXPECT_TRUE(hold.held());
    EXPECT_EQ(hold.locker(), 0U);
}

TEST(Operation, LosesNamesOneByOne) {
    Operation hold{{record("a"), record("b")}, {.held = true}};
    hold.add_name(record("c"));
    ASSERT_EQ(hold.names().size(), 3U);
    EXPECT_EQ(hold.names().back()->name(), "c");
    EXPECT_FALSE(hold.remove_name("d"));
    EXPECT_TRUE(hold.remove_name("a"));
    EXPECT_TRUE(hold.remove_name("c"));
    ASSERT_EQ(hold.names().size(), 1U);
    EXPECT_EQ(hold.name(), "b");
    EXPECT_TRUE(hold.remove_name("b"));
    EXPECT_TRUE(hold.names().empty());
    EXPECT_TRUE(hold.held());
}

TEST(Operations, AreFoundByNumber) {
    Operations operations;
    operations.add(Seq{2}, {{record("b")}, {.held = true}});
    operations.add(Seq{1}, {{record("a")}, {}});
    EXPECT_TRUE(operations.holds(Seq{2}));
    EXPECT_FALSE(operations.waits(Seq{2}));
    EXPECT_TRUE(operations.waits(Seq{1}));
    EXPECT_EQ(operations.find(Seq{3}), nullptr);
    EXPECT_THROW((void)operations.at(Seq{3}), InvariantBroken);
    EXPECT_EQ(operations.begin()->key, Seq{1});
    EXPECT_EQ(operations.take(Seq{1}).name(), "a");
    EXPECT_EQ(operations.size(), 1U);
}

TEST(NamedRecord, IsOneBlockThatLivesAsLongAsItIsReferredTo) {
    EXPECT_LE(sizeof(NamedRecord), 96U);
    EXPECT_LE(sizeof(Operations::Entries::const_iterator::value_type), 16U);
    auto one = record("name");
    one->set_row_sum(5);
    const auto other = one;
    one = {};
    EXPECT_FALSE(one);
    EXPECT_EQ(other->name(), "name");
    EXPECT_EQ(other->row_sum(), 5U);
    EXPECT_EQ(record("")->name(), "");
    EXPECT_EQ(record("x")->row_sum(), std::nullopt);
}

TEST(LockRecord, KeepsHoldersInTheirOrderWhenTheyBecomeFew) {
    LockRecord record{QueuePolicy::fifo};
    const auto session = [](const Holder& one) { return one.operation.session.raw(); };
    const auto add = [&](std::uint64_t number, LockMode mode) {
        Grant grant;
        grant.operation = {SessionId{number}, Seq{1}};
        grant.mode = mode;
        grant.label = number == 2 ? "label" : "";
        record.add(std::move(grant));
    };
    const auto end = [](const Holder&, Predecessor) { return false; };
    for (std::uint64_t number = 1; number <= 3; ++number)
        add(number, LockMode::shared);
    ASSERT_EQ(record.holders().size(), 3U);
    const Departure closed;
    record.remove_if([&](OperationId one) { return one.session.raw() == 2 ? nullptr : &closed; },
                     end);
    ASSERT_EQ(record.holders().size(), 1U);
    EXPECT_EQ(session(record.holders().front()), 2U);
    EXPECT_EQ(record.holders().front().label(), "label");
    EXPECT_FALSE(record.admits(LockMode::exclusive));
    add(4, LockMode::update);
    EXPECT_EQ(session(record.holders().back()), 4U);
    EXPECT_TRUE(record.has_writer());
    EXPECT_TRUE(record.remove({SessionId{4}, Seq{1}}, Predecessor::expired, end));
    EXPECT_FALSE(record.has_writer());
    EXPECT_TRUE(record.remove({SessionId{2}, Seq{1}}, Predecessor::clean, end));
    EXPECT_TRUE(record.holders().empty());
    EXPECT_TRUE(record.admits(LockMode::exclusive));
    EXPECT_EQ(record.previous().label, "label");
}

}  // namespace
}  // namespace mortise::core
