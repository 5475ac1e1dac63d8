// What programs that are no members may do to one: ask, and nothing else.
#include <vector>

#include "core/codec/command_codec.hpp"
#include "tests/embed/one_node.hpp"
#include "transport/blocking_member_client.hpp"
#include "transport/limits.hpp"

namespace mortise {
namespace {

Config with_a_door() {
    auto config = Config::in_memory();
    config.listen = "127.0.0.1:0";
    return config;
}

core::Bytes batch(const core::Command& command) {
    core::BatchBuilder one;
    one.add(command);
    return one.take();
}

class ClientDoor : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(node_.wait_ready(std::chrono::steady_clock::now() + patience));
        ASSERT_TRUE(client_.connect(node_.status().address));
        session_ = core::SessionId{node_.status().session};
        ASSERT_TRUE(session_.is_set());
    }
    // What may end, prolong or use a session, or make one.
    [[nodiscard]] std::vector<core::Forward> mischief() const {
        const core::OpenSession opening{
            7, core::NodeId{9}, core::Incarnation{9}, core::BootEpoch{1}, 60'000, 0, false};
        const auto request = [&](std::uint64_t seq, core::RequestBody body) {
            return core::Forward{
                batch(core::Request{session_, core::Seq{seq}, {}, std::move(body)}), {}, {}};
        };
        std::vector<core::Forward> all;
        for (std::uint64_t seq = 1; seq <= 16; ++seq) {
            all.push_back(request(1'000 + 2 * seq, core::Release{core::Seq{seq}}));
            all.push_back(request(2'000 + 2 * seq, core::Cancel{core::Seq{seq}}));
        }
        all.push_back({batch(opening), {}, {}});
        all.push_back({batch(core::Renew{{{session_, UINT64_MAX}}}), {}, {}});
        all.push_back({{}, {}, core::Renewal{session_, UINT64_MAX}});
        all.push_back({batch(core::CloseSession{session_}), {}, {}});
        return all;
    }

    Node node_{with_a_door()};
    transport::BlockingMemberClient client_{patience};
    core::SessionId session_;
};

TEST_F(ClientDoor, NothingThatAClientForwardsChangesAnything) {
    const auto hold = node_.acquire("x");
    for (const auto& forward : mischief()) {
        const auto reply = client_.forward(forward);
        ASSERT_TRUE(reply);
        EXPECT_FALSE(reply->taken);
        EXPECT_TRUE(reply->leader.has_value());
    }
    // Behind all of that in the log, had any of it got there.
    const auto after = node_.acquire("y");
    EXPECT_TRUE(hold.valid());
    EXPECT_TRUE(after.valid());
    const auto status = node_.status();
    EXPECT_FALSE(status.stopped) << status.why_stopped;
    EXPECT_EQ(status.session, session_.raw());
    const auto told = client_.status();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->sessions, 1U);
}

// One lock with more holders than are told ends its page; the next begins behind it.
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
    EXPECT_TRUE(page.truncated);
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
