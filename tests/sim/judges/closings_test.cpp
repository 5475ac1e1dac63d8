// The judge of nodes that are closed in an orderly way.
#include "tests/sim/judges/closings.hpp"

#include "tests/sim/base/expect_violation.hpp"
#include "tests/sim/judges/lock_history_by_hand.hpp"

namespace mortise::sim::test {
namespace {

constexpr core::CallTag close_call{50};

// Node a has the name, and is closed.
struct ClosingsTest : LockHistoryTest {
    void SetUp() override {
        closings.has_session(a, of_a);
        acquire_and_tell(a, of_a, 1);
        closings.asked(a, close_call, {its});
    }
    void end(const std::vector<core::Command>& commands) {
        const auto applied = entry(commands);
        history.applied(a, applied);
        for (const auto& outcome : applied.outcomes) {
            const auto* ended = std::get_if<core::SessionEnded>(&outcome);
            if (ended != nullptr) closings.ended(ended->session, ended->how);
        }
    }
    void close(const std::vector<core::CallTag>& owed = {}) {
        closings.closed(a, owed, history.book());
    }
    [[nodiscard]] std::uint64_t seen(std::string_view probe) const {
        return tally.probes().at(probe);
    }

    Closings closings{violations, tally};
    core::OperationId its = operation(of_a, 1);
};

TEST_F(ClosingsTest, EndTheSession) {
    closings.lost(a, {its, core::HoldLost::Reason::node_stopped});
    closings.after_call(a);
    EXPECT_TRUE(closings.is_closing(a, close_call));
    EXPECT_FALSE(closings.is_closed(a));
    end({closing(of_a)});
    close();
    EXPECT_TRUE(closings.is_closed(a));
    EXPECT_EQ(seen("session closed while it held"), 1U);
    closings.node_lost(a);
    EXPECT_FALSE(closings.is_closing(a));
    EXPECT_FALSE(violations.first()) << violations.first()->what;
}

TEST_F(ClosingsTest, AreOverWhenTheSessionIsHoweverItEnded) {
    end({core::Expire{of_a, core::LogIndex{1}}});
    close();
    EXPECT_EQ(seen("session closed"), 0U);
    EXPECT_FALSE(violations.first()) << violations.first()->what;
}

TEST_F(ClosingsTest, NothingIsHeldAfterThatCall) {
    closings.after_call(a);
    EXPECT_VIOLATION("is still held");
}

TEST_F(ClosingsTest, NothingIsGrantedAfterThatCall) {
    closings.answered(b, {core::CallTag{7}, core::Acquired{}});
    EXPECT_FALSE(violations.first()) << violations.first()->what;
    closings.answered(a, {core::CallTag{7}, core::Acquired{}});
    EXPECT_VIOLATION("call 7 has a hold");
}

TEST_F(ClosingsTest, EveryCallIsAnsweredBefore) {
    end({closing(of_a)});
    close({core::CallTag{7}});
    EXPECT_VIOLATION("call 7 is not");
}

TEST_F(ClosingsTest, TheSessionHasEnded) {
    close();
    EXPECT_VIOLATION("its session lives");
}

TEST_F(ClosingsTest, WhatItHeldIsGivenBackAsByItsOwner) {
    closings.lost(a, {its, core::HoldLost::Reason::node_stopped});
    apply({core::Request{of_a, core::Seq{2}, core::Release{core::Seq{1}, true}}});
    end({closing(of_a)});
    close();
    EXPECT_VIOLATION("was given back as if lost");
}

// The node was suspended, and noticed the end of its lease with that call.
TEST_F(ClosingsTest, WhatItHadNoMoreMayBeGivenBackAsLost) {
    closings.lost(a, {its, core::HoldLost::Reason::expired});
    closings.after_call(a);
    apply({core::Request{of_a, core::Seq{2}, core::Release{core::Seq{1}, true}}});
    end({closing(of_a)});
    close();
    EXPECT_FALSE(violations.first()) << violations.first()->what;
}

TEST_F(ClosingsTest, WhatSomebodyBrokeMayBeGivenBackAsLost) {
    apply({core::Request{of_b, core::Seq{1}, core::BreakLock{"name", token_of(its), "why"}},
           core::Request{of_a, core::Seq{2}, core::Release{core::Seq{1}, true}}});
    end({closing(of_a)});
    close();
    EXPECT_FALSE(violations.first()) << violations.first()->what;
}

}  // namespace
}  // namespace mortise::sim::test
