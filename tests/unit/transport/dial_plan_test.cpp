#include "transport/peers/dial_plan.hpp"

#include <optional>
#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mortise::transport {
namespace {

using ::testing::ElementsAre;

DialPlan::Endpoint endpoint_at(const char* host) {
    return {asio::ip::make_address(host), 7400};
}

class DialPlanTest : public ::testing::Test {
protected:
    DialTarget next() { return plan.next(peer, std::chrono::seconds{1}, memory); }
    std::string next_address() { return next().address; }
    void reach(const DialPlan::Endpoint& endpoint) {
        plan.connected(endpoint);
        plan.proven(peer, memory);
    }

    const DialPlan::Endpoint first = endpoint_at("192.0.2.1");
    const DialPlan::Endpoint second = endpoint_at("192.0.2.2");
    PeerAddress peer{.id = core::NodeId{2}, .address = "a:1"};
    EndpointMemory memory;
    DialPlan plan;
};

TEST_F(DialPlanTest, AlternatesBetweenTheAddressesOfThePeer) {
    peer.also = "b:1";
    EXPECT_EQ(next_address(), "a:1");
    EXPECT_EQ(next_address(), "b:1");
    EXPECT_EQ(next_address(), "a:1");
}

TEST_F(DialPlanTest, BeginsWithTheAddressThatWorkedLast) {
    peer.also = "b:1";
    EXPECT_EQ(next_address(), "a:1");
    EXPECT_EQ(next_address(), "b:1");
    reach(first);
    EXPECT_EQ(next_address(), "b:1");
    EXPECT_EQ(next_address(), "a:1");
}

TEST_F(DialPlanTest, AlternatesBetweenTheLastEndpointAndALookUp) {
    EXPECT_EQ(next().last_known, std::nullopt);
    reach(first);
    EXPECT_EQ(next().last_known, first);
    EXPECT_EQ(next().last_known, std::nullopt);
    EXPECT_EQ(next().last_known, first);
}

TEST_F(DialPlanTest, DoesNotExpectALastEndpointAtAnotherAddress) {
    EXPECT_EQ(next().last_known, std::nullopt);
    reach(first);
    peer.address = "c:1";
    EXPECT_EQ(next().last_known, std::nullopt);
}

TEST_F(DialPlanTest, AnEndpointWithoutAHelloComesLastFromThenOn) {
    std::ignore = next();
    plan.connected(first);
    EXPECT_THAT(memory.in_order("a:1", {first, second}), ElementsAre(first, second));
    std::ignore = next();
    EXPECT_THAT(memory.in_order("a:1", {first, second}), ElementsAre(second, first));
}

TEST_F(DialPlanTest, AnEndpointWithAHelloComesFirstFromThenOn) {
    std::ignore = next();
    reach(second);
    EXPECT_THAT(memory.in_order("a:1", {first, second}), ElementsAre(second, first));
    std::ignore = next();  // the connection has ended, which tells nothing about the endpoint
    EXPECT_THAT(memory.in_order("a:1", {first, second}), ElementsAre(second, first));
}

}  // namespace
}  // namespace mortise::transport
