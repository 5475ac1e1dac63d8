// Networks whose links become silent or break.
#include <array>
#include <optional>

#include <gtest/gtest.h>

#include "tests/unit/transport/network_support.hpp"
#include <mortise/testkit/link_proxy.hpp>

namespace mortise::transport {
namespace {

using namespace test;
using core::NodeId;
using mortise::testkit::LinkMode;
using mortise::testkit::LinkProxy;

// Two nodes that reach each other through links that can be broken.
class PeerNetworkBrokenLinksTest : public ::testing::Test {
protected:
    PeerNetworkBrokenLinksTest() {
        for (std::size_t i = 0; i < links_.size(); ++i) {
            links_[i] = proxy_.add_link();
            proxy_.set_target(links_[i], addresses_[i]);
        }
    }
    void SetUp() override {
        const auto through_links = [this](NetworkOptions& options, core::Hello&) {
            for (std::size_t i = 0; i < links_.size(); ++i)
                options.peers[i].address = proxy_.address(links_[i]);
        };
        a_.emplace(io_, 1, addresses_, through_links);
        b_.emplace(io_, 2, addresses_, through_links);
        ASSERT_TRUE(a_->start() && b_->start());
        ASSERT_TRUE(meet());
    }
    bool meet() {
        return run_until(io_, [this] { return a_->is_up(2) && b_->is_up(1); });
    }
    bool part() {
        return run_until(io_, [this] { return !a_->is_up(2) && !b_->is_up(1); });
    }
    void set_mode(LinkMode mode) {
        for (const auto link : links_)
            proxy_.set_mode(link, mode);
    }

    asio::io_context io_;
    std::vector<std::string> addresses_{free_address(), free_address()};
    LinkProxy proxy_;
    std::array<LinkProxy::Link, 2> links_{};  // to node 1, to node 2
    std::optional<Node> a_;
    std::optional<Node> b_;
};

TEST_F(PeerNetworkBrokenLinksTest, BehindSilentLinksPeersAreLostAndMetAgain) {
    set_mode(LinkMode::drop);
    a_->send(NodeId{2}, numbered(1));
    b_->send(NodeId{1}, numbered(2));
    ASSERT_TRUE(part());
    EXPECT_GT(a_->network->counters().lost_silent + b_->network->counters().lost_silent, 0U);
    EXPECT_TRUE(a_->events.messages.empty() && b_->events.messages.empty());
    set_mode(LinkMode::pass);
    ASSERT_TRUE(meet());
    a_->send(NodeId{2}, numbered(3));
    b_->send(NodeId{1}, numbered(4));
    ASSERT_TRUE(run_until(
        io_, [&] { return !a_->events.messages.empty() && !b_->events.messages.empty(); }));
    EXPECT_EQ(number_of(a_->events.messages[0].second), 4U);
    EXPECT_EQ(number_of(b_->events.messages[0].second), 3U);
}

TEST_F(PeerNetworkBrokenLinksTest, PeersWhoseConnectionsAreResetMeetAgain) {
    set_mode(LinkMode::refuse);
    ASSERT_TRUE(part());
    set_mode(LinkMode::pass);
    EXPECT_TRUE(meet());
}

}  // namespace
}  // namespace mortise::transport
