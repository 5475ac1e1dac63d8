// Programs that lock: every node has some calls in progress on a few names; it waits, tries, gives
// up, holds for a while, releases, or forgets to. At the end every name is requested once more at
// every node of the core, and must be granted: the names that dead or unreachable nodes held are
// free by then (P8).
#pragma once

#include <map>
#include <optional>
#include <set>

#include "tests/sim/base/workload.hpp"
#include "tests/sim/judges/call_deadlines.hpp"
#include "tests/sim/judges/closings.hpp"
#include "tests/sim/judges/closure_times.hpp"
#include "tests/sim/judges/contentions.hpp"
#include "tests/sim/judges/lock_history.hpp"
#include "tests/sim/judges/outside_history.hpp"
#include "tests/sim/judges/tellings.hpp"
#include "tests/sim/load/cached_grants.hpp"
#include "tests/sim/load/call_drawing.hpp"
#include "tests/sim/load/client_load.hpp"
#include "tests/sim/world/cluster.hpp"

namespace mortise::sim {

class LockWorkload final : public Workload, private CachingPrograms {
public:
    LockWorkload(World& world, Cluster& cluster);

    void start() override;
    void stop() override;
    void node_started(core::NodeId node) override;
    void node_lost(core::NodeId node) override;
    void lost(core::NodeId node, const core::HoldLost& lost) override;
    void suspended(core::NodeId node, core::OperationId hold) override;
    void contended(core::NodeId node, const core::Contended& contended) override;
    void lease_changed(core::NodeId node, const core::LeaseChanged& lease) override;
    void answered(core::NodeId node, const core::CallAnswer& given) override;
    void applied(core::NodeId node, const core::Applied& applied) override;
    void notified(core::NodeId node, core::ClientId client, core::ClientNotice&& notice) override;
    void hung_up(core::NodeId node, core::ClientId client) override;
    void stepped(core::NodeId node, core::Instant now, core::Instant next) override {
        deadlines_.after_step(node, now, next);
        const auto& core = cluster_.at(node).driver().core();
        contentions_.after_step(node, core.machine());
        if (clients_) clients_->member_stepped(core.applied_index(), core.machine());
    }
    void struck(core::NodeId node, Fault fault) override;
    void wakes(core::NodeId node) override;
    [[nodiscard]] core::NodeId holder(core::NodeId other_than) const override;
    void contest(core::NodeId holder, SimTime length) override;
    void begin_liveness(const std::vector<core::NodeId>& core) override;
    [[nodiscard]] std::string still_owed() const override;
    void end() override;

private:
    using Who = std::pair<core::NodeId, core::CallTag>;
    struct Held {
        core::NodeId node;
        std::vector<core::NamedMode> names;
        SimTime keep_until = 0;
    };

    void call_later();
    void call_somewhere();
    void acquire_many();
    void acquire(core::NodeId node);
    void use_semaphore(core::NodeId node);
    void wait_for_others(core::NodeId node);
    template <class WaitingCall>
    void ask(core::NodeId node, WaitingCall call);
    template <class WaitingCall>
    void begin_waiting(core::NodeId node, WaitingCall call);
    void inspect(core::NodeId node);
    void cancel_sometimes(core::NodeId node, core::CallTag tag);
    void hold_for_a_while(core::NodeId node, core::OperationId hold);
    void release(core::NodeId node, core::OperationId hold);
    void convert_sometimes(core::NodeId node, core::OperationId hold, SimTime within);
    void convert(core::NodeId node, core::OperationId hold);
    void conversion_answered(const core::CallAnswer& answer);
    void confirm_sometimes(core::NodeId node, core::OperationId hold, SimTime within);
    void confirm(core::NodeId node, core::OperationId hold);
    void write_sometimes(core::NodeId node, core::OperationId hold, SimTime within);
    void write(core::NodeId node, core::OperationId hold);
    void break_sometimes(core::OperationId hold, SimTime within);
    void take_away(core::OperationId hold);
    void watch_sometimes(core::NodeId node, core::OperationId hold);
    void watch(core::NodeId node, core::OperationId hold);
    void call_write(core::NodeId node, core::WriteCall call);
    void tell_sometimes(core::NodeId node, core::OperationId hold);
    void close_later();
    [[nodiscard]] core::NodeId draw_to_close();
    // Returns false if no node can be closed now.
    bool close(core::NodeId node);
    void probe_closing(core::NodeId node, const std::set<core::OperationId>& holds);
    [[nodiscard]] std::set<core::OperationId> draw_listened_to(std::set<core::OperationId> holds);
    void closed(core::NodeId node, core::CallTag tag);
    void hand_over(core::NodeId node, core::CallTag tag);
    void end_process(core::NodeId node, core::CallTag tag);
    void transfer();
    void judge_openings(core::NodeId node, const core::Applied& applied);
    void ask_again();
    void ask_again_later(const core::CallAnswer& failed);
    // --- CachingPrograms
    // The clocks of a node, or of a client.
    [[nodiscard]] core::Now now(core::NodeId node) const override;
    [[nodiscard]] bool can_call(core::NodeId node) const override;
    [[nodiscard]] bool is_stopped() const override { return stopped_; }
    [[nodiscard]] bool is_crowded() const override;
    void call(core::NodeId node, core::Call call) override;
    void begin(core::NodeId node, core::AcquireCall call) override;
    [[nodiscard]] core::AcquireCall draw(core::NodeId node) override;
    void got_cached(core::NodeId node, core::OperationId grant, const std::string& name) override;
    void took_cached(core::NodeId node, core::OperationId grant) override {
        hold_for_a_while(node, grant);
    }
    void gives_back(core::OperationId grant) override { contentions_.released(grant); }

    [[nodiscard]] core::Instant steady(core::NodeId node) const { return now(node).steady; }
    [[nodiscard]] bool clocks_out_of_bounds(core::NodeId holder) const;

    World& world_;
    Cluster& cluster_;
    core::Prng prng_;
    CallDrawing drawing_;
    LockHistory history_;
    CallDeadlines deadlines_;
    Contentions contentions_;
    Closings closings_;
    Tellings tellings_;
    std::set<core::OperationId> listened_to_;  // of the node that was last closed
    ClosureTimes closure_times_;
    std::optional<OutsideHistory> outside_;  // in some runs
    std::uint64_t newest_tag_ = 0;
    CachedGrants cached_;
    std::optional<ClientLoad> clients_;  // in some runs
    std::uint64_t next_name_ = 0;        // of a burst
    bool stopped_ = false;
    std::set<Who> waiting_;
    std::map<core::OperationId, Held> holds_;
    struct Conversion {
        core::OperationId hold;
        core::LockMode mode = core::LockMode::exclusive;
    };
    std::map<core::CallTag, Conversion> conversions_;  // in progress
    std::set<core::NodeId> core_;                      // of the liveness phase; empty before
    std::map<Who, std::string> owed_;
    std::set<std::pair<core::NodeId, std::string>> to_ask_;
    bool asks_again_ = false;  // refused requests are repeated soon
};

}  // namespace mortise::sim
