// The answers of a node to programs that are not members.
#include <vector>

#include "tests/embed/one_node.hpp"
#include "transport/clients/blocking_member_client.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise {
namespace {

Config with_a_door() {
    auto config = Config::in_memory();
    config.listen = "127.0.0.1:0";
    return config;
}

class ClientDoor : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(node_.wait_ready(std::chrono::steady_clock::now() + patience));
        ASSERT_TRUE(client_.connect(node_.status().address));
    }

    Node node_{with_a_door()};
    transport::BlockingMemberClient client_{patience};
};

// A lock with more holders than an answer contains ends its page; the next page begins after it.
TEST_F(ClientDoor, APageEndsWithALockOfManyHolders) {
    AcquireOptions shared;
    shared.mode = LockMode::shared;
    std::vector<Hold> holds;
    while (holds.size() <= transport::list_holders_max)
        holds.push_back(node_.acquire("many", shared));
    holds.push_back(node_.acquire("one"));
    const auto first = client_.list({"", "", 10, false, false});
    ASSERT_TRUE(first && std::holds_alternative<transport::ListReply>(*first));
    const auto& page = std::get<transport::ListReply>(*first);
    ASSERT_EQ(page.locks.size(), 1U);
    EXPECT_EQ(page.locks[0].holders.size(), transport::list_holders_max);
    EXPECT_EQ(page.locks[0].holders_total, transport::list_holders_max + 1);
    EXPECT_TRUE(page.more);
    const auto second = client_.list({"", "many", 10, false, false});
    ASSERT_TRUE(second && std::holds_alternative<transport::ListReply>(*second));
    const auto& last = std::get<transport::ListReply>(*second);
    ASSERT_EQ(last.locks.size(), 1U);
    EXPECT_EQ(last.locks[0].name, "one");
    EXPECT_FALSE(last.more);
}

}  // namespace
}  // namespace mortise
