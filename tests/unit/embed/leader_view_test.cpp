#include "embed/api/leader_view.hpp"

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

class LeaderViewTest : public testing::Test {
protected:
    static HolderInfo holder(int number, LockMode mode = LockMode::exclusive) {
        HolderInfo info;
        info.node = static_cast<NodeId>(number);
        info.mode = mode;
        info.token = FencingToken::from_raw(number);
        return info;
    }
    static Event event(Event::Kind kind, HolderInfo of = {}) {
        Event made;
        made.kind = kind;
        made.holder = std::move(of);
        return made;
    }
    // The value that the holder with that token has published.
    static Event written(int number, std::string_view value) {
        auto made = event(Event::Kind::value_set, holder(number));
        made.value = LockValue{published(FencingToken::from_raw(number), value), 1, false};
        return made;
    }
    // What the program is told: the value of the leader, a dash, or nothing.
    std::string told(const Event& of) {
        const auto news = view_.take(of);
        if (!news) return "";
        return *news ? (*news)->value : "-";
    }
    void begin() {
        told(event(Event::Kind::gap));
        EXPECT_EQ(told(event(Event::Kind::state_complete)), "-");
    }

    LeaderView view_;
};

TEST_F(LeaderViewTest, BeginsWhenTheStateIsComplete) {  // S35
    EXPECT_EQ(told(event(Event::Kind::gap)), "");
    auto state = event(Event::Kind::state);
    state.holders = {holder(7)};
    state.value = LockValue{published(FencingToken::from_raw(7), "here"), 1, false};
    EXPECT_EQ(told(state), "");
    EXPECT_EQ(told(event(Event::Kind::state_complete)), "here");
}

TEST_F(LeaderViewTest, EachLeaderIsToldOnce) {  // S35
    begin();
    EXPECT_EQ(told(event(Event::Kind::granted, holder(1))), "");
    EXPECT_EQ(told(written(1, "one")), "one");
    EXPECT_EQ(told(event(Event::Kind::value_consistent, holder(1))), "");
    EXPECT_EQ(told(event(Event::Kind::released, holder(1))), "-");
    EXPECT_EQ(told(event(Event::Kind::value_dirty, holder(1))), "");
}

TEST_F(LeaderViewTest, AnotherHolderHasNoValueYet) {  // S35
    begin();
    told(event(Event::Kind::granted, holder(1)));
    told(written(1, "one"));
    told(event(Event::Kind::released, holder(1)));
    EXPECT_EQ(told(event(Event::Kind::granted, holder(12))), "");
    EXPECT_EQ(told(written(12, "two")), "two");
}

TEST_F(LeaderViewTest, AReaderDoesNotLead) {
    begin();
    told(event(Event::Kind::granted, holder(1)));
    EXPECT_EQ(told(written(1, "one")), "one");
    EXPECT_EQ(told(event(Event::Kind::converted, holder(1, LockMode::shared))), "-");
}

TEST_F(LeaderViewTest, AGapTellsOnlyWhatIsNew) {  // S46
    begin();
    told(event(Event::Kind::granted, holder(1)));
    told(written(1, "one"));
    EXPECT_EQ(told(event(Event::Kind::gap)), "");
    auto state = event(Event::Kind::state);
    state.holders = {holder(1)};
    state.value = LockValue{published(FencingToken::from_raw(1), "one"), 1, false};
    told(state);
    EXPECT_EQ(told(event(Event::Kind::state_complete)), "");
    told(event(Event::Kind::gap));
    EXPECT_EQ(told(event(Event::Kind::state_complete)), "-");
}

TEST_F(LeaderViewTest, AValueMayBeEmptyOrHaveBlanks) {  // S35
    begin();
    told(event(Event::Kind::granted, holder(1)));
    EXPECT_EQ(told(written(1, "a b ")), "a b ");
    EXPECT_EQ(view_.take(written(1, "")).value().value().value, "");
    EXPECT_EQ(told(event(Event::Kind::value_removed, holder(1))), "-");
}

}  // namespace
}  // namespace mortise::detail
