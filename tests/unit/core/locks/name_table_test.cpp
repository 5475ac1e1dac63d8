#include "core/locks/table/name_table.hpp"

#include <cstdint>
#include <tuple>

#include <gtest/gtest.h>

#include "core/base/check.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class NameTableTest : public testing::Test {
protected:
    RecordRef make(const std::string& name) {
        return names_.create(name, QueuePolicy::phase_fair, 0);
    }
    void wait(const std::string& name, LockMode mode, std::uint64_t index = 1) {
        Waiter waiter;
        waiter.ticket = {LogIndex{index}, 0};
        waiter.mode = mode;
        names_.ensure_queue(names_.record(name)).add(waiter);
    }
    // `needed`: the name has a value or a timer.
    void tidy(const std::string& name, bool needed = false) {
        names_.tidy(names_.record(name), [&] { return needed; });
    }
    void leave(const std::string& name) {
        names_.queue(names_.record(name)).remove({LogIndex{1}, 0});
    }
    void note_reordered(const std::string& name) { names_.note_reordered(*names_.record(name)); }
    // The names of the changes that were not taken.
    std::vector<std::string> take_changes(std::size_t max = SIZE_MAX) {
        std::vector<std::string> names;
        for (const auto& record : names_.take_changes(max))
            names.emplace_back(record->name());
        return names;
    }
    using Strings = std::vector<std::string>;

    NameTable names_;
};

TEST_F(NameTableTest, ANewRecordHasNoOlderTraces) {
    EXPECT_TRUE(names_.create("a", QueuePolicy::fifo, 7)->is_swept_at(7));
    EXPECT_THROW(names_.create("a", QueuePolicy::phase_fair, 8), InvariantBroken);
    EXPECT_EQ(names_.look_up("a")->policy(), QueuePolicy::fifo);
    EXPECT_FALSE(names_.look_up("b"));
    EXPECT_THROW((void)names_.record("b"), InvariantBroken);
}

// Until then the name may still have a row, and its next record has the checksum of that.
TEST_F(NameTableTest, RemembersARemovedRecordUntilItsChangeIsTaken) {
    const auto first = make("a");
    first->set_row_sum(5);
    (void)names_.ensure_queue(first);
    first->set_previous({Predecessor::expired, "label", FencingToken{3}});
    tidy("a");
    EXPECT_EQ(names_.find("a"), nullptr);
    EXPECT_EQ(names_.size(), 0U);
    EXPECT_TRUE(names_.records().empty());
    {
        const auto second = make("a");
        EXPECT_EQ(second->row_sum(), 5U);
        EXPECT_EQ(second->queue(), nullptr);
        EXPECT_EQ(second->previous(), Previous{});
        EXPECT_EQ(names_.records().size(), 1U);
    }
    tidy("a");
    EXPECT_EQ(take_changes(), Strings{"a"});
    EXPECT_TRUE(take_changes().empty());
    EXPECT_EQ(make("a")->row_sum(), std::nullopt);
}

TEST_F(NameTableTest, SomeChangesMayBeTakenBefore) {
    for (const auto* name : {"c", "a", "b", "d"})
        names_.changed(make(name));
    names_.changed(names_.record("c"));
    EXPECT_EQ(names_.changes().size(), 4U);
    EXPECT_EQ(take_changes(2), (Strings{"a", "c"}));
    names_.changed(names_.record("c"));
    EXPECT_EQ(take_changes(), (Strings{"b", "c", "d"}));
    EXPECT_TRUE(names_.changes().empty());
}

TEST_F(NameTableTest, ForgetsWhatIsNotNeeded) {  // S37
    make("a");
    wait("a", exclusive);
    tidy("a");
    EXPECT_NE(names_.queue_of("a"), nullptr);
    leave("a");
    tidy("a", true);
    EXPECT_EQ(names_.queue_of("a"), nullptr);
    const auto record = names_.record("a");
    EXPECT_THROW(std::ignore = names_.queue(record), InvariantBroken);
    tidy("a");
    EXPECT_EQ(names_.find("a"), nullptr);
    names_.tidy(record, [] { return false; });  // unknown by now
}

TEST_F(NameTableTest, TheTurnEndsWithTheWaiters) {  // S31
    make("a")->turn = Turn::readers;
    wait("a", exclusive);
    tidy("a");
    EXPECT_EQ(names_.find("a")->turn, Turn::readers);
    leave("a");
    tidy("a", true);
    EXPECT_EQ(names_.find("a")->turn, Turn::writers);
}

TEST_F(NameTableTest, NotesATurnWhereTheOrderMayChange) {  // S33
    make("a");
    note_reordered("a");
    wait("a", exclusive);
    note_reordered("a");
    EXPECT_TRUE(names_.reordered().empty());
    wait("a", shared, 2);
    note_reordered("a");
    EXPECT_TRUE(names_.reordered().contains("a"));
    names_.forget_reordered();
    EXPECT_TRUE(names_.reordered().empty());
}

TEST_F(NameTableTest, LoadsNoEmptyQueue) {
    names_.restore("a", LockRecord{QueuePolicy::fifo}, WaitQueue{QueuePolicy::fifo});
    EXPECT_NE(names_.find("a"), nullptr);
    EXPECT_EQ(names_.queue_of("a"), nullptr);
    EXPECT_EQ(names_.next_waited(""), "");
    EXPECT_TRUE(names_.changes().empty());
}

}  // namespace
}  // namespace mortise::core
