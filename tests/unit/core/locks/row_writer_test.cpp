#include "core/locks/rows/row_writer.hpp"

#include <map>

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

class RowWriterTest : public testing::Test {
protected:
    SessionId open(std::uint64_t nonce) {
        OpenSession opening;
        opening.nonce = nonce;
        opening.generation.incarnation = Incarnation{nonce};
        opening.generation.boot_epoch = BootEpoch{1};
        return sessions_.open(opening, LogIndex{nonce}).id;
    }
    void acquire(SessionId session, const std::string& name) {
        Waiter waiter;
        waiter.ticket = {LogIndex{9}, 0};
        waiter.operation = {session, Seq{1}};
        LockTable::Grants grants;
        RecordRefs stands;
        table_.acquire(waiter, {{{name, LockMode::exclusive}}, true, {}, false, {}}, {}, grants,
                       stands);
    }
    void release(SessionId session, const std::string& name) {
        const auto record = table_.names().record(name);
        LockTable::Grants grants;
        table_.release({&record, 1}, {session, Seq{1}}, Predecessor::clean, grants);
    }
    static Operations hold_of(const std::string& name) {
        Operations operations;
        operations.add(Seq{1},
                       {{RecordRef::make(name, LockRecord{QueuePolicy::fifo})}, {.held = true}});
        return operations;
    }
    [[nodiscard]] std::size_t changed() const {
        return RowWriter::changed({sessions_, table_, ended_, clock_, eras_});
    }
    // The first bytes of their keys, which are their kinds.
    std::string take() {
        std::string kinds;
        for (const auto& row : writer_.take({sessions_, table_, ended_, clock_, eras_}))
            kinds += row.key.front();
        return kinds;
    }

    SessionTable sessions_;
    LockTable table_;
    EndedSessions ended_;
    ClockMarks clock_;
    Eras eras_;
    RowWriter writer_;
};

TEST_F(RowWriterTest, TakesWhatChangedOnceInTheOrderOfKeys) {
    acquire(open(1), "a");
    ended_.add(SessionId{7}, {Predecessor::expired, {}}, hold_of("a"));
    EXPECT_EQ(changed(), 5U);
    EXPECT_EQ(take(), "EGILS");
    EXPECT_EQ(take(), "");
    EXPECT_EQ(changed(), 1U);  // a bound: the totals may have changed
}

TEST_F(RowWriterTest, ReportsRemovedRows) {
    ended_.add(SessionId{7}, {Predecessor::expired, {}}, hold_of("a"));
    const auto session = open(1);
    take();
    ended_.forget({SessionId{7}, Seq{1}}, "a");
    sessions_.remove(session);
    const auto rows = writer_.take({sessions_, table_, ended_, clock_, eras_});
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].key.front(), 'E');
    EXPECT_FALSE(rows[0].value);
    EXPECT_EQ(rows[1].key.front(), 'G');  // one session less
    EXPECT_TRUE(rows[1].value);
    EXPECT_EQ(rows[2].key.front(), 'S');
    EXPECT_FALSE(rows[2].value);
}

TEST_F(RowWriterTest, SumsTheRowsThatWereTakenOrRead) {
    acquire(open(1), "a");
    const auto before = writer_.sum();
    RowWriter reader;
    for (const auto& row : writer_.take({sessions_, table_, ended_, clock_, eras_}))
        reader.add_read(row.key, *row.value, table_);
    EXPECT_NE(writer_.sum(), before);
    EXPECT_EQ(reader.sum(), writer_.sum());
    reader.all_read({sessions_, table_, ended_, clock_, eras_});
    EXPECT_TRUE(reader.take({sessions_, table_, ended_, clock_, eras_}).empty());  // nor the totals
}

TEST_F(RowWriterTest, ANameThatCameAndWentHasNoRow) {
    const auto session = open(1);
    take();
    const auto before = writer_.sum();
    acquire(session, "a");
    release(session, "a");
    EXPECT_EQ(take(), "G");  // the newest token
    EXPECT_NE(writer_.sum(), before);
}

TEST_F(RowWriterTest, ARowIsRemovedOnceAlthoughItsNameCameAgain) {
    std::map<std::string, std::string> store;
    const auto save = [&] {
        std::size_t removed = 0;
        for (auto& [key, value] : writer_.take({sessions_, table_, ended_, clock_, eras_})) {
            removed += value ? 0 : store.erase(key);
            if (value) store[key] = *value;
        }
        return removed;
    };
    const auto session = open(1);
    acquire(session, "a");
    EXPECT_EQ(save(), 0U);
    ASSERT_TRUE(store.contains("La"));
    release(session, "a");
    acquire(session, "a");
    release(session, "a");
    EXPECT_EQ(save(), 1U);
    EXPECT_FALSE(store.contains("La"));
    RowWriter reader;
    for (const auto& [key, value] : store)
        reader.add_read(key, value, table_);
    EXPECT_EQ(reader.sum(), writer_.sum());
}

}  // namespace
}  // namespace mortise::core
