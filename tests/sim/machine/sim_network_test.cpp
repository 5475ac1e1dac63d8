#include "tests/sim/machine/sim_network.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/sim/judges/three_nodes.hpp"

namespace mortise::sim {
namespace {

struct SimNetworkTest : testing::Test, NetworkHost {
    struct Heard {
        core::NodeId node;
        core::Event event;
    };

    [[nodiscard]] bool is_running(core::NodeId node) const override { return !dead.contains(node); }
    [[nodiscard]] bool can_answer(core::NodeId node) const override { return is_running(node); }
    [[nodiscard]] core::Hello hello(core::NodeId node) const override {
        core::Hello hello;
        hello.node = node;
        return hello;
    }
    void deliver(core::NodeId node, core::Event event) override {
        heard.push_back({node, std::move(event)});
    }

    void connect_all() {
        network.configure(options);
        network.connect_what_can_be();
        heap.run_until(heap.now() + sim_second);
    }
    void wait() { heap.run_until(heap.now() + 10 * sim_second); }
    void send(core::NodeId from, core::NodeId to) {
        network.send(from, to, core::RaftMessage{core::PreVoteRequest{}});
    }
    template <class Event>
    [[nodiscard]] std::size_t count(core::NodeId node) const {
        std::size_t found = 0;
        for (const auto& each : heard) {
            if (each.node == node && std::holds_alternative<Event>(each.event)) ++found;
        }
        return found;
    }

    EventHeap heap;
    Tally tally;
    NetworkOptions options;
    SimNetwork network{3, heap, tally, *this, 11};
    std::set<core::NodeId> dead;
    std::vector<Heard> heard;
};

TEST_F(SimNetworkTest, ConnectsWhoCanTalk) {
    connect_all();
    for (const auto node : {a, b, c})
        EXPECT_EQ(count<core::PeerUp>(node), 2U);
    send(a, b);
    wait();
    EXPECT_EQ(count<core::Received>(b), 1U);
    EXPECT_EQ(count<core::Received>(c), 0U);
}

TEST_F(SimNetworkTest, SwallowsInOneDirectionAndNobodyNotices) {
    connect_all();
    network.swallow(a, b, true);
    send(a, b);
    send(b, a);
    wait();
    EXPECT_EQ(count<core::Received>(b), 0U);
    EXPECT_EQ(count<core::Received>(a), 1U);
    EXPECT_EQ(count<core::PeerDown>(a) + count<core::PeerDown>(b), 0U);
    network.swallow(a, b, false);
    send(a, b);
    wait();
    EXPECT_EQ(count<core::Received>(b), 1U);
}

TEST_F(SimNetworkTest, SaysNothingBeforeTheHello) {
    network.configure(options);
    network.connect_what_can_be();
    while (!network.is_connected(a, b))
        heap.run_next();
    send(a, b);
    wait();
    std::vector<std::size_t> kinds;
    for (const auto& each : heard) {
        const auto* up = std::get_if<core::PeerUp>(&each.event);
        const bool from_a = up == nullptr || up->hello.node == a;
        if (each.node == b && from_a) kinds.push_back(each.event.index());
    }
    const auto hello = core::Event{core::PeerUp{}}.index();
    EXPECT_EQ(kinds, (std::vector{hello, core::Event{core::Received{}}.index()}));
}

TEST_F(SimNetworkTest, IsSilentWhereItIsCut) {
    connect_all();
    send(a, b);  // in transit when the cut comes
    network.cut(a, b, false);
    send(a, b);
    wait();
    send(a, b);
    wait();
    EXPECT_EQ(count<core::Received>(b), 0U);
    EXPECT_EQ(count<core::PeerDown>(a), 1U);
    EXPECT_EQ(count<core::PeerDown>(b), 1U);
    send(a, c);
    wait();
    EXPECT_EQ(count<core::Received>(c), 1U) << "the other links are whole";
}

TEST_F(SimNetworkTest, TellsNobodyOfASilentCutForAWhile) {
    options.silence_max = 2 * sim_second;
    connect_all();
    network.cut(a, b, true);
    heap.run_until(heap.now() + sim_second / 2);
    EXPECT_EQ(count<core::PeerDown>(a), 0U);
    wait();
    EXPECT_EQ(count<core::PeerDown>(a), 1U);
}

TEST_F(SimNetworkTest, ConnectsAgainWhenItIsHealed) {
    connect_all();
    network.cut(a, b, false);
    network.cut(b, a, false);
    wait();
    ASSERT_FALSE(network.is_connected(a, b));
    network.heal_all();
    wait();
    EXPECT_TRUE(network.is_connected(a, b));
    EXPECT_TRUE(network.is_connected(b, a));
    EXPECT_EQ(count<core::PeerUp>(a), 3U);
    send(b, a);
    wait();
    EXPECT_EQ(count<core::Received>(a), 1U);
}

TEST_F(SimNetworkTest, TellsThePeersOfANodeThatDied) {
    connect_all();
    dead.insert(a);
    network.node_stopped(a);
    wait();
    EXPECT_EQ(count<core::PeerDown>(b), 1U);
    EXPECT_EQ(count<core::PeerDown>(c), 1U);
    dead.clear();
    network.connect_what_can_be();
    wait();
    EXPECT_TRUE(network.is_connected(b, a));
}

TEST_F(SimNetworkTest, DropsMessagesOfAnOldConnectionUnlessTheyMayBeLate) {
    for (const bool late : {false, true}) {
        options.late_messages = late;
        options.delay_min = sim_second;
        options.delay_max = sim_second;
        connect_all();
        wait();
        heard.clear();
        send(a, b);
        network.reset(a, b);
        wait();
        EXPECT_EQ(count<core::Received>(b), late ? 1U : 0U);
        EXPECT_TRUE(network.is_connected(a, b)) << "made again at once";
    }
}

TEST_F(SimNetworkTest, LosesAndRepeatsAsItIsTold) {
    options.loss_ppm = 1'000'000;
    connect_all();
    send(a, b);
    wait();
    EXPECT_EQ(count<core::Received>(b), 0U);
    options.loss_ppm = 0;
    options.repeat_ppm = 1'000'000;
    network.configure(options);
    send(a, b);
    wait();
    EXPECT_EQ(count<core::Received>(b), 2U);
}

}  // namespace
}  // namespace mortise::sim
