// Cores that communicate in one thread, with disks that are fast and a network that loses nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/node/node_core.hpp"
#include "tests/bench/counting_allocator.hpp"

namespace mortise::bench {

inline core::NodeOptions options_of(std::size_t index, std::size_t nodes) {
    core::NodeOptions options;
    options.self = core::NodeId{index + 1};
    options.generation = {core::Incarnation{100 + index}, core::BootEpoch{1}, 1};
    options.seed = index + 1;
    for (std::size_t id = 1; id <= nodes; ++id)
        options.voters.push_back({core::NodeId{id}, {}, "node" + std::to_string(id)});
    return options;
}

inline core::AcquireCall acquire_call(std::uint64_t tag, std::string name) {
    core::AcquireCall acquire;
    acquire.tag = core::CallTag{tag};
    acquire.request.names.push_back({std::move(name)});
    acquire.deadline = core::Instant::never();
    return acquire;
}

class CoreCluster {
public:
    explicit CoreCluster(std::size_t nodes) : costs(nodes) {
        for (std::size_t at = 0; at < nodes; ++at)
            cores_.push_back(
                std::make_unique<core::NodeCore>(options_of(at, nodes), core::NodeState{}, now()));
        step(0, core::TimerFired{});  // a lone node hears of nobody, and founds its cluster
        for (std::size_t a = 0; a < nodes; ++a) {
            for (std::size_t b = 0; b < nodes; ++b)
                if (a != b) step(a, core::PeerUp{cores_.at(b)->hello()});
        }
        settle();
        run_for(std::chrono::seconds{5});
    }

    [[nodiscard]] std::size_t leader() const {
        for (std::size_t at = 0; at < cores_.size(); ++at)
            if (cores_.at(at)->raft().is_leader()) return at;
        throw std::runtime_error{"there is no leader"};
    }
    // Until nothing is in progress.
    void settle() {
        while (!waiting_.empty()) {
            auto [to, event] = std::move(waiting_.front());
            waiting_.pop_front();
            step(to, std::move(event));
        }
    }
    void run_for(core::Nanoseconds time) {
        constexpr auto tick = std::chrono::microseconds{100};
        for (core::Nanoseconds passed{}; passed < time; passed += tick) {
            clock_ = clock_ + tick;
            for (std::size_t at = 0; at < cores_.size(); ++at)
                if (cores_.at(at)->deadline() <= clock_) step(at, core::TimerFired{});
            settle();
        }
    }
    void call(std::size_t at, core::Calls calls) {
        step(at, std::move(calls));
        settle();
    }
    // Acquires and releases at one node; `tag` is never used again, nor is the next one.
    void cycle(std::size_t at, std::uint64_t tag, std::string name) {
        call(at, one(acquire_call(tag, std::move(name))));
        const auto hold = std::exchange(hold_, {});
        if (!hold) throw std::runtime_error{"it was not granted"};
        call(at, one(core::ReleaseCall{core::CallTag{tag + 1}, *hold}));
    }

    std::vector<Allocations> costs;  // of each node, within NodeCore::step

private:
    [[nodiscard]] core::Now now() const { return {clock_, clock_}; }
    static core::Calls one(core::Call call) {
        core::Calls calls;
        calls.calls.push_back(std::move(call));
        return calls;
    }

    void step(std::size_t at, core::Event event) {
        const auto before = allocations_so_far();
        auto effects = cores_.at(at)->step(std::move(event), now());
        costs.at(at) += allocations_so_far() - before;
        if (effects.write) waiting_.emplace_back(at, core::WriteDone{effects.write->id});
        for (auto& envelope : effects.send) {
            const core::NodeId from{at + 1};
            waiting_.emplace_back(envelope.to.raw() - 1,
                                  core::Received{from, std::move(envelope.message)});
        }
        for (const auto& delta : effects.save_state)
            waiting_.emplace_back(at, core::StateDurable{delta.applied.index});
        for (const auto& answer : effects.answers)
            if (const auto* acquired = std::get_if<core::Acquired>(&answer.result))
                hold_ = acquired->hold;
    }

    std::vector<std::unique_ptr<core::NodeCore>> cores_;
    std::deque<std::pair<std::size_t, core::Event>> waiting_;
    core::Instant clock_{std::chrono::nanoseconds{std::chrono::seconds{1}}.count()};
    std::optional<core::OperationId> hold_;  // of the newest acquire
};

}  // namespace mortise::bench
