#include "core/node/client_flow.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mortise::core {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class ClientFlowTest : public testing::Test {
protected:
    using Change = ClientFlow::Change;

    std::vector<Change> asked(ClientId client, std::uint64_t last, std::uint64_t applied = 0) {
        flow_.asked(client, Seq{applied}, Seq{last}, 1s);
        return flow_.take_changes();
    }
    std::vector<Change> applied(ClientId client, std::uint64_t last) {
        flow_.applied(client, Seq{last});
        return flow_.take_changes();
    }
    static Change pause(ClientId client) { return {client, 1s}; }
    static Change resume(ClientId client) { return {client, {}}; }

    static constexpr ClientId a{1};
    static constexpr ClientId b{2};
    ClientFlow flow_;
};

TEST_F(ClientFlowTest, OneAloneMayHaveEverythingUnderWay) {
    EXPECT_THAT(asked(a, 4'096), IsEmpty());
    EXPECT_THAT(asked(a, 4'097), ElementsAre(pause(a)));
    EXPECT_THAT(applied(a, 1), ElementsAre(resume(a)));
}

TEST_F(ClientFlowTest, WhatIsAppliedAlreadyDoesNotCount) {
    EXPECT_THAT(asked(a, 14'096, 10'000), IsEmpty());
    EXPECT_THAT(asked(a, 9'000, 14'096), IsEmpty());
}

TEST_F(ClientFlowTest, SeveralHaveEqualShares) {
    EXPECT_THAT(asked(b, 1), IsEmpty());
    EXPECT_THAT(asked(a, 2'048), IsEmpty());
    EXPECT_THAT(asked(a, 2'049), ElementsAre(pause(a)));
    EXPECT_THAT(asked(b, 2'048), IsEmpty());
    EXPECT_THAT(applied(a, 0), IsEmpty());
    EXPECT_THAT(applied(a, 1), ElementsAre(resume(a)));
    EXPECT_THAT(applied(a, 2), IsEmpty()) << "it may say more already";
}

TEST_F(ClientFlowTest, WhoHasNothingUnderWayTakesNoShare) {
    asked(b, 10);
    applied(b, 10);
    EXPECT_THAT(asked(a, 4'096), IsEmpty());
}

TEST_F(ClientFlowTest, EverybodyHasALittle) {
    for (std::uint64_t id = 1; id <= 1'000; ++id)
        EXPECT_THAT(asked(ClientId{id}, 64), IsEmpty());
    EXPECT_THAT(asked(a, 65), ElementsAre(pause(a)));
}

// A pause ends by itself.
TEST_F(ClientFlowTest, WhoGoesOnIsPausedAgain) {
    EXPECT_THAT(asked(a, 5'000), ElementsAre(pause(a)));
    EXPECT_THAT(asked(a, 5'001), ElementsAre(pause(a)));
    EXPECT_THAT(applied(a, 5'001), ElementsAre(resume(a)));
}

TEST_F(ClientFlowTest, WhatCannotBeAppliedAnyMoreHoldsNobodyUp) {
    asked(a, 5'000);
    asked(b, 5'000);
    flow_.forget(a);
    EXPECT_THAT(flow_.take_changes(), ElementsAre(resume(a)));
    flow_.forget_all();
    EXPECT_THAT(flow_.take_changes(), ElementsAre(resume(b)));
    EXPECT_THAT(applied(b, 1), IsEmpty());
    EXPECT_THAT(asked(b, 4'096), IsEmpty());
}

TEST_F(ClientFlowTest, WhoseRequestsAreDroppedIsPaused) {
    flow_.dropped(a, 1s);
    EXPECT_THAT(flow_.take_changes(), ElementsAre(pause(a)));
    EXPECT_THAT(asked(b, 4'096), IsEmpty());
}

}  // namespace
}  // namespace mortise::core
