// A node that would sleep past the deadline of a call is detected.
#include "tests/sim/judges/call_deadlines.hpp"

#include <gtest/gtest.h>

#include "tests/sim/base/expect_violation.hpp"
#include "tests/sim/judges/three_nodes.hpp"

namespace mortise::sim {
namespace {

constexpr core::CallTag tag{5};

struct CallDeadlinesTest : testing::Test {
    void acquire(core::Instant deadline, bool wait = true) {
        core::AcquireCall call;
        call.tag = tag;
        call.request.wait = wait;
        call.deadline = deadline;
        deadlines.asked(a, call, {1'000});
    }
    [[nodiscard]] std::string found() const {
        return violations.first() ? violations.first()->what : "";
    }

    static constexpr core::Instant now{1'010};
    Violations violations;
    CallDeadlines deadlines{core::Nanoseconds{100}, violations};
};

TEST_F(CallDeadlinesTest, AreForgottenByNobodyWhoWakesInTime) {
    acquire({1'050});
    deadlines.after_step(a, now, {1'050});
    EXPECT_EQ(found(), "");
    deadlines.after_step(a, now, {1'051});
    EXPECT_VIOLATION("nobody will end call 5 in time");
}

TEST_F(CallDeadlinesTest, ThatArePastAreLookedAtAtOnce) {
    acquire({1'005});
    deadlines.after_step(a, now, now);
    EXPECT_EQ(found(), "");
    deadlines.after_step(a, now, {1'011});
    EXPECT_VIOLATION("nobody will end call 5 in time");
}

TEST_F(CallDeadlinesTest, EndWithTheAnswer) {
    acquire({1'050});
    deadlines.answered(a, tag);
    deadlines.after_step(a, now, core::Instant::never());
    EXPECT_EQ(found(), "");
}

TEST_F(CallDeadlinesTest, EndWithTheNode) {
    acquire({1'050});
    deadlines.node_lost(a);
    deadlines.after_step(a, now, core::Instant::never());
    EXPECT_EQ(found(), "");
}

TEST_F(CallDeadlinesTest, AWaitForALockMayLastForEver) {
    acquire(core::Instant::never());
    deadlines.after_step(a, now, core::Instant::never());
    EXPECT_EQ(found(), "");
}

TEST_F(CallDeadlinesTest, ATryMayNot) {
    acquire(core::Instant::never(), false);
    deadlines.after_step(a, now, {1'101});
    EXPECT_VIOLATION("call 5");
}

TEST_F(CallDeadlinesTest, AReleaseMayNot) {
    deadlines.asked(a, core::ReleaseCall{tag, {}}, {1'000});
    deadlines.after_step(a, now, {1'101});
    EXPECT_VIOLATION("call 5");
}

}  // namespace
}  // namespace mortise::sim
