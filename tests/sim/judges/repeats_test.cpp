// The counting of duplicate requests in a log made by hand.
#include "tests/sim/judges/repeats.hpp"

#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace mortise::sim {
namespace {

class RepeatsTest : public testing::Test {
protected:
    void read(std::uint64_t seq, core::RequestBody body, std::uint64_t term = 1) {
        repeats_.read(core::Term{term}, of(seq, std::move(body)), false);
    }
    static core::Request of(std::uint64_t seq, core::RequestBody body) {
        return {core::SessionId{1}, core::Seq{seq}, std::move(body)};
    }
    [[nodiscard]] std::uint64_t count(std::string_view probe) const {
        return tally_.probes().at(probe);
    }

    Tally tally_;
    Repeats repeats_{tally_};
};

TEST_F(RepeatsTest, AreToldByKind) {
    read(1, core::Acquire{});
    read(2, core::Upgrade{core::Seq{1}});
    EXPECT_EQ(count("repeat in the log: acquire"), 0U);
    read(1, core::Acquire{});
    read(2, core::Upgrade{core::Seq{1}});
    read(2, core::Upgrade{core::Seq{1}});
    EXPECT_EQ(count("repeat in the log: acquire"), 1U);
    EXPECT_EQ(count("repeat in the log: upgrade"), 2U);
    EXPECT_EQ(count("repeat in a later term"), 0U);
    read(2, core::Upgrade{core::Seq{1}}, 2);
    EXPECT_EQ(count("repeat in a later term"), 1U);
}

TEST_F(RepeatsTest, AreToldApartByTheNumberOfNames) {
    core::Acquire several;
    several.names = {{"a"}, {"b"}};
    read(1, several);
    read(1, several);
    EXPECT_EQ(count("repeat in the log: several names"), 1U);
    EXPECT_EQ(count("repeat in the log: acquire"), 0U);
}

TEST_F(RepeatsTest, MayComeBehindTheirCancel) {
    read(1, core::Acquire{});
    read(1, core::Acquire{});
    read(2, core::Cancel{core::Seq{1}});
    EXPECT_EQ(count("repeat behind its cancel"), 0U);
    read(1, core::Acquire{});
    EXPECT_EQ(count("repeat behind its cancel"), 1U);
}

TEST_F(RepeatsTest, WhatIsDeclinedIsSentAgainAsItWas) {
    read(1, core::Declined{});
    read(1, core::Acquire{});
    EXPECT_EQ(count("repeat in the log: acquire"), 1U);
    read(1, core::Declined{});
    EXPECT_EQ(count("repeat in the log: declined"), 1U);
}

TEST_F(RepeatsTest, WhatTheDeadAskForIsNoRepeat) {
    read(1, core::Acquire{});
    repeats_.read(core::Term{1}, of(1, core::Acquire{}), true);
    EXPECT_EQ(count("request of an ended session in the log"), 1U);
    EXPECT_EQ(count("repeat in the log: acquire"), 0U);
}

TEST_F(RepeatsTest, TheEndOfASessionIsRepeatedAfterTheSession) {
    read(1, core::CloseSession{});
    EXPECT_EQ(count("repeat in the log: end of the session"), 0U);
    repeats_.read(core::Term{1}, of(1, core::CloseSession{}), true);
    EXPECT_EQ(count("repeat in the log: end of the session"), 1U);
}

}  // namespace
}  // namespace mortise::sim
