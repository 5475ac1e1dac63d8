// Messages of peers to a running node: from any sender, in any order, with any values that the
// transport accepts. Whatever they contain, no invariant of a correct node is violated.
#include <algorithm>
#include <utility>

#include "tests/fuzz/fuzz.hpp"
#include "tests/support/lies.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::fuzz {
namespace {

using namespace core;
using namespace core::test;

constexpr NodeId liar = n3;
constexpr int acts_max = 300;
constexpr int turns_max = 200;  // of a node while that time passes

class LyingPeer {
public:
    explicit LyingPeer(Choices& choices) : choices_{choices}, lies_{choices} {
        // The liar makes requests in the names of others, so there are grants that were not
        // requested.
        for (auto& [id, node] : cluster_)
            node.checks_grants = false;
        cluster_.connect_all();
        if (choices_.coin()) pass(5 * heartbeat);
    }

    void run() {
        for (int acts = 0; acts < acts_max && !choices_.is_empty(); ++acts)
            act(cluster_[choices_.coin() ? n1 : n2]);
        // The remaining nodes continue.
        pass(2 * heartbeat);
    }

private:
    // Timers that are due fire one after the other, and all messages arrive at once.
    void pass(Nanoseconds time) {
        const auto end = cluster_[n1].now + time;
        cluster_.settle();
        for (int turns = 0; turns < turns_max; ++turns) {
            auto next = end;
            for (const auto& [id, node] : cluster_)
                next = std::min(next, std::max(node.core().deadline(), node.now));
            cluster_.pass(next - cluster_[n1].now);
            if (next >= end) return;
            for (auto& [id, node] : cluster_) {
                if (node.core().deadline() <= node.now) node.timer();
            }
            cluster_.settle();
        }
    }
    void act(HandDrivenNode& victim) {
        switch (choices_.below(16)) {
            case 0: return cluster_.deliver();
            case 1: return victim.complete_writes();
            case 2: return carry_out(victim);
            case 3: return work(victim);
            case 4: return pass(heartbeat);
            case 5: return pass(choices_.one_in(8) ? 3 * election_timeout : heartbeat);
            case 6: return greet(victim);
            case 7: return victim.receive(NodeId{choices_.below(6)}, lies_.next(victim));
            default: return victim.receive(liar, lies_.next(victim));
        }
    }
    // Answers like a disk.
    void carry_out(HandDrivenNode& node) {
        for (const auto& step : std::exchange(node.installs, {})) {
            node.step(InstallTaken{});
            if (step.done && choices_.coin()) node.step(StateInstalled{step.last});
        }
        for (const auto& delta : std::exchange(node.deltas, {})) {
            if (choices_.coin()) node.step(StateDurable{delta.applied.index});
        }
    }
    // The calls of the node's own program.
    void work(HandDrivenNode& node) {
        ++tag_;
        if (choices_.coin()) return node.acquire(tag_, "name" + std::to_string(choices_.below(4)));
        for (const auto& answer : std::exchange(node.answers, {})) {
            const auto* acquired = std::get_if<Acquired>(&answer.result);
            if (acquired != nullptr) node.call(ReleaseCall{{}, acquired->hold});
        }
    }
    // Another connection of the liar: as before, as another run, or with another id.
    void greet(HandDrivenNode& victim) {
        auto hello = cluster_[liar].hello();
        if (choices_.coin()) hello.node = NodeId{3 + choices_.below(3)};
        if (choices_.coin()) hello.generation.incarnation = Incarnation{choices_.below(200)};
        if (choices_.coin()) hello.generation.boot_epoch = BootEpoch{choices_.below(4)};
        if (choices_.coin()) hello.generation.life = choices_.below(4);
        if (choices_.coin()) hello.cluster = {};
        if (choices_.coin()) hello.address = choices_.text(choices_.below(20));
        if (choices_.coin()) hello.command_format = choices_.byte();
        if (choices_.coin()) victim.step(PeerDown{hello.node});
        victim.step(PeerUp{std::move(hello)});
    }

    Choices& choices_;
    Lies<Choices> lies_;
    NodeCluster cluster_{{1, 2, 3},
                         [](NodeOptions& options) { options.compare_every = 1'000'000; }};
    std::uint64_t tag_ = 0;
};

}  // namespace
}  // namespace mortise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    mortise::fuzz::Choices choices{data, size};
    mortise::fuzz::LyingPeer{choices}.run();
    return 0;
}
