#include "core/locks/table/name_table.hpp"

#include <tuple>

#include <gtest/gtest.h>

#include "core/base/check.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class NameTableTest : public testing::Test {
protected:
    RecordRef make(const std::string& name) {
        return names_.ensure(name, QueuePolicy::phase_fair, {}, 0);
    }
    void wait(const std::string& name, LockMode mode, std::uint64_t index = 1) {
        Waiter waiter;
        waiter.ticket = {LogIndex{index}, 0};
        waiter.mode = mode;
        names_.ensure_queue(name).add(waiter);
    }
    // `needed`: the name has a value or a timer.
    void tidy(const std::string& name, bool needed = false) {
        names_.tidy(name, [&] { return needed; });
    }

    NameTable names_;
};

TEST_F(NameTableTest, ANewRecordHasNoOlderTraces) {
    const Previous last{Predecessor::expired, "label", FencingToken{3}};
    EXPECT_EQ(names_.ensure("a", QueuePolicy::fifo, last, 7)->swept_at, 7U);
    const auto again = names_.ensure("a", QueuePolicy::phase_fair, {}, 8);
    EXPECT_EQ(again->swept_at, 7U);
    EXPECT_EQ(again->previous(), last);
    EXPECT_EQ(again->policy(), QueuePolicy::fifo);
}

TEST_F(NameTableTest, ForgetsWhatIsNotNeeded) {  // S37
    make("a");
    wait("a", exclusive);
    tidy("a");
    EXPECT_NE(names_.queue_of("a"), nullptr);
    names_.queue("a").remove({LogIndex{1}, 0});
    tidy("a", true);
    EXPECT_EQ(names_.queue_of("a"), nullptr);
    EXPECT_NE(names_.find("a"), nullptr);
    tidy("a");
    EXPECT_EQ(names_.find("a"), nullptr);
    tidy("a");  // unknown by now
    EXPECT_THROW(std::ignore = names_.queue("a"), InvariantBroken);
}

TEST_F(NameTableTest, TheTurnEndsWithTheWaiters) {  // S31
    make("a")->turn = Turn::readers;
    wait("a", exclusive);
    tidy("a");
    EXPECT_EQ(names_.find("a")->turn, Turn::readers);
    names_.queue("a").remove({LogIndex{1}, 0});
    tidy("a", true);
    EXPECT_EQ(names_.find("a")->turn, Turn::writers);
}

TEST_F(NameTableTest, NotesATurnWhereTheOrderMayChange) {  // S33
    make("a");
    names_.note_reordered("a");
    wait("a", exclusive);
    names_.note_reordered("a");
    EXPECT_TRUE(names_.reordered().empty());
    wait("a", shared, 2);
    names_.note_reordered("a");
    EXPECT_TRUE(names_.reordered().contains("a"));
    names_.forget_reordered();
    EXPECT_TRUE(names_.reordered().empty());
}

TEST_F(NameTableTest, LoadsNoEmptyQueue) {
    names_.restore("a", LockRecord{QueuePolicy::fifo}, WaitQueue{QueuePolicy::fifo});
    EXPECT_NE(names_.find("a"), nullptr);
    EXPECT_EQ(names_.queue_of("a"), nullptr);
    EXPECT_EQ(names_.next_waited(""), nullptr);
    EXPECT_TRUE(names_.changes().empty());
}

}  // namespace
}  // namespace mortise::core
