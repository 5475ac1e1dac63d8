#include "transport/peers/peer_connections.hpp"

#include <array>
#include <deque>
#include <functional>
#include <tuple>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/prng.hpp"

namespace mortise::transport {
namespace {

using core::NodeId;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Verdict = PeerConnections::Verdict;

constexpr auto out = Direction::outgoing;
constexpr auto in = Direction::incoming;
constexpr auto replication = Lane::replication;
constexpr auto forwarding = Lane::forwarding;

core::Hello hello(std::uint64_t epoch = 1, std::uint64_t incarnation = 20) {
    return {NodeId{2}, {core::Incarnation{incarnation}, core::BootEpoch{epoch}}, {}, {NodeId{2}}};
}

class PeerConnectionsTest : public testing::Test {
protected:
    ConnectionId admit(Direction direction, Lane lane, const core::Hello& with = hello()) {
        auto admission = connections.admit(direction, lane, with);
        change = admission.change;
        return admission.id.value_or(ConnectionId{});
    }
    void bring_up() {
        rep_out = admit(out, replication);
        rep_in = admit(in, replication);
        fwd_out = admit(out, forwarding);
        fwd_in = admit(in, forwarding);
        ASSERT_TRUE(connections.is_up(peer));
    }
    [[nodiscard]] auto all() const {
        return UnorderedElementsAre(rep_out, rep_in, fwd_out, fwd_in);
    }

    const NodeId peer{2};
    PeerConnections connections;
    PeerChange change;
    ConnectionId rep_out;
    ConnectionId rep_in;
    ConnectionId fwd_out;
    ConnectionId fwd_in;
};

TEST_F(PeerConnectionsTest, APeerIsUpOnceBothReplicationConnectionsAreThere) {
    for (const auto first : {out, in}) {
        connections = {};
        admit(first, replication);
        EXPECT_FALSE(change.up);
        EXPECT_FALSE(connections.is_up(peer));
        admit(first == out ? in : out, replication);
        EXPECT_EQ(change.up, hello());
        EXPECT_THAT(change.close, IsEmpty());
        EXPECT_TRUE(connections.is_up(peer));
    }
}

TEST_F(PeerConnectionsTest, ForwardingAloneMakesNobodyUp) {
    admit(out, forwarding);
    admit(in, forwarding);
    admit(out, replication);
    EXPECT_FALSE(connections.is_up(peer));
    EXPECT_EQ(connections.outgoing(peer, forwarding), std::nullopt);
}

TEST_F(PeerConnectionsTest, NamesWhereToSendWhileThePeerIsUp) {
    EXPECT_EQ(connections.outgoing(peer, replication), std::nullopt);
    bring_up();
    EXPECT_EQ(connections.outgoing(peer, replication), rep_out);
    EXPECT_EQ(connections.outgoing(peer, forwarding), fwd_out);
    std::ignore = connections.drop(peer);
    EXPECT_EQ(connections.outgoing(peer, replication), std::nullopt);
}

TEST_F(PeerConnectionsTest, MessagesCountOnCurrentConnectionsOfAPeerThatIsUp) {
    const auto early = admit(in, replication);
    EXPECT_EQ(connections.verdict(early), Verdict::early);
    admit(out, replication);
    EXPECT_EQ(connections.verdict(early), Verdict::deliver);
    std::ignore = connections.drop(peer);
    EXPECT_EQ(connections.verdict(early), Verdict::late);
    EXPECT_EQ(connections.verdict(ConnectionId{77}), Verdict::late);
}

TEST_F(PeerConnectionsTest, WhatBreaksReplicationEndsEverythingOfThatPeer) {
    for (const bool ours : {true, false}) {
        connections = {};
        bring_up();
        change = connections.ended(ours ? rep_out : rep_in);
        EXPECT_THAT(change.close, all());
        EXPECT_EQ(change.down, peer);
        EXPECT_FALSE(change.up);
        // The other end of the same connection, and the ones that we closed, end later.
        change = connections.ended(ours ? rep_in : rep_out);
        EXPECT_THAT(change.close, IsEmpty());
        EXPECT_FALSE(change.down);
    }
}

TEST_F(PeerConnectionsTest, ABrokenForwardingConnectionEndsAlone) {
    bring_up();
    change = connections.ended(fwd_out);
    EXPECT_THAT(change.close, ElementsAre(fwd_out));
    EXPECT_FALSE(change.down);
    EXPECT_TRUE(connections.is_up(peer));
    EXPECT_EQ(connections.outgoing(peer, forwarding), std::nullopt);
    change = connections.ended(fwd_in);
    EXPECT_THAT(change.close, ElementsAre(fwd_in));
    EXPECT_EQ(connections.verdict(fwd_in), Verdict::late);
}

TEST_F(PeerConnectionsTest, APeerThatCallsAnewReplacesEverythingItHad) {
    bring_up();
    const auto anew = admit(in, replication);
    EXPECT_THAT(change.close, all());
    EXPECT_EQ(change.down, peer);
    EXPECT_FALSE(change.up);  // not before our connection to it is replaced as well
    EXPECT_EQ(connections.verdict(rep_in), Verdict::late);
    EXPECT_EQ(connections.verdict(anew), Verdict::early);
    admit(out, replication);
    EXPECT_EQ(change.up, hello());
}

TEST_F(PeerConnectionsTest, ANewForwardingConnectionReplacesOnlyItsFormer) {
    bring_up();
    admit(in, forwarding);
    EXPECT_THAT(change.close, ElementsAre(fwd_in));
    EXPECT_FALSE(change.down);
    EXPECT_TRUE(connections.is_up(peer));
}

TEST_F(PeerConnectionsTest, OurOwnNewHelloFindsNothingOfTheFormerConnection) {
    bring_up();
    change = connections.drop_former(peer, replication);
    EXPECT_THAT(change.close, all());
    EXPECT_EQ(change.down, peer);
    // The connection that the peer made meanwhile does not belong to the former one.
    const auto theirs = admit(in, replication);
    change = connections.drop_former(peer, replication);
    EXPECT_THAT(change.close, IsEmpty());
    EXPECT_EQ(connections.verdict(theirs), Verdict::early);
    EXPECT_THAT(connections.drop_former(NodeId{9}, forwarding).close, IsEmpty());
}

TEST_F(PeerConnectionsTest, ANewLifeEndsWhatIsLeftOfTheOneBefore) {
    for (const auto& newer : {hello(2, 20), hello(1, 21)}) {
        connections = {};
        bring_up();
        std::ignore = connections.ended(rep_out);
        const auto left = admit(in, forwarding);
        const auto anew = admit(in, forwarding, newer);
        EXPECT_THAT(change.close, ElementsAre(left));
        EXPECT_EQ(connections.verdict(anew), Verdict::early);
        admit(in, replication, newer);
        admit(out, replication, newer);
        EXPECT_EQ(change.up, newer);
    }
}

// Another directory, or a copy that was started later than its original.
TEST_F(PeerConnectionsTest, ASecondNodeWithTheSameIdIsRefusedAndDisturbsNothing) {
    bring_up();
    for (const auto& second : {hello(1, 21), hello(2, 20)}) {
        for (const auto lane : {replication, forwarding}) {
            const auto admission = connections.admit(in, lane, second);
            EXPECT_FALSE(admission.id);
            EXPECT_EQ(admission.refusal, Refusal::id_in_use);
            EXPECT_THAT(admission.change.close, IsEmpty());
            EXPECT_FALSE(admission.change.down);
        }
    }
    EXPECT_TRUE(connections.is_up(peer));
}

// A machine that was replaced, or lost its disk: the address decides.
TEST_F(PeerConnectionsTest, AnotherDirectoryAtThePeersOwnAddressTakesItsPlace) {
    bring_up();
    const auto anew = admit(out, replication, hello(1, 21));
    EXPECT_TRUE(anew.is_set());
    EXPECT_THAT(change.close, all());
    EXPECT_EQ(change.down, peer);
    admit(in, replication, hello(1, 21));
    EXPECT_EQ(change.up, hello(1, 21));
    // Now the former one is refused.
    EXPECT_EQ(connections.admit(in, replication, hello(1, 20)).refusal, Refusal::id_in_use);
}

TEST_F(PeerConnectionsTest, AnotherDirectoryIsLetInWhereTheOneBeforeIsGone) {
    bring_up();
    std::ignore = connections.ended(rep_out);
    EXPECT_TRUE(admit(in, replication, hello(1, 21)).is_set());
}

TEST_F(PeerConnectionsTest, ConnectionsOfTwoLivesMakeNobodyUp) {
    const auto before = admit(out, replication, hello(1));
    admit(in, replication, hello(2));
    EXPECT_THAT(change.close, ElementsAre(before));
    EXPECT_FALSE(change.up);
    EXPECT_FALSE(connections.is_up(peer));
}

TEST_F(PeerConnectionsTest, AHelloOfAnOlderStartIsRefusedAndDisturbsNothing) {
    bring_up();
    EXPECT_FALSE(admit(in, replication, hello(0)).is_set());
    EXPECT_THAT(change.close, IsEmpty());
    EXPECT_TRUE(connections.is_up(peer));
    std::ignore = connections.drop(peer);
    EXPECT_FALSE(admit(out, replication, hello(0)).is_set());
}

// One of the two directories is a copy: the one that was here first continues.
TEST_F(PeerConnectionsTest, AnotherLifeOfTheSameStartIsRefused) {
    auto copy = hello();
    copy.generation.life = 99;
    bring_up();
    EXPECT_EQ(connections.admit(in, replication, copy).refusal, Refusal::copied);
    EXPECT_EQ(connections.admit(in, replication, hello(0)).refusal, Refusal::copied);
    EXPECT_TRUE(connections.is_up(peer));
    // It is gone, so the copy has replaced it.
    std::ignore = connections.drop(peer);
    const auto admission = connections.admit(in, replication, copy);
    EXPECT_FALSE(admission.id);
    EXPECT_EQ(admission.refusal, Refusal::stale);
}

// A caller may claim anything; the node that answers at the peer's address counts.
TEST_F(PeerConnectionsTest, NoCallerShutsTheRealPeerOut) {
    const auto of_a_stranger = hello(UINT64_MAX);
    for (const auto first : {out, in}) {
        for (const bool was_up : {true, false}) {
            connections = {};
            if (was_up) bring_up();
            const auto stranger = admit(in, replication, of_a_stranger);
            EXPECT_TRUE(admit(first, replication).is_set());
            EXPECT_EQ(connections.verdict(stranger), Verdict::late);
            EXPECT_TRUE(admit(first == out ? in : out, replication).is_set());
            EXPECT_TRUE(connections.is_up(peer));
        }
    }
}

TEST_F(PeerConnectionsTest, TellsTheHelloThatIsFurtherOn) {
    auto silent = hello();
    silent.voters.clear();
    auto formed = hello();
    formed.cluster = {1, 1};
    for (const auto& [older, newer] :
         {std::pair{hello(), formed}, std::pair{hello(), silent}, std::pair{silent, formed}}) {
        connections = {};
        admit(out, replication, newer);
        admit(in, replication, older);
        EXPECT_EQ(change.up, newer);
        connections = {};
        admit(out, replication, older);
        admit(in, replication, newer);
        EXPECT_EQ(change.up, newer);
    }
}

TEST_F(PeerConnectionsTest, PeersDoNotDisturbEachOther) {
    bring_up();
    auto other = hello();
    other.node = NodeId{3};
    admit(in, replication, other);
    admit(out, replication, other);
    EXPECT_EQ(change.up, other);
    EXPECT_THAT(connections.drop(NodeId{3}).close, testing::SizeIs(2));
    EXPECT_TRUE(connections.is_up(peer));
}

// --- two nodes that dial each other -------------------------------------------------------------

struct Wire {  // one connection
    std::size_t from = 0;
    Lane lane = Lane::replication;
    std::uint64_t from_epoch = 0;
    bool alive = true;
    std::array<ConnectionId, 2> ids;      // at each node
    std::array<std::uint64_t, 2> epochs;  // when they were assigned
    core::Hello answer;
};

class TwoNodes {
public:
    explicit TwoNodes(std::uint64_t seed) : prng_{seed} {}

    void run(int steps, bool with_faults) {
        for (int i = 0; i < steps; ++i) {
            if (with_faults && prng_.one_in(10)) fault();
            dial_what_is_missing();
            step();
        }
    }
    // Nothing is in transit any more.
    void settle() {
        for (int i = 0; i < 1'000; ++i) {
            dial_what_is_missing();
            while (!todo_.empty())
                step();
        }
    }
    [[nodiscard]] bool are_up() const { return ends_[0].up && ends_[1].up; }
    [[nodiscard]] std::uint64_t epoch_seen_by(std::size_t node) const {
        return ends_[node].up->generation.boot_epoch.raw();
    }
    [[nodiscard]] std::uint64_t epoch_of(std::size_t node) const { return ends_[node].epoch; }
    [[nodiscard]] std::size_t ups() const { return ups_; }

private:
    struct End {
        PeerConnections connections;
        std::uint64_t epoch = 1;
        std::optional<core::Hello> up;
        std::array<bool, 2> dialling{};
        std::array<ConnectionId, 2> outgoing;  // as admitted, until ended
    };

    static core::Hello hello_of(std::size_t node, std::uint64_t epoch) {
        return {NodeId{node + 1}, {core::Incarnation{node + 1}, core::BootEpoch{epoch}}, {}, {}};
    }

    void apply(std::size_t node, const PeerChange& change) {
        auto& end = ends_[node];
        for (const auto id : change.close) {
            EXPECT_EQ(end.connections.verdict(id), Verdict::late);
            for (auto& outgoing : end.outgoing) {
                if (outgoing == id) outgoing = {};
            }
            for (std::size_t i = 0; i < wires_.size(); ++i) {
                if (wires_[i].ids[node] == id && wires_[i].epochs[node] == end.epoch) break_wire(i);
            }
        }
        if (change.down) {
            EXPECT_TRUE(end.up.has_value());
            end.up.reset();
        }
        if (change.up) {
            EXPECT_FALSE(end.up.has_value());
            end.up = change.up;
            ++ups_;
        }
    }

    void break_wire(std::size_t which) {
        if (!std::exchange(wires_[which].alive, false)) return;
        for (const std::size_t node : {0U, 1U}) {
            todo_.push_back([this, which, node] { notice(which, node); });
        }
    }

    void notice(std::size_t which, std::size_t node) {
        const auto wire = wires_[which];
        auto& end = ends_[node];
        if (wire.epochs[node] == end.epoch && wire.ids[node].is_set())
            apply(node, end.connections.ended(wire.ids[node]));
        if (wire.from == node && wire.from_epoch == end.epoch)
            end.dialling[static_cast<std::size_t>(wire.lane)] = false;
    }

    void dial_what_is_missing() {
        for (const std::size_t node : {0U, 1U}) {
            for (const auto lane : {replication, forwarding}) {
                auto& end = ends_[node];
                const auto at = static_cast<std::size_t>(lane);
                if (end.dialling[at] || end.outgoing[at].is_set()) continue;
                end.dialling[at] = true;
                apply(node, end.connections.drop_former(NodeId{2 - node}, lane));
                auto& wire = wires_.emplace_back();
                wire.from = node;
                wire.lane = lane;
                wire.from_epoch = end.epoch;
                todo_.push_back([this, which = wires_.size() - 1] { answer(which); });
            }
        }
    }

    void answer(std::size_t which) {
        const auto wire = wires_[which];
        if (!wire.alive) return;
        const auto node = 1 - wire.from;
        auto admission =
            ends_[node].connections.admit(in, wire.lane, hello_of(wire.from, wire.from_epoch));
        apply(node, admission.change);
        if (!admission.id) return break_wire(which);
        wires_[which].ids[node] = *admission.id;
        wires_[which].epochs[node] = ends_[node].epoch;
        wires_[which].answer = hello_of(node, ends_[node].epoch);
        todo_.push_back([this, which] { greeted(which); });
    }

    void greeted(std::size_t which) {
        const auto wire = wires_[which];
        auto& end = ends_[wire.from];
        if (!wire.alive || wire.from_epoch != end.epoch) return;
        end.dialling[static_cast<std::size_t>(wire.lane)] = false;
        auto admission = end.connections.admit(out, wire.lane, wire.answer);
        if (admission.id) {
            end.outgoing[static_cast<std::size_t>(wire.lane)] = *admission.id;
            wires_[which].ids[wire.from] = *admission.id;
            wires_[which].epochs[wire.from] = end.epoch;
        }
        apply(wire.from, admission.change);
        if (!admission.id) break_wire(which);
    }

    void fault() {
        if (prng_.one_in(4)) return restart(prng_.below(2));
        if (!wires_.empty())
            break_wire(wires_.size() - 1 - prng_.below(std::min<std::size_t>(wires_.size(), 6)));
    }

    void restart(std::size_t node) {
        const auto epoch = ends_[node].epoch + 1;
        ends_[node] = {};
        ends_[node].epoch = epoch;
        for (std::size_t i = 0; i < wires_.size(); ++i)
            break_wire(i);
    }

    // Notices and answers arrive in any order.
    void step() {
        if (todo_.empty()) return;
        const auto at = static_cast<std::ptrdiff_t>(prng_.below(todo_.size()));
        const auto one = todo_[static_cast<std::size_t>(at)];
        todo_.erase(todo_.begin() + at);
        one();
    }

    core::Prng prng_;
    std::array<End, 2> ends_;
    std::vector<Wire> wires_;
    std::deque<std::function<void()>> todo_;
    std::size_t ups_ = 0;
};

TEST(PeerConnectionsOfTwoNodes, ComeUpAndStayUpOnceTheFaultsStop) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        TwoNodes nodes{seed};
        nodes.run(300, true);
        nodes.settle();
        ASSERT_TRUE(nodes.are_up()) << seed;
        for (const std::size_t node : {0U, 1U})
            EXPECT_EQ(nodes.epoch_seen_by(node), nodes.epoch_of(1 - node)) << seed;
        const auto ups = nodes.ups();
        nodes.settle();
        EXPECT_EQ(nodes.ups(), ups) << seed;
    }
}

}  // namespace
}  // namespace mortise::transport
