// What a Hold points at: one grant, and how it ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>

#include "core/agent/call.hpp"
#include "embed/fork_generation.hpp"
#include "embed/lease.hpp"
#include <mortise/hold.hpp>

namespace mortise::detail {

class CallGate;
class NodeRuntime;

struct GrantFacts {
    std::string name;
    LockMode mode = LockMode::exclusive;
    FencingToken token;
    core::OperationId operation;
    Previous previous;
};

// Thread-safe. It ends once: released by its owner, or lost. In the child of a fork it is lost.
class HoldRecord {
public:
    HoldRecord(GrantFacts facts, std::shared_ptr<Lease> lease, std::shared_ptr<CallGate> gate)
        : facts_{std::move(facts)}, lease_{std::move(lease)}, gate_{std::move(gate)} {}

    static Hold hold_on(std::shared_ptr<HoldRecord> record) { return Hold{std::move(record)}; }
    static const std::shared_ptr<HoldRecord>& of(const Hold& hold) { return hold.record_; }
    static std::shared_ptr<HoldRecord> take(Hold& hold) { return std::move(hold.record_); }

    [[nodiscard]] const GrantFacts& facts() const { return facts_; }
    [[nodiscard]] const std::shared_ptr<Lease>& lease() const { return lease_; }
    [[nodiscard]] const std::shared_ptr<CallGate>& gate() const { return gate_; }

    [[nodiscard]] bool is_released() const { return end() == End::released; }
    [[nodiscard]] bool is_valid() const;
    [[nodiscard]] HoldState state() const;
    [[nodiscard]] LossReason why_lost() const;
    [[nodiscard]] std::error_code failure() const;
    [[nodiscard]] std::stop_token lost() const { return stop_.get_token(); }

    // True when this call ended it; only then there is something to tell the cluster.
    bool mark_released() { return !generation_.is_forked() && end_with(End::released); }
    bool mark_lost(LossReason why);
    // Runs what the user registered: on the notifier's threads only.
    void request_stop() { stop_.request_stop(); }

private:
    enum class End : std::uint8_t { none, released, expired, broken, node_stopped, forked };

    [[nodiscard]] End end() const;
    bool end_with(End end);

    const GrantFacts facts_;
    const std::shared_ptr<Lease> lease_;
    const std::shared_ptr<CallGate> gate_;
    const ForkGeneration generation_;
    std::atomic<End> end_{End::none};
    std::stop_source stop_;
};

}  // namespace mortise::detail
