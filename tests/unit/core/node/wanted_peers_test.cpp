#include "core/node/wanted_peers.hpp"

#include <gtest/gtest.h>

#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

constexpr Nanoseconds wanted_for = std::chrono::seconds{2};
constexpr Nanoseconds tick = std::chrono::seconds{1};

Configuration configuration_of(std::initializer_list<std::uint64_t> ids) {
    Configuration configuration;
    configuration.cluster = {7, 9};
    for (const auto id : ids) {
        configuration.voters.push_back(
            {NodeId{id}, Incarnation{10 + id}, "host" + std::to_string(id)});
    }
    return configuration;
}

std::vector<NodeId> ids_of(const std::optional<std::vector<Member>>& peers) {
    std::vector<NodeId> ids;
    for (const auto& peer : peers.value_or(std::vector<Member>{}))
        ids.push_back(peer.id);
    return ids;
}

using Ids = std::vector<NodeId>;

TEST(WantedPeers, AreTheMembersAndToldOncePerConfiguration) {
    WantedPeers wanted{wanted_for};
    EXPECT_FALSE(wanted.take_changed({}, {}, start));
    const auto two = configuration_of({1, 2});
    EXPECT_EQ(ids_of(wanted.take_changed(two, log_id(1, 1), start)), (Ids{n1, n2}));
    EXPECT_FALSE(wanted.take_changed(two, log_id(1, 1), start));
    const auto three = configuration_of({1, 2, 3});
    EXPECT_EQ(ids_of(wanted.take_changed(three, log_id(1, 2), start)), (Ids{n1, n2, n3}));
}

TEST(WantedPeers, ANewNodeIsWantedForAWhileAfterItWasLastExpected) {
    WantedPeers wanted{wanted_for};
    const auto members = configuration_of({1, 2});
    (void)wanted.take_changed(members, log_id(1, 1), start);
    wanted.expect(n3, "host3", start);
    EXPECT_EQ(wanted.deadline(), start + wanted_for);
    EXPECT_EQ(ids_of(wanted.take_changed(members, log_id(1, 1), start)), (Ids{n1, n2, n3}));
    wanted.expect(n3, "host3", start + tick);
    EXPECT_FALSE(wanted.take_changed(members, log_id(1, 1), start + wanted_for));
    EXPECT_EQ(ids_of(wanted.take_changed(members, log_id(1, 1), start + tick + wanted_for)),
              (Ids{n1, n2}));
    EXPECT_EQ(wanted.deadline(), Instant::never());
}

TEST(WantedPeers, ARemovedMemberIsWantedForAWhileAtItsAddress) {
    WantedPeers wanted{wanted_for};
    (void)wanted.take_changed(configuration_of({1, 2, 3}), log_id(1, 1), start);
    const auto rest = configuration_of({1, 2});
    const auto peers = wanted.take_changed(rest, log_id(1, 2), start);
    ASSERT_EQ(ids_of(peers), (Ids{n1, n2, n3}));
    EXPECT_EQ(peers->back(), (Member{n3, {}, "host3"}));
    EXPECT_EQ(ids_of(wanted.take_changed(rest, log_id(1, 2), start + wanted_for)), (Ids{n1, n2}));
}

TEST(WantedPeers, MoreThanTheClusterCouldHaveAreNotExpected) {
    WantedPeers wanted{wanted_for};
    constexpr std::uint64_t first = 100;
    for (std::uint64_t id = first; id <= first + members_max; ++id)
        wanted.expect(NodeId{id}, "host" + std::to_string(id), start);
    const auto peers = wanted.take_changed(configuration_of({1}), log_id(1, 1), start);
    ASSERT_TRUE(peers);
    EXPECT_EQ(peers->size(), 1 + members_max);
    EXPECT_EQ(peers->back().id, NodeId{first + members_max - 1});
}

}  // namespace
}  // namespace mortise::core::test
