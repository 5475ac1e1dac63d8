#include <initializer_list>
#include <string_view>

#include <gtest/gtest.h>

#include <mortise/enums.hpp>
#include <mortise/event.hpp>
#include <mortise/observe.hpp>

namespace mortise {
namespace {

// Scripts and dashboards use these names, so they must not change.
template <class Enum>
void expect_names(std::initializer_list<std::string_view> names) {
    std::uint8_t value = 0;
    for (const auto name : names)
        EXPECT_EQ(to_string(static_cast<Enum>(value++)), name);
    EXPECT_EQ(to_string(static_cast<Enum>(value)), "unknown");
}

TEST(Enums, HaveNames) {
    expect_names<LockMode>({"intent_shared", "intent_exclusive", "shared",
                            "shared_intent_exclusive", "update", "exclusive"});
    expect_names<QueuePolicy>({"phase_fair", "fifo", "prefer_readers", "prefer_writers"});
    expect_names<HoldState>({"held", "at_risk", "suspended", "lost", "released"});
    expect_names<LossReason>({"none", "expired", "broken", "node_stopped", "forked"});
    expect_names<Predecessor>({"none", "clean", "expired", "broken"});
    expect_names<ClosedBy>({"broken", "min_hold", "lock_delay"});
    expect_names<BreakMode>({"confirmed", "immediate"});
    expect_names<OnUncertain>({"lose", "suspend"});
    expect_names<ReadLevel>({"linearizable", "local"});
    expect_names<Role>({"voter", "learner", "client"});
    expect_names<Standing>({"follower", "pre_candidate", "candidate", "leader"});
    expect_names<NameKind>({"lock", "semaphore", "latch", "barrier"});
    expect_names<LogLevel>({"debug", "info", "warn", "error", "off"});
    expect_names<LogFormat>({"text", "json"});
    expect_names<Durability>({"synced", "replicated"});
}

TEST(Enums, ForEventsHaveNames) {
    expect_names<NodeEvent::Kind>(
        {"ready",     "not_ready",    "became_leader",       "lost_leadership", "leader_changed",
         "peer_up",   "peer_down",    "session_opened",      "session_expired", "hold_lost",
         "not_held",  "loop_overrun", "slow_callback",       "stopped",         "members_changed",
         "removed",   "lock_broken",  "certificate_expires", "member_added",    "member_removed",
         "suspended", "resumed",      "timing_differs",      "slow_hold",       "long_wait"});
    expect_names<Event::Kind>({"gap", "state", "state_complete", "granted", "converted",
                               "published", "released", "value_set", "value_removed", "value_dirty",
                               "value_consistent"});
}

}  // namespace
}  // namespace mortise
