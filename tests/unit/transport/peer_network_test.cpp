#include "transport/network/peer_network.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <thread>

#include <asio/post.hpp>
#include <asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/prng.hpp"
#include "tests/unit/transport/network_support.hpp"
namespace mortise::transport {
namespace {

using namespace test;
using core::LogId;
using core::LogIndex;
using core::NodeId;
using core::PeerMessage;
using core::Term;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

core::Entry entry(std::uint64_t index, std::string payload) {
    return core::make_entry({Term{3}, LogIndex{index}}, core::EntryKind::commands,
                            core::Bytes{std::move(payload)});
}

core::SnapshotChunk snapshot_chunk(std::size_t row_bytes) {
    core::SnapshotChunk chunk;
    chunk.term = Term{10};
    chunk.configuration.cluster = {1, 2};
    chunk.configuration.voters = {{NodeId{1}, core::Incarnation{1}, "one:1"}};
    chunk.rows = {{"key", std::string(row_bytes, 'x')}};
    return chunk;
}

std::vector<PeerMessage> one_of_each_kind() {
    const LogId last{Term{2}, LogIndex{5}};
    std::vector<core::RaftMessage> raft{
        core::PreVoteRequest{Term{1}, 1, last},
        core::PreVoteReply{Term{2}, 1, true},
        core::VoteRequest{Term{3}, 1, last, true},
        core::VoteReply{Term{4}, 1, true},
        core::AppendRequest{Term{5}, last, LogIndex{4}, LogIndex{3}, 7, {entry(6, "payload")}},
        core::AppendReply{Term{6}, 7, false, LogIndex{5}, {}, {}, {}},
        core::TimeoutNow{Term{7}, last},
        core::ReadRequest{Term{8}, core::ReadId{9}},
        core::ReadReply{Term{9}, core::ReadId{9}, LogIndex{5}},
        snapshot_chunk(10),
        core::SnapshotReply{Term{10}, last, 1, false, false},
        core::NotAMember{Term{11}, last}};
    std::vector<PeerMessage> all(raft.begin(), raft.end());
    all.emplace_back(core::FormationOffer{
        core::make_entry({Term{1}, LogIndex{1}}, core::EntryKind::configuration,
                         core::Bytes{std::string{"configuration"}})});
    all.emplace_back(core::Forward{core::Bytes{std::string{"requests"}}, {}});
    const core::MembershipGoal goal{core::MembershipGoal::Kind::learner, NodeId{4}, "four:4"};
    all.emplace_back(core::MembershipRequest{core::ChangeId{1}, goal, {}, {}, false});
    all.emplace_back(core::MembershipReply{core::ChangeId{1}, {}, {}, LogIndex{5}, Term{2}});
    return all;
}

// Identifies the kind of a message, and distinguishes two messages of one kind.
std::string key_of(const PeerMessage& message) {
    const auto* raft = std::get_if<core::RaftMessage>(&message);
    if (raft == nullptr) return "message " + std::to_string(message.index());
    return "raft " + std::to_string(raft->index()) + " of term " +
           std::to_string(core::term_of(*raft).raw());
}

class PeerNetworkTest : public testing::Test {
protected:
    using Change = std::function<void(NetworkOptions&, core::Hello&)>;

    Node& add(std::uint64_t id, Change change = {}) {
        auto& node = nodes_[id - 1];
        node = std::make_unique<Node>(io_, id, addresses_, std::move(change));
        EXPECT_TRUE(node->start());
        return *node;
    }
    bool meet(Node& a, Node& b) {
        return run_until(
            io_, [&] { return a.is_up(b.options.self.raw()) && b.is_up(a.options.self.raw()); });
    }

    asio::io_context io_;
    std::vector<std::string> addresses_{free_address(), free_address()};
    std::array<std::unique_ptr<Node>, 3> nodes_;
};

TEST_F(PeerNetworkTest, TwoNodesHearEachOthersHello) {
    auto& a = add(1);
    auto& b = add(2);
    ASSERT_TRUE(meet(a, b));
    EXPECT_THAT(a.events.ups, ElementsAre(b.events.own));
    EXPECT_THAT(b.events.ups, ElementsAre(a.events.own));
    EXPECT_THAT(a.events.downs, SizeIs(0));
}

// A member that the other does not know yet: it sends its address, and is accepted when it is a
// peer.
TEST_F(PeerNetworkTest, ACallerWhoIsNoPeerSaysWhereItIs) {  // P7
    auto& a = add(1, [](NetworkOptions& options, core::Hello&) { options.peers.clear(); });
    auto& b = add(2, [&](NetworkOptions&, core::Hello& own) {
        own.cluster = {1, 2};
        own.address = addresses_[1];
    });
    ASSERT_TRUE(run_until(io_, [&] { return !a.events.callers.empty(); }));
    EXPECT_EQ(a.events.callers.front(), b.events.own);
    EXPECT_GE(a.network->counters().refused.of(Refusal::unknown_node), 1U);
    EXPECT_FALSE(a.is_up(2));
    a.network->set_peers({{NodeId{2}, a.events.callers.front().address}});
    EXPECT_TRUE(meet(a, b));
}

TEST_F(PeerNetworkTest, MessagesOfEveryKindArriveInBothDirections) {
    auto& a = add(1);
    auto& b = add(2);
    ASSERT_TRUE(meet(a, b));
    std::vector<std::string> sent;
    for (const auto& message : one_of_each_kind()) {
        sent.push_back(key_of(message));
        a.send(NodeId{2}, message);
        b.send(NodeId{1}, message);
    }
    for (auto* node : {&a, &b}) {
        auto& messages = node->events.messages;
        ASSERT_TRUE(run_until(io_, [&] { return messages.size() >= sent.size(); }));
        std::vector<std::string> heard;
        for (const auto& [from, message] : messages) {
            heard.push_back(key_of(message));
            EXPECT_EQ(from, node == &a ? NodeId{2} : NodeId{1});
        }
        EXPECT_THAT(heard, testing::UnorderedElementsAreArray(sent));
    }
}

TEST_F(PeerNetworkTest, ALargeBatchArrivesWhole) {
    auto& a = add(1);
    auto& b = add(2);
    ASSERT_TRUE(meet(a, b));
    core::AppendRequest append{Term{3}, {}, {}, {}, 0, {}};
    for (std::uint64_t i = 1; i <= 4; ++i)
        append.entries.push_back(entry(i, std::string(250'000, static_cast<char>('a' + i))));
    a.send(NodeId{2}, core::RaftMessage{append});
    ASSERT_TRUE(run_until(io_, [&] { return !b.events.messages.empty(); }));
    const auto& heard = std::get<core::RaftMessage>(b.events.messages[0].second);
    EXPECT_EQ(std::get<core::AppendRequest>(heard).entries, append.entries);
}

TEST_F(PeerNetworkTest, AHeavyChunkOfAStateDelaysNoHeartbeat) {  // P10, B-S14
    auto& a = add(1);
    auto& b = add(2);
    ASSERT_TRUE(meet(a, b));
    const auto chunk = snapshot_chunk(std::size_t{3} << 20U);
    a.send(NodeId{2}, core::RaftMessage{chunk});
    a.send(NodeId{2}, numbered(1));
    ASSERT_TRUE(run_until(io_, [&] { return b.events.messages.size() == 2; }));
    EXPECT_EQ(number_of(b.events.messages[0].second), 1U);
    const auto& heard = std::get<core::RaftMessage>(b.events.messages[1].second);
    EXPECT_EQ(std::get<core::SnapshotChunk>(heard).rows, chunk.rows);
    EXPECT_TRUE(a.is_up(2) && b.is_up(1));
}

TEST_F(PeerNetworkTest, WhatIsSentBeforeAFlushTravelsTogetherAndInOrder) {
    auto& a = add(1);
    auto& b = add(2);
    ASSERT_TRUE(meet(a, b));
    const auto before = a.network->counters();
    for (std::uint64_t i = 1; i <= 200; ++i)
        a.network->send(NodeId{2}, numbered(i));
    a.network->flush();
    ASSERT_TRUE(run_until(io_, [&] { return b.events.messages.size() == 200; }));
    for (std::uint64_t i = 1; i <= 200; ++i)
        EXPECT_EQ(number_of(b.events.messages[i - 1].second), i);
    // One, and perhaps a ping.
    EXPECT_LE(a.network->counters().batches_sent - before.batches_sent, 3U);
}

// Answers that may wait are sent by the tick of the node that answers, and the other node judges by
// its own timing whether they are late.
TEST_F(PeerNetworkTest, PeersWithVeryDifferentTimingDoNotTakeEachOtherForSilent) {
    const auto timing = [](std::chrono::milliseconds timeout) {
        return [timeout](NetworkOptions& options, core::Hello& hello) {
            options.election_timeout = timeout;
            hello.timing.election_timeout = timeout;
        };
    };
    auto& quick = add(1, timing(100ms));
    auto& slow = add(2, timing(1s));
    ASSERT_TRUE(meet(quick, slow));
    run_for(io_, 2s);
    EXPECT_EQ(quick.network->counters().lost_silent, 0U);
    EXPECT_EQ(slow.network->counters().lost_silent, 0U);
}

// Each of the two lanes to a peer has its pings, and each ping costs both nodes a wake-up.
TEST_F(PeerNetworkTest, PeersWithoutMessagesPingSeldom) {
    const auto timing = [](NetworkOptions& options, core::Hello& hello) {
        options.election_timeout = hello.timing.election_timeout = 400ms;
    };
    auto& a = add(1, timing);
    auto& b = add(2, timing);
    ASSERT_TRUE(meet(a, b));
    const auto before = a.network->counters().batches_sent;
    run_for(io_, 4s);
    const auto pings = a.network->counters().batches_sent - before;
    EXPECT_LE(pings, 26U);  // 20 of replication, 5 of forwarding
    EXPECT_EQ(a.network->counters().lost_silent, 0U);
}

// Many checks pass between two messages, and each finds the answers of the last one unsent.
TEST_F(PeerNetworkTest, PeersThatOnlySendHeartbeatsAreNotTakenForStuck) {
    const auto impatient = [](NetworkOptions& options, core::Hello&) {
        options.limits.frame_timeout = 500ms;
    };
    auto& a = add(1, impatient);
    auto& b = add(2, impatient);
    ASSERT_TRUE(meet(a, b));
    std::uint64_t sent = 0;
    const auto end = std::chrono::steady_clock::now() + 3s;
    while (std::chrono::steady_clock::now() < end) {
        a.send(core::NodeId{2}, numbered(++sent));
        b.send(core::NodeId{1}, numbered(sent));
        run_for(io_, 40ms);
    }
    EXPECT_EQ(a.network->counters().stuck_frames, 0U);
    EXPECT_EQ(b.network->counters().stuck_frames, 0U);
    EXPECT_THAT(a.events.downs, SizeIs(0));
    EXPECT_THAT(b.events.downs, SizeIs(0));
    EXPECT_THAT(a.events.messages, SizeIs(sent));
    EXPECT_THAT(b.events.messages, SizeIs(sent));
}

TEST_F(PeerNetworkTest, WhatWaitsForAPeerIsBounded) {  // P11, B-F4
    auto& a = add(
        1, [](NetworkOptions& options, core::Hello&) { options.limits.outbox_bytes_max = 2'000; });
    auto& b = add(2);
    ASSERT_TRUE(meet(a, b));
    constexpr std::size_t sent = 20;
    for (std::size_t i = 0; i < sent; ++i)
        a.send(NodeId{2}, core::Forward{core::Bytes{std::string(900, 'x')}, {}});
    const auto dropped = [&] { return a.network->counters().messages_dropped; };
    ASSERT_TRUE(run_until(io_, [&] { return b.events.messages.size() + dropped() == sent; }));
    EXPECT_GE(dropped(), sent - 2);
}

TEST_F(PeerNetworkTest, MessagesWithoutAConnectionAreDropped) {
    auto& a = add(1);
    a.send(NodeId{2}, numbered(1));
    a.send(NodeId{9}, numbered(1));
    a.send(NodeId{1}, numbered(1));
    EXPECT_EQ(a.network->counters().messages_unsent, 3U);
    EXPECT_EQ(a.network->counters().messages_dropped, 0U);  // nobody is too slow
}

// Each may be up a moment before the other.
TEST_F(PeerNetworkTest, WhatAPeerSaysAsSoonAsItIsUpIsHeard) {
    for (int round = 0; round < 10; ++round) {
        auto& a = add(1);
        auto& b = add(2);
        for (auto* node : {&a, &b}) {
            node->events.on_up = [node](const core::Hello& peer) {
                node->send(peer.node, numbered(7));
            };
        }
        ASSERT_TRUE(run_until(
            io_, [&] { return !a.events.messages.empty() && !b.events.messages.empty(); }));
        EXPECT_TRUE(a.is_up(2) && b.is_up(1));
        nodes_ = {};
    }
}

TEST_F(PeerNetworkTest, ARestartedPeerIsMetAgainWithItsNewHello) {
    auto& a = add(1);
    ASSERT_TRUE(meet(a, add(2)));
    nodes_[1].reset();
    ASSERT_TRUE(run_until(io_, [&] { return !a.is_up(2); }));
    auto& again = add(2, [](NetworkOptions&, core::Hello& hello) {
        hello.generation.boot_epoch = core::BootEpoch{2};
    });
    ASSERT_TRUE(meet(a, again));
    EXPECT_EQ(a.events.ups.back().generation.boot_epoch, core::BootEpoch{2});
    a.send(NodeId{2}, numbered(3));
    EXPECT_TRUE(run_until(io_, [&] { return !again.events.messages.empty(); }));
}

TEST_F(PeerNetworkTest, ACallerWithAPeersNameDoesNotShutThePeerOut) {
    auto& a = add(1);
    auto& b = add(2);
    ASSERT_TRUE(meet(a, b));
    {
        Node stranger{
            io_, 2, {addresses_[0], free_address()}, [](NetworkOptions&, core::Hello& hello) {
                hello.generation.boot_epoch = core::BootEpoch{UINT64_MAX};
            }};
        ASSERT_TRUE(stranger.start());
        ASSERT_TRUE(
            run_until(io_, [&] { return stranger.network->counters().refused_by_peers != 0; }));
        EXPECT_THAT(a.events.downs, SizeIs(0));
        // While the peer is away the caller is admitted, but is not up: it is not at the peer's
        // address.
        nodes_[1].reset();
        ASSERT_TRUE(run_until(io_, [&] { return !a.is_up(2); }));
    }
    EXPECT_TRUE(meet(a, add(2)));
}

TEST_F(PeerNetworkTest, ANodeOfAnotherClusterIsRefused) {
    auto& a = add(1, [](NetworkOptions&, core::Hello& hello) { hello.cluster = {1, 1}; });
    auto& b = add(2, [](NetworkOptions&, core::Hello& hello) { hello.cluster = {2, 2}; });
    ASSERT_TRUE(run_until(
        io_, [&] { return a.network->counters().refused.of(Refusal::wrong_cluster) > 0; }));
    EXPECT_TRUE(run_until(io_, [&] { return b.network->counters().refused_by_peers > 0; }));
    EXPECT_THAT(a.events.ups, SizeIs(0));
    EXPECT_THAT(b.events.ups, SizeIs(0));
}

TEST_F(PeerNetworkTest, ANodeThatIsNoPeerIsRefused) {
    auto& a = add(1);
    addresses_.push_back(free_address());
    auto& c = add(3);
    ASSERT_TRUE(run_until(io_, [&] { return c.network->counters().refused_by_peers > 0; }));
    EXPECT_GT(a.network->counters().refused.of(Refusal::unknown_node), 0U);
    EXPECT_THAT(a.events.ups, SizeIs(0));
}

// Each has to know the other: until then the first caller is refused.
TEST_F(PeerNetworkTest, PeersMayComeAndGo) {
    auto& a = add(1, [](NetworkOptions& options, core::Hello&) { options.peers.pop_back(); });
    auto& b = add(2, [](NetworkOptions& options, core::Hello&) { options.peers.pop_back(); });
    const std::vector<PeerAddress> both{{NodeId{1}, addresses_[0]}, {NodeId{2}, addresses_[1]}};
    b.network->set_peers(both);
    ASSERT_TRUE(run_until(
        io_, [&] { return a.network->counters().refused.of(Refusal::unknown_node) != 0; }));
    a.network->set_peers(both);
    ASSERT_TRUE(meet(a, b));
    a.send(NodeId{2}, numbered(1));
    ASSERT_TRUE(run_until(io_, [&] { return !b.events.messages.empty(); }));

    a.network->set_peers({});
    ASSERT_TRUE(run_until(io_, [&] { return !a.is_up(2) && !b.is_up(1); }));
    const auto refused = a.network->counters().refused.of(Refusal::unknown_node);
    EXPECT_TRUE(run_until(
        io_, [&] { return a.network->counters().refused.of(Refusal::unknown_node) > refused; }));
    EXPECT_FALSE(a.is_up(2));
    const auto dials = a.network->counters().dials;
    run_for(io_, 300ms);
    EXPECT_EQ(a.network->counters().dials, dials);

    a.network->set_peers(both);
    EXPECT_TRUE(meet(a, b));
}

// The connection is with that node itself: another address matters when the connection is lost.
TEST_F(PeerNetworkTest, AnotherAddressOfAPeerEndsNoConnection) {
    auto& a = add(1);
    auto& b = add(2);
    ASSERT_TRUE(meet(a, b));
    const auto dials = a.network->counters().dials;
    a.network->set_peers({{NodeId{2}, free_address()}});
    b.send(NodeId{1}, numbered(1));
    ASSERT_TRUE(run_until(io_, [&] { return !a.events.messages.empty(); }));
    EXPECT_THAT(a.events.downs, SizeIs(0));
    EXPECT_EQ(a.network->counters().dials, dials);
}

TEST_F(PeerNetworkTest, APeerIsFoundAtItsOtherAddressAndThereFirstTheNextTime) {
    auto& a = add(1, [](NetworkOptions& options, core::Hello&) { options.peers.clear(); });
    auto& b = add(2);
    a.network->set_peers({{NodeId{2}, free_address(), false, addresses_[1]}});
    ASSERT_TRUE(meet(a, b));
    ASSERT_TRUE(run_until(io_, [&] { return a.network->counters().dial_failures >= 2; }));
    run_for(io_, 100ms);
    const auto failures = a.network->counters().dial_failures;
    a.network->disconnect(NodeId{2});
    ASSERT_TRUE(run_until(io_, [&] { return a.events.ups.size() == 2; }));
    EXPECT_EQ(a.network->counters().dial_failures, failures);
}

// Also from within a message of that peer. Nothing that it said before is received after the next
// hello.
TEST_F(PeerNetworkTest, APeerThatIsDisconnectedSaysHelloAgain) {
    auto& a = add(1);
    auto& b = add(2);
    ASSERT_TRUE(meet(a, b));
    for (std::size_t times = 1; times <= 2; ++times) {
        a.events.on_message = [&] { a.network->disconnect(NodeId{2}); };
        b.send(NodeId{1}, numbered(times));
        ASSERT_TRUE(run_until(io_, [&] { return a.events.ups.size() == times + 1; }));
        EXPECT_THAT(a.events.downs, SizeIs(times));
        a.events.on_message = {};
        ASSERT_TRUE(run_until(io_, [&] { return a.is_up(2) && b.is_up(1); }));
    }
    a.network->disconnect(NodeId{7});  // not a peer
    a.send(NodeId{2}, numbered(9));
    EXPECT_TRUE(run_until(io_, [&] { return !b.events.messages.empty(); }));
}

// The event that removes a peer may be a message of that peer.
TEST_F(PeerNetworkTest, APeerMayBeDroppedFromWithinItsOwnMessage) {
    auto& a = add(1);
    auto& b = add(2);
    ASSERT_TRUE(meet(a, b));
    a.events.on_message = [&] { a.network->set_peers({}); };
    b.send(NodeId{1}, numbered(1));
    EXPECT_TRUE(run_until(io_, [&] { return !a.is_up(2) && !b.is_up(1); }));
}

TEST_F(PeerNetworkTest, AnotherNodeThanExpectedAtAnAddressIsRefused) {
    auto& a = add(1);
    addresses_.push_back(addresses_[1]);
    auto& c = add(3, [](NetworkOptions& options, core::Hello&) {
        // it knows the other node, and cannot call it
        options.peers = {{NodeId{1}, free_address()}};
    });
    ASSERT_TRUE(
        run_until(io_, [&] { return a.network->counters().refused.of(Refusal::wrong_node) > 0; }));
    EXPECT_THAT(a.events.ups, SizeIs(0));
    EXPECT_THAT(c.events.ups, SizeIs(0));
}

// From the first attempt on, and what changes is told.
TEST_F(PeerNetworkTest, WhyAPeerIsNotReachedIsToldWithWhatToDo) {
    auto& a = add(1);
    const auto at = free_address();
    a.network->set_peers({{NodeId{2}, at}});
    const auto says = [&](const char* words) {
        return run_until(io_, [&] { return a.events.reason.find(words) != std::string::npos; });
    };
    EXPECT_TRUE(says("nothing listens there: start it")) << a.events.reason;
    asio::ip::tcp::acceptor other{io_, endpoint_of(at)};
    std::optional<asio::ip::tcp::socket> caller;
    other.async_accept([&](const asio::error_code&, asio::ip::tcp::socket socket) {
        caller.emplace(std::move(socket));
    });
    ASSERT_TRUE(run_until(io_, [&] { return caller.has_value(); }));
    caller.reset();
    EXPECT_TRUE(says("ends the connection: check that a node of Mortise")) << a.events.reason;
    other.close();
    EXPECT_TRUE(says("nothing listens there")) << a.events.reason;
}

TEST_F(PeerNetworkTest, StrangersWhoTalkNonsenseAreShownTheDoor) {
    auto& a = add(1);
    core::Prng prng{1};
    std::string noise(4'000, '\0');
    for (auto& byte : noise)
        byte = static_cast<char>(prng.next() | 0x80U);
    const std::string no_segments{"\xff\xff\xff\xff\x01\x00\x00\x00", 8};
    const std::string huge{"\x00\x00\x00\x00\xff\xff\xff\x0f", 8};
    std::vector<std::unique_ptr<Stranger>> strangers;
    for (const auto& bytes : {noise, no_segments, huge}) {
        strangers.push_back(std::make_unique<Stranger>(io_, addresses_[0]));
        strangers.back()->say(bytes);
    }
    for (const auto& stranger : strangers)
        EXPECT_TRUE(run_until(io_, [&] { return stranger->is_closed(); }));
    EXPECT_EQ(a.network->counters().malformed_frames, 3U);
    EXPECT_TRUE(meet(a, add(2)));
}

TEST_F(PeerNetworkTest, AStrangerWhoSaysNoHelloIsNotWaitedFor) {
    auto& a =
        add(1, [](NetworkOptions& options, core::Hello&) { options.limits.hello_timeout = 200ms; });
    Stranger silent{io_, addresses_[0]};
    Stranger slow{io_, addresses_[0]};
    slow.say(std::string{"\x00\x00\x00\x00\x10\x00", 6});
    EXPECT_TRUE(run_until(io_, [&] { return silent.is_closed() && slow.is_closed(); }));
    EXPECT_EQ(a.network->counters().strangers_timed_out, 2U);
    EXPECT_TRUE(meet(a, add(2)));
}

TEST_F(PeerNetworkTest, SilentConnectionsDoNotKeepAPeerOut) {
    auto& a = add(1, [](NetworkOptions& options, core::Hello&) {
        options.limits.strangers_max = 2;
        options.limits.hello_timeout = 1h;
    });
    const auto accepted = [&](std::uint64_t count) {
        return run_until(io_, [&] { return a.network->counters().accepted == count; });
    };
    Stranger oldest{io_, addresses_[0]};
    ASSERT_TRUE(accepted(1));
    Stranger older{io_, addresses_[0]};
    ASSERT_TRUE(accepted(2));
    EXPECT_FALSE(oldest.is_closed());
    Stranger newest{io_, addresses_[0]};
    EXPECT_TRUE(run_until(io_, [&] { return oldest.is_closed(); }));
    EXPECT_FALSE(older.is_closed());
    EXPECT_FALSE(newest.is_closed());
    EXPECT_EQ(a.network->counters().strangers_refused, 1U);
    EXPECT_TRUE(meet(a, add(2)));
}

TEST_F(PeerNetworkTest, AFloodFromOneAddressClosesItsOwnConnections) {
    auto& a = add(1, [](NetworkOptions& options, core::Hello&) {
        options.limits.strangers_max = 3;
        options.limits.hello_timeout = 1h;
    });
    const auto accepted = [&](std::uint64_t count) {
        return run_until(io_, [&] { return a.network->counters().accepted == count; });
    };
    Stranger first{io_, addresses_[0], "127.0.0.9"};
    ASSERT_TRUE(accepted(1));
    Stranger of_flood{io_, addresses_[0], "127.0.0.8"};
    ASSERT_TRUE(accepted(2));
    Stranger of_flood_too{io_, addresses_[0], "127.0.0.8"};
    ASSERT_TRUE(accepted(3));
    Stranger second{io_, addresses_[0], "127.0.0.9"};
    ASSERT_TRUE(accepted(4));
    EXPECT_TRUE(run_until(io_, [&] { return of_flood.is_closed(); }));
    EXPECT_FALSE(first.is_closed());
    EXPECT_FALSE(of_flood_too.is_closed());
    EXPECT_FALSE(second.is_closed());
}

TEST_F(PeerNetworkTest, WithoutDescriptorsItWaitsForSome) {
    auto& a = add(1);
    const Stranger stranger{io_, addresses_[0]};  // not accepted yet
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const auto lowest_free = ::dup(0);
    ASSERT_GE(lowest_free, 0);
    ::close(lowest_free);
    rlimit none = before;
    none.rlim_cur = static_cast<rlim_t>(lowest_free);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    const bool failed = run_until(io_, [&] { return a.network->counters().accept_failures > 0; });
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_TRUE(failed);
    EXPECT_TRUE(run_until(io_, [&] { return a.network->counters().accepted == 1; }));
}

TEST_F(PeerNetworkTest, APeerThatFallsSilentIsLost) {
    asio::io_context other;
    auto& a = add(1);
    Node b{other, 2, addresses_};
    ASSERT_TRUE(b.start());
    ASSERT_TRUE(run_until(io_, [&] {
        other.poll();
        other.restart();
        return a.is_up(2) && b.is_up(1);
    }));
    EXPECT_TRUE(run_until(io_, [&] { return !a.is_up(2); }));
    EXPECT_GT(a.network->counters().lost_silent, 0U);
}

TEST_F(PeerNetworkTest, NothingHappensAfterStopAlsoFromWithinAnEvent) {
    auto& a = add(1);
    auto& b = add(2);
    ASSERT_TRUE(meet(a, b));
    b.events.on_message = [&] { b.network->stop(); };
    for (std::uint64_t i = 1; i <= 5'000; ++i) {
        a.send(NodeId{2}, numbered(i));
        b.send(NodeId{1}, numbered(i));
    }
    ASSERT_TRUE(run_until(io_, [&] { return !a.is_up(2); }));
    EXPECT_THAT(b.events.messages, SizeIs(1));
    EXPECT_THAT(b.events.downs, SizeIs(0));
}

// The one that began first is called before its own call is answered, so its peer comes up within
// that answer.
TEST_F(PeerNetworkTest, MayBeStoppedByTheEventThatAPeerIsUp) {
    auto& a = add(1);
    a.events.on_up = [&](const core::Hello&) { a.network->stop(); };
    run_for(io_, 50ms);
    auto& b = add(2);
    ASSERT_TRUE(run_until(io_, [&] { return !a.events.ups.empty(); }));
    EXPECT_TRUE(run_until(io_, [&] { return !b.is_up(1); }));
    run_for(io_, 200ms);
    EXPECT_THAT(a.events.ups, SizeIs(1));
    EXPECT_THAT(a.events.downs, SizeIs(0));
}

TEST_F(PeerNetworkTest, TwoNetworksOnTwoThreads) {
    std::atomic<int> heard{0};
    const auto live = [&](std::uint64_t id) {
        asio::io_context io;
        Node node{io, id, addresses_};
        ASSERT_TRUE(node.start());
        node.events.on_up = [&](const core::Hello& peer) {
            for (std::uint64_t i = 1; i <= 1'000; ++i)
                node.send(peer.node, numbered(i));
        };
        bool told = false;
        EXPECT_TRUE(run_until(io, [&] {
            if (node.events.messages.size() >= 1'000 && !std::exchange(told, true)) ++heard;
            return heard == 2;
        }));
    };
    std::thread other{live, 2};
    live(1);
    other.join();
    EXPECT_EQ(heard, 2);
}

TEST_F(PeerNetworkTest, APortInUseIsOneClearSentence) {
    add(1);
    Node second{io_, 1, addresses_};
    const auto listening = second.network->listen();
    ASSERT_FALSE(listening);
    EXPECT_EQ(listening.error().code, std::errc::address_in_use);
    EXPECT_EQ(listening.error().what,
              "cannot listen on " + addresses_[0] + ": Address already in use");
}

TEST_F(PeerNetworkTest, WhatIsNoAddressIsOneClearSentence) {
    Node node{io_, 1, {"nowhere"}};
    const auto listening = node.network->listen();
    ASSERT_FALSE(listening);
    EXPECT_THAT(listening.error().what, HasSubstr("\"nowhere\" is not an address"));
}

TEST_F(PeerNetworkTest, PortZeroIsAnyPort) {
    Node node{io_, 1, {"127.0.0.1:0"}};
    ASSERT_TRUE(node.start());
    EXPECT_THAT(node.network->listening_at(), testing::StartsWith("127.0.0.1:"));
    EXPECT_NE(node.network->listening_at(), "127.0.0.1:0");
}

TEST_F(PeerNetworkTest, SigpipeStaysAsItWas) {
    struct sigaction ours {};
    ours.sa_handler = SIG_DFL;
    struct sigaction before {};
    ASSERT_EQ(::sigaction(SIGPIPE, &ours, &before), 0);
    auto& a = add(1);
    ASSERT_TRUE(meet(a, add(2)));
    nodes_[1].reset();
    for (std::uint64_t i = 1; i <= 100; ++i)
        a.send(NodeId{2}, numbered(i));  // to a closed socket
    ASSERT_TRUE(run_until(io_, [&] { return !a.is_up(2); }));
    struct sigaction now {};
    ASSERT_EQ(::sigaction(SIGPIPE, &before, &now), 0);
    EXPECT_EQ(now.sa_handler, SIG_DFL);
}

}  // namespace
}  // namespace mortise::transport
