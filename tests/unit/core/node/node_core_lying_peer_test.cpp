// A member that sends any message that can be encoded: the invariants of the others hold, and none
// of them stops (core/base/check.hpp is for our own mistakes).
#include <exception>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/lies.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

constexpr NodeId liar = n3;

// Three nodes in normal operation, and a liar that sends messages in the name of the third one.
class NodeCoreLyingPeer : public testing::Test {
protected:
    static constexpr std::uint64_t lies_per_seed = 500;

    void run(std::uint64_t seed) {
        NodeCluster cluster{{1, 2, 3},
                            [](NodeOptions& options) { options.compare_every = 1'000'000; }};
        cluster.connect_all();
        // In some runs they learn of their cluster from the liar.
        if (seed % 8 != 0) cluster.run_for(5 * heartbeat);
        Prng prng{seed};
        Lies lies{prng};
        // The liar makes requests in the names of others, and as a leader it makes them apply
        // entries that no other node applies: the owner of a grant depends on more than the
        // examined node (P2, S6).
        for (auto& [id, node] : cluster)
            node.checks_grants = false;
        for (std::uint64_t lie = 0; lie < lies_per_seed; ++lie) {
            auto& victim = cluster[prng.one_in(2) ? n1 : n2];
            victim.receive(liar, lies.next(victim));
            carry_out(victim, prng);
            if (prng.one_in(6)) work(victim, prng);
            if (prng.one_in(4)) cluster.deliver();
            if (prng.one_in(3)) victim.complete_writes();
            if (prng.one_in(12))
                cluster.run_for(prng.one_in(20) ? 3 * election_timeout : heartbeat);
            if (prng.one_in(40)) {
                cluster.disconnect(liar, n1);
                cluster.connect(liar, n1);
            }
        }
        for (const auto id : {n1, n2})
            lies_refused_ += cluster[id].core().refused_messages();
    }
    // Answers like a disk.
    static void carry_out(HandDrivenNode& node, Prng& prng) {
        for (const auto& step : std::exchange(node.installs, {})) {
            node.step(InstallTaken{});
            if (step.done && !prng.one_in(4)) node.step(StateInstalled{step.last});
        }
        for (const auto& delta : std::exchange(node.deltas, {})) {
            if (prng.one_in(3)) node.step(StateDurable{delta.applied.index});
        }
    }
    void work(HandDrivenNode& node, Prng& prng) {
        ++tag_;
        switch (prng.below(3)) {
            case 0: return node.inspect(tag_, "name1");
            case 1:
                for (const auto& answer : std::exchange(node.answers, {})) {
                    const auto* acquired = std::get_if<Acquired>(&answer.result);
                    if (acquired != nullptr) node.call(ReleaseCall{{}, acquired->hold});
                }
                return;
            default: return node.acquire(tag_, "name" + std::to_string(prng.below(4)));
        }
    }

    std::uint64_t tag_ = 0;
    std::uint64_t lies_refused_ = 0;
};

// 100,000 lies.
TEST_F(NodeCoreLyingPeer, BreaksNothing) {
    constexpr std::uint64_t seeds = 200;
    for (std::uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed) {
        try {
            run(seed);
        } catch (const std::exception& broken) {
            ADD_FAILURE() << "seed " << seed << ": " << broken.what();
        }
    }
    EXPECT_GT(lies_refused_, seeds * lies_per_seed / 20);
}

}  // namespace
}  // namespace mortise::core::test
