#include "core/access/denial.hpp"

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

TEST(Denial, SaysWhatTheRulesAllow) {
    const Access jobs{{AccessRole::voter}, {{Right::acquire, "jobs/"}, {Right::observe, "a"}}};
    EXPECT_EQ(denial("node 3", jobs, Right::acquire, "orders/42").why,
              R"(node 3 may not acquire "orders/42": its certificate allows acquire on "jobs/")");
    EXPECT_EQ(denial("node 3", jobs, Right::break_lock, "jobs/1").why,
              R"(node 3 may not break "jobs/1": its certificate has rules, and none of them )"
              "allows break");
}

TEST(Denial, SaysWhichRolesThereAre) {
    const Access reads{{AccessRole::client, AccessRole::observer}, {}};
    EXPECT_EQ(denial("user alice", reads, Right::members, {}).why,
              "user alice may not change the members: its certificate has the roles client, "
              "observer only");
    const Access observes{{AccessRole::observer}, {{Right::acquire, "a"}}};
    EXPECT_EQ(denial("user bob", observes, Right::acquire, "a").why,
              R"(user bob may not acquire "a": its certificate has the role observer only)");
}

TEST(Denial, IsShortForManyRules) {
    Access access{{AccessRole::voter}, {}};
    for (const auto* prefix : {"a", "b", "c", "d", "e", "f"})
        access.rules.push_back({Right::observe, prefix});
    EXPECT_EQ(denial("node 1", access, Right::observe, "x").why,
              R"(node 1 may not observe "x": its certificate allows observe on "a", "b", "c", "d")"
              " and 2 more");
}

}  // namespace
}  // namespace mortise::core
