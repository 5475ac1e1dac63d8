#include "transport/sockets/endpoint_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mortise::transport {
namespace {

using Endpoint = EndpointMemory::Endpoint;
using testing::ElementsAre;

Endpoint at(const char* host) {
    return {asio::ip::make_address(host), 7400};
}

const auto v4_1 = at("192.0.2.1");
const auto v4_2 = at("192.0.2.2");
const auto v6_1 = at("2001:db8::1");
const auto v6_2 = at("2001:db8::2");
const auto v6_3 = at("2001:db8::3");

TEST(EndpointMemory, LetsTheFamiliesTakeTurns) {
    const EndpointMemory memory;
    EXPECT_THAT(memory.in_order("a", {v6_1, v6_2, v6_3, v4_1}),
                ElementsAre(v6_1, v4_1, v6_2, v6_3));
    EXPECT_THAT(memory.in_order("a", {v4_1, v4_2, v6_1}), ElementsAre(v4_1, v6_1, v4_2));
    EXPECT_THAT(memory.in_order("a", {}), ElementsAre());
}

TEST(EndpointMemory, BeginsWithTheOneThatWorkedLast) {
    EndpointMemory memory;
    memory.worked("a", v6_2);
    memory.worked("a", v4_1);
    EXPECT_THAT(memory.in_order("a", {v6_1, v6_2, v4_1}), ElementsAre(v4_1, v6_1, v6_2));
    EXPECT_THAT(memory.in_order("b", {v6_1, v6_2, v4_1}), ElementsAre(v6_1, v4_1, v6_2));
}

TEST(EndpointMemory, EndsWithTheOneThatFailedLast) {
    EndpointMemory memory;
    memory.worked("a", v6_1);
    memory.failed("a", v6_1);
    EXPECT_THAT(memory.in_order("a", {v6_1, v4_1}), ElementsAre(v4_1, v6_1));
    memory.failed("a", v4_1);
    EXPECT_THAT(memory.in_order("a", {v6_1, v4_1}), ElementsAre(v6_1, v4_1));
    memory.worked("a", v4_1);
    EXPECT_THAT(memory.in_order("a", {v6_1, v4_1}), ElementsAre(v4_1, v6_1));
}

TEST(EndpointMemory, HasAnEnd) {
    EndpointMemory memory;
    memory.worked("a", v4_1);
    for (std::size_t i = 0; i < EndpointMemory::addresses_max; ++i)
        memory.failed(std::to_string(i), v6_1);
    EXPECT_THAT(memory.in_order("a", {v6_1, v4_1}), ElementsAre(v6_1, v4_1));
}

}  // namespace
}  // namespace mortise::transport
