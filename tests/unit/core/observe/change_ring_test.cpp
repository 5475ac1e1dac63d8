#include "core/observe/change_ring.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/check.hpp"

namespace mortise::core {
namespace {

class ChangeRingTest : public testing::Test {
protected:
    // An entry with changes of these names.
    void add(std::vector<std::string> names) {
        std::vector<NameChange> changes(names.size());
        for (std::size_t at = 0; at < names.size(); ++at)
            changes[at].name = names[at];
        index_ = index_.next();
        ring_.add(index_, changes);
    }
    [[nodiscard]] std::string names() const {
        std::string text;
        for (std::size_t at = 0; at < ring_.size(); ++at)
            text += ring_[at].change.name + "@" + to_text(ring_[at].position) + " ";
        return text;
    }

    LogIndex index_{5};
    ChangeRing ring_{index_, {4, 100}};
};

TEST_F(ChangeRingTest, CountsTheChangesOfEachEntry) {  // S46
    add({"a", "b"});
    add({});
    add({"c"});
    EXPECT_EQ(names(), "a@6.1 b@6.2 c@8.1 ");
    EXPECT_EQ(ring_.applied(), LogIndex{8});
}

TEST_F(ChangeRingTest, FindsWhatComesAfterAPosition) {  // S46
    add({"a", "b"});
    add({"c"});
    EXPECT_EQ(ring_.first_after(Position::after(LogIndex{5})), 0U);
    EXPECT_EQ(ring_.first_after({LogIndex{6}, 1}), 1U);
    EXPECT_EQ(ring_.first_after({LogIndex{6}, 2}), 2U);
    EXPECT_EQ(ring_.first_after(Position::after(LogIndex{6})), 2U);
    EXPECT_EQ(ring_.first_after({LogIndex{7}, 1}), 3U);
    EXPECT_EQ(ring_.first_after({LogIndex{9}, 1}), 3U);
}

TEST_F(ChangeRingTest, KeepsTheNewestOnes) {  // P11
    EXPECT_FALSE(ring_.has_all_after({}));
    EXPECT_FALSE(ring_.has_all_after({LogIndex{5}, 1}));
    EXPECT_TRUE(ring_.has_all_after(Position::after(LogIndex{5})));
    add({"a", "b", "c"});
    EXPECT_TRUE(ring_.has_all_after(Position::after(LogIndex{5})));
    add({"d", "e"});
    EXPECT_EQ(names(), "b@6.2 c@6.3 d@7.1 e@7.2 ");
    EXPECT_FALSE(ring_.has_all_after(Position::after(LogIndex{5})));
    EXPECT_TRUE(ring_.has_all_after({LogIndex{6}, 1}));
    for (int i = 0; i < 100; ++i)
        add({std::to_string(i)});
    EXPECT_EQ(names(), "96@104.1 97@105.1 98@106.1 99@107.1 ");
}

TEST_F(ChangeRingTest, HasALimitOfBytes) {  // P11
    add({std::string(40, 'a'), std::string(40, 'b')});
    EXPECT_EQ(ring_.size(), 2U);
    add({std::string(40, 'c')});
    EXPECT_EQ(ring_.size(), 2U);
    EXPECT_FALSE(ring_.has_all_after(Position::after(LogIndex{5})));
    EXPECT_TRUE(ring_.has_all_after({LogIndex{6}, 1}));
    add({std::string(101, 'd')});
    EXPECT_EQ(ring_.size(), 0U);
    EXPECT_TRUE(ring_.has_all_after({LogIndex{8}, 1}));
    add({"e"});
    EXPECT_EQ(names(), "e@9.1 ");
}

TEST_F(ChangeRingTest, KnowsNothingOfAStateThatWasReplaced) {  // S46
    add({"a"});
    index_ = LogIndex{20};
    ring_.restart(index_);
    EXPECT_EQ(ring_.size(), 0U);
    EXPECT_FALSE(ring_.has_all_after({LogIndex{6}, 1}));
    EXPECT_TRUE(ring_.has_all_after(Position::after(LogIndex{20})));
    add({"b"});
    EXPECT_EQ(names(), "b@21.1 ");
}

TEST_F(ChangeRingTest, TakesEveryEntry) {
    EXPECT_THROW(ring_.add(LogIndex{7}, {}), InvariantBroken);
}

}  // namespace
}  // namespace mortise::core
