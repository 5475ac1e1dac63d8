#include "embed/translate.hpp"

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

transport::MemberStatus formed() {
    transport::MemberStatus member;
    member.self = core::NodeId{2};
    member.cluster = {7, 9};
    member.leader = core::NodeId{1};
    member.term = core::Term{3};
    for (std::uint64_t id = 1; id <= 3; ++id) {
        transport::MemberInfo info;
        info.member = {core::NodeId{id}, {}, "host:" + std::to_string(id)};
        info.is_voter = id != 3;
        member.members.push_back(info);
    }
    return member;
}

TEST(StatusOf, AMemberIsWhatItSaysOfItself) {
    auto member = formed();
    member.ready = true;
    member.session = core::SessionId{5};
    const auto status = status_of(member);
    EXPECT_EQ(status.id, 2U);
    EXPECT_EQ(status.address, "host:2");
    EXPECT_EQ(status.role, Role::voter);
    EXPECT_EQ(status.leader, NodeId{1});
    EXPECT_EQ(status.term, 3U);
    EXPECT_EQ(status.session, 5U);
    ASSERT_EQ(status.members.size(), 3U);
    EXPECT_EQ(status.members.at(2).role, Role::learner);
    EXPECT_TRUE(status.ready);
    EXPECT_EQ(status.why_not_ready, "");
}

TEST(StatusOf, SaysWhatIsMissingFirst) {
    auto member = formed();
    EXPECT_EQ(status_of(member).why_not_ready, "no session is open yet");
    member.leader.reset();
    EXPECT_EQ(status_of(member).why_not_ready, "no leader is known");
    member.cluster = {};
    EXPECT_EQ(status_of(member).why_not_ready,
              "the cluster is not formed yet: every configured voter must be up once");
}

}  // namespace
}  // namespace mortise::detail
