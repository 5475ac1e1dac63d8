#include "core/locks/rows/row_writer.hpp"

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
        table_.acquire(waiter, {{{name, LockMode::exclusive}}, true, {}, false, {}}, {{}}, grants);
    }
    [[nodiscard]] std::size_t changed() const {
        return RowWriter::changed(sessions_, table_, ended_);
    }
    // The first bytes of their keys, which are their kinds.
    std::string take() {
        std::string kinds;
        for (const auto& row : writer_.take({sessions_, table_, ended_}))
            kinds += row.key.front();
        return kinds;
    }

    SessionTable sessions_;
    LockTable table_;
    EndedSessions ended_;
    RowWriter writer_;
};

TEST_F(RowWriterTest, TakesWhatChangedOnceInTheOrderOfKeys) {
    acquire(open(1), "a");
    ended_.add(SessionId{7}, Predecessor::expired, {{Seq{1}, Operation{{"a"}, {}, true, {}}}});
    EXPECT_EQ(changed(), 5U);
    EXPECT_EQ(take(), "EGILS");
    EXPECT_EQ(take(), "");
    EXPECT_EQ(changed(), 1U);  // a bound: the totals may have changed
}

TEST_F(RowWriterTest, ReportsRemovedRows) {
    ended_.add(SessionId{7}, Predecessor::expired, {{Seq{1}, Operation{{"a"}, {}, true, {}}}});
    const auto session = open(1);
    take();
    ended_.forget({SessionId{7}, Seq{1}}, "a");
    sessions_.remove(session);
    const auto rows = writer_.take({sessions_, table_, ended_});
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
    for (const auto& row : writer_.take({sessions_, table_, ended_}))
        reader.add_read(row.key, *row.value);
    EXPECT_NE(writer_.sum(), before);
    EXPECT_EQ(reader.sum(), writer_.sum());
    reader.all_read({sessions_, table_, ended_});
    EXPECT_TRUE(reader.take({sessions_, table_, ended_}).empty());  // nor the totals
}

}  // namespace
}  // namespace mortise::core
