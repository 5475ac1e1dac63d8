#include "core/access/identity.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

using namespace mortise::core;

namespace {

using Uris = std::vector<std::string>;

const Uris node_one{"mortise://orders/node/1", "mortise://orders/role/voter"};
const Uris alice{"mortise://orders/user/alice@example.org", "mortise://orders/role/admin"};

Uris with(Uris uris, const std::string& more) {
    uris.push_back(more);
    return uris;
}

std::string problem_of(const Uris& uris) {
    const auto identity = identity_from(uris);
    return identity ? "" : identity.error().what;
}

Access access_of(AccessRole role, std::vector<AccessRule> rules = {}) {
    return {{role}, std::move(rules)};
}

}  // namespace

TEST(Identity, NamesANodeOfACluster) {
    const auto identity = identity_from(node_one);
    ASSERT_TRUE(identity) << identity.error().what;
    EXPECT_EQ(identity->cluster, "orders");
    EXPECT_EQ(identity->node, NodeId{1});
    EXPECT_EQ(identity->name(), "node 1");
    EXPECT_TRUE(identity->access.has(AccessRole::voter));
}

TEST(Identity, NamesAUser) {
    const auto identity = identity_from(alice);
    ASSERT_TRUE(identity) << identity.error().what;
    EXPECT_FALSE(identity->node.is_set());
    EXPECT_EQ(identity->name(), "user alice@example.org");
}

TEST(Identity, PassesOverUrisOfOtherSchemes) {
    EXPECT_TRUE(identity_from(with(node_one, "spiffe://example.org/node/2")));
}

TEST(Identity, IsRefusedWhenItIsNotOfOneNodeOrUserOfOneCluster) {
    EXPECT_NE(problem_of({}), "");
    EXPECT_NE(problem_of({"mortise://orders/role/voter"}), "");
    EXPECT_NE(problem_of({"mortise://orders/node/1"}), "");  // no role
    EXPECT_NE(problem_of(with(node_one, "mortise://orders/node/2")), "");
    EXPECT_NE(problem_of(with(node_one, "mortise://orders/user/alice")), "");
    EXPECT_NE(problem_of(with(node_one, "mortise://billing/role/voter")), "");
    EXPECT_NE(problem_of(with(alice, "mortise://orders/user/bob")), "");
}

TEST(Identity, HasRolesThatFitWhomItNames) {
    EXPECT_NE(problem_of({"mortise://orders/node/1", "mortise://orders/role/admin"}), "");
    EXPECT_NE(problem_of({"mortise://orders/user/alice", "mortise://orders/role/voter"}), "");
    EXPECT_EQ(problem_of({"mortise://orders/node/1", "mortise://orders/role/learner"}), "");
}

TEST(Identity, WithWhatThisVersionDoesNotUnderstandIsRefused) {
    for (const auto* uri :
         {"mortise://orders/node/0", "mortise://orders/node/1x", "mortise://orders/node/",
          "mortise://orders/node/18446744073709551616", "mortise://orders/role/",
          "mortise://orders/role/root", "mortise://orders/may/", "mortise://orders/may/everything",
          "mortise://orders/may/acquire/%4", "mortise://orders/may/acquire/%zz",
          "mortise://orders/may/members/x", "mortise://orders/may/acquire",
          "MORTISE://orders/may/acquire/x", "mortise:orders/may/acquire/x",
          "mortise://orders/not-before/2030", "mortise://orders", "mortise:///node/1",
          "mortise://"})
        EXPECT_NE(problem_of(with(node_one, uri)), "") << uri;
}

TEST(Identity, HasABoundOnItsRules) {
    auto uris = node_one;
    for (std::size_t i = 0; i < access_rules_max; ++i)
        uris.push_back("mortise://orders/may/acquire/" + std::to_string(i));
    EXPECT_EQ(problem_of(uris), "");
    EXPECT_NE(problem_of(with(uris, "mortise://orders/may/acquire/x")), "");
    const std::string longest(access_prefix_bytes_max, 'p');
    EXPECT_EQ(problem_of(with(node_one, "mortise://orders/may/acquire/" + longest)), "");
    EXPECT_NE(problem_of(with(node_one, "mortise://orders/may/acquire/" + longest + "p")), "");
}

TEST(Identity, ComesBackAsItWasWritten) {
    Identity identity{"orders", NodeId{7}, {}, access_of(AccessRole::learner)};
    identity.access.rules = {{Right::acquire, std::string{"jobs/\0 %\xff?#", 12}},
                             {Right::observe, ""},
                             {Right::members, ""}};
    const auto read = identity_from(uris_of(identity));
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(*read, identity);
}

TEST(Access, ByARoleCoversEveryName) {
    EXPECT_TRUE(access_of(AccessRole::voter).may(Right::acquire, "x"));
    EXPECT_TRUE(access_of(AccessRole::client).may(Right::acquire, "x"));
    EXPECT_FALSE(access_of(AccessRole::client).may(Right::break_lock, "x"));
    EXPECT_FALSE(access_of(AccessRole::observer).may(Right::acquire, "x"));
    EXPECT_TRUE(access_of(AccessRole::observer).may(Right::observe, "x"));
    EXPECT_FALSE(access_of(AccessRole::observer).may(Right::members, ""));
    EXPECT_TRUE(access_of(AccessRole::admin).may(Right::members, ""));
    EXPECT_FALSE(access_of(AccessRole::admin).may(Right::acquire, "x"));
    EXPECT_FALSE(Access{}.may(Right::observe, "x"));
}

TEST(Access, WithRulesIsOnlyWhatARuleAndARoleGive) {
    const auto jobs =
        access_of(AccessRole::client, {{Right::acquire, "jobs/"}, {Right::break_lock, "jobs/"}});
    EXPECT_TRUE(jobs.may(Right::acquire, "jobs/nightly"));
    EXPECT_FALSE(jobs.may(Right::acquire, "orders/42"));
    EXPECT_FALSE(jobs.may(Right::acquire, "job"));
    EXPECT_FALSE(jobs.may(Right::observe, "jobs/nightly"));     // a role gives it, no rule does
    EXPECT_FALSE(jobs.may(Right::break_lock, "jobs/nightly"));  // a rule gives it, no role does
}

TEST(Access, ToAPrefixIsToEveryNameBehindIt) {
    const auto jobs = access_of(AccessRole::observer, {{Right::observe, "jobs/"}});
    EXPECT_TRUE(jobs.may_all(Right::observe, "jobs/a"));
    EXPECT_TRUE(jobs.may_all(Right::observe, "jobs/"));
    EXPECT_FALSE(jobs.may_all(Right::observe, "job"));
    EXPECT_FALSE(jobs.may_all(Right::observe, ""));
    EXPECT_TRUE(access_of(AccessRole::observer).may_all(Right::observe, ""));
}

// A member opens the sessions of clients that it covers.
TEST(Access, CoversWhatItAllows) {
    const auto all = Access::all();
    const auto client = access_of(AccessRole::client);
    const auto jobs = access_of(AccessRole::voter, {{Right::acquire, "jobs/"}});
    const auto nightly = access_of(AccessRole::client, {{Right::acquire, "jobs/nightly"}});
    EXPECT_TRUE(all.covers(client) && all.covers(jobs) && all.covers(nightly));
    EXPECT_TRUE(jobs.covers(nightly) && jobs.covers(jobs) && client.covers(nightly));
    EXPECT_FALSE(jobs.covers(client));
    EXPECT_FALSE(jobs.covers(all));
    EXPECT_FALSE(nightly.covers(jobs));
    EXPECT_FALSE(jobs.covers(
        access_of(AccessRole::client, {{Right::acquire, "jobs/"}, {Right::observe, ""}})));
    // A rule without a role gives nothing.
    EXPECT_TRUE(jobs.covers(
        access_of(AccessRole::client, {{Right::acquire, "jobs/"}, {Right::break_lock, ""}})));
}
