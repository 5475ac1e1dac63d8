// Counts how often the core allocates memory, per acquire and its release, at three nodes: the
// requesting one, the leader, and another follower. Three cores communicate in one thread; only
// allocations within NodeCore::step count. It prints one line; `./dev bench --allocations`.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "core/node/node_core.hpp"

namespace {

bool counting = false;
std::uint64_t count = 0;
std::uint64_t bytes = 0;

}  // namespace

// Not inlined, because g++ would report a mismatch of malloc and delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (counting) {
        ++count;
        bytes += size;
    }
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace mortise::core {
namespace {

constexpr std::size_t nodes = 3;
constexpr auto tick = std::chrono::microseconds{100};

NodeOptions options_of(std::size_t index) {
    NodeOptions options;
    options.self = NodeId{index + 1};
    options.generation = {Incarnation{100 + index}, BootEpoch{1}, 1};
    options.seed = index + 1;
    for (std::size_t id = 1; id <= nodes; ++id)
        options.voters.push_back({NodeId{id}, {}, "node" + std::to_string(id)});
    return options;
}

// Disks are fast, and nothing is lost.
class Cluster {
public:
    Cluster() {
        for (std::size_t at = 0; at < nodes; ++at)
            cores_.at(at) = std::make_unique<NodeCore>(options_of(at), NodeState{}, now());
        for (std::size_t a = 0; a < nodes; ++a) {
            for (std::size_t b = 0; b < nodes; ++b)
                if (a != b) step(a, PeerUp{cores_.at(b)->hello()});
        }
    }

    [[nodiscard]] std::optional<std::size_t> leader() const {
        for (std::size_t at = 0; at < nodes; ++at)
            if (cores_.at(at)->raft().is_leader()) return at;
        return std::nullopt;
    }
    // Until nothing is in progress.
    void settle() {
        while (!waiting_.empty()) {
            auto [to, event] = std::move(waiting_.front());
            waiting_.pop_front();
            step(to, std::move(event));
        }
    }
    void run_for(Nanoseconds time) {
        for (Nanoseconds passed{}; passed < time; passed += tick) {
            clock_ = clock_ + tick;
            for (std::size_t at = 0; at < nodes; ++at)
                if (cores_.at(at)->deadline() <= clock_) step(at, TimerFired{});
            settle();
        }
    }
    void call(std::size_t at, Call one) {
        Calls calls;
        calls.calls.push_back(std::move(one));
        step(at, std::move(calls));
        settle();
    }
    // The hold of the newest acquire.
    [[nodiscard]] std::optional<OperationId> take_hold() { return std::exchange(hold_, {}); }

    struct Cost {
        std::uint64_t count = 0;
        std::uint64_t bytes = 0;
    };
    std::array<Cost, nodes> costs{};

private:
    [[nodiscard]] Now now() const { return {clock_, clock_}; }

    void step(std::size_t at, Event event) {
        count = 0;
        bytes = 0;
        counting = true;
        auto effects = cores_.at(at)->step(std::move(event), now());
        counting = false;
        costs.at(at).count += count;
        costs.at(at).bytes += bytes;
        if (effects.write) waiting_.emplace_back(at, WriteDone{effects.write->id});
        for (auto& envelope : effects.send) {
            const NodeId from{at + 1};
            waiting_.emplace_back(envelope.to.raw() - 1,
                                  Received{from, std::move(envelope.message)});
        }
        for (const auto& delta : effects.save_state)
            waiting_.emplace_back(at, StateDurable{delta.applied.index});
        for (const auto& answer : effects.answers)
            if (const auto* acquired = std::get_if<Acquired>(&answer.result))
                hold_ = acquired->hold;
    }

    std::array<std::unique_ptr<NodeCore>, nodes> cores_;
    std::deque<std::pair<std::size_t, Event>> waiting_;
    Instant clock_{std::chrono::nanoseconds{std::chrono::seconds{1}}.count()};
    std::optional<OperationId> hold_;
};

void cycle(Cluster& cluster, std::size_t asked, std::uint64_t tag) {
    AcquireCall acquire;
    acquire.tag = CallTag{tag};
    acquire.request.names.push_back({"jobs/nightly/" + std::to_string(tag % 16)});
    acquire.deadline = Instant::never();
    cluster.call(asked, std::move(acquire));
    const auto hold = cluster.take_hold();
    if (!hold) throw std::runtime_error{"it was not granted"};
    cluster.call(asked, ReleaseCall{CallTag{tag + 1}, *hold});
}

int measure() {
    constexpr std::uint64_t cycles = 20'000;
    Cluster cluster;
    cluster.settle();
    cluster.run_for(std::chrono::seconds{5});
    const auto leader = cluster.leader();
    if (!leader) throw std::runtime_error{"there is no leader"};
    const auto asked = (*leader + 1) % nodes;
    const auto other = (*leader + 2) % nodes;
    for (std::uint64_t at = 1; at <= 1'000; ++at)
        cycle(cluster, asked, 2 * at);
    cluster.costs = {};
    for (std::uint64_t at = 2'001; at <= 2'000 + cycles; ++at) {
        cycle(cluster, asked, 2 * at);
        if (at % 100 == 0) cluster.run_for(std::chrono::milliseconds{1});
    }
    const auto show = [&](const char* where, std::size_t at) {
        std::printf(" %s %.1f (%.0f bytes)", where,
                    static_cast<double>(cluster.costs.at(at).count) / cycles,
                    static_cast<double>(cluster.costs.at(at).bytes) / cycles);
    };
    std::printf("allocations per acquire and release:");
    show("asked", asked);
    show("leader", *leader);
    show("follower", other);
    std::printf("\n");
    return 0;
}

}  // namespace
}  // namespace mortise::core

int main() {
    try {
        return mortise::core::measure();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
