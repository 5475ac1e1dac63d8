#include "transport/clients/client_rights.hpp"

#include <gtest/gtest.h>

namespace mortise::transport {
namespace {

using core::AccessRole;
using core::Right;

core::Identity alice(AccessRole role, std::vector<core::AccessRule> rules = {}) {
    return {"orders", {}, "alice", {{role}, std::move(rules)}};
}

TEST(ClientRights, WithoutTlsTheirMachineDecides) {
    for (const auto right : {Right::members, Right::break_lock}) {
        EXPECT_FALSE(client_denial({nullptr, true}, right, {}));
        const auto denied = client_denial({nullptr, false}, right, {});
        ASSERT_TRUE(denied);
        EXPECT_NE(denied->why.find("own machine"), std::string::npos);
    }
    EXPECT_FALSE(client_denial({nullptr, false}, Right::observe, "a"));
}

// Being on the member's machine adds nothing to a certificate.
TEST(ClientRights, WithTlsTheirCertificateDecides) {
    const auto observer = alice(AccessRole::observer);
    for (const bool is_local : {false, true}) {
        EXPECT_FALSE(client_denial({&observer, is_local}, Right::observe, "a"));
        EXPECT_TRUE(client_denial({&observer, is_local}, Right::break_lock, "a"));
        const auto denied = client_denial({&observer, is_local}, Right::members, {});
        ASSERT_TRUE(denied);
        EXPECT_EQ(denied->why,
                  "user alice may not change the members: its certificate has the role observer "
                  "only");
    }
    const auto admin = alice(AccessRole::admin);
    EXPECT_FALSE(client_denial({&admin, false}, Right::members, {}));
    EXPECT_FALSE(client_denial({&admin, false}, Right::break_lock, "a"));
}

TEST(ClientRights, ToListTakeThemOnEveryNameOfTheListing) {
    const auto jobs = alice(AccessRole::observer, {{Right::observe, "jobs/"}});
    EXPECT_FALSE(client_denial({&jobs, false}, Right::observe, "jobs/a"));
    EXPECT_TRUE(client_denial({&jobs, false}, Right::observe, ""));
    EXPECT_TRUE(client_denial({&jobs, false}, Right::observe, "job"));
}

}  // namespace
}  // namespace mortise::transport
