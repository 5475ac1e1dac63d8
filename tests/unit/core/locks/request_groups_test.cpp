#include "core/locks/table/request_groups.hpp"

#include <gtest/gtest.h>

#include "core/base/check.hpp"

namespace mortise::core {
namespace {

constexpr Ticket group_ticket{LogIndex{1}, 0};

Waiter group_waiter(Part part, std::uint64_t session = 1) {
    Waiter waiter;
    waiter.ticket = group_ticket;
    waiter.operation = {SessionId{session}, Seq{1}};
    waiter.part = part;
    return waiter;
}

TEST(RequestGroups, KnowTheNamesOfARequest) {  // S32
    RequestGroups groups;
    EXPECT_EQ(groups.names_waited_for(group_ticket), 0U);
    EXPECT_TRUE(groups.join("a", group_waiter(Part::one_of)));
    EXPECT_TRUE(groups.join("b", group_waiter(Part::one_of)));
    EXPECT_EQ(groups.names_waited_for(group_ticket), 2U);
    groups.leave("a", group_ticket);
    EXPECT_EQ(groups.names_waited_for(group_ticket), 1U);
    EXPECT_TRUE(groups.at(group_ticket).names.contains("b"));
    groups.leave("b", group_ticket);
    EXPECT_TRUE(groups.all().empty());
    EXPECT_THROW(groups.leave("b", group_ticket), InvariantBroken);
}

TEST(RequestGroups, RefuseWhatContradictsARequest) {
    RequestGroups groups;
    EXPECT_TRUE(groups.join("a", group_waiter(Part::one_of)));
    EXPECT_FALSE(groups.join("a", group_waiter(Part::one_of)));
    EXPECT_FALSE(groups.join("b", group_waiter(Part::all_of)));
    EXPECT_FALSE(groups.join("b", group_waiter(Part::one_of, 2)));
}

TEST(RequestGroups, GiveBackARequestThatIsOver) {
    RequestGroups groups;
    groups.join("a", group_waiter(Part::all_of));
    const auto group = groups.take(group_ticket);
    EXPECT_EQ(group.part, Part::all_of);
    EXPECT_EQ(group.operation.session, SessionId{1});
    EXPECT_THROW(groups.take(group_ticket), InvariantBroken);
    groups.join("a", group_waiter(Part::one_of));
    groups.forget(group_ticket);
    groups.forget(group_ticket);
    EXPECT_EQ(groups.names_waited_for(group_ticket), 0U);
}

}  // namespace
}  // namespace mortise::core
