// Programs that lock: every node has some calls in progress on a few names; it waits, tries, gives
// up, holds for a while, releases, or forgets to. At the end every name is requested once more at
// every node of the core, and must be granted: the names that dead or unreachable nodes held are
// free by then (P8).
#pragma once

#include <map>
#include <optional>
#include <set>

#include "core/cache/lock_cache.hpp"
#include "tests/sim/base/workload.hpp"
#include "tests/sim/judges/call_deadlines.hpp"
#include "tests/sim/judges/closings.hpp"
#include "tests/sim/judges/closure_times.hpp"
#include "tests/sim/judges/contentions.hpp"
#include "tests/sim/judges/lock_history.hpp"
#include "tests/sim/judges/outside_history.hpp"
#include "tests/sim/judges/tellings.hpp"
#include "tests/sim/load/call_drawing.hpp"
#include "tests/sim/load/client_load.hpp"
#include "tests/sim/world/cluster.hpp"

namespace mortise::sim {

// A grant that its last user takes again without the cache of its node, as the word of a use does
// in the embedding.
class LentGrant final : public core::LockCache::Loan {
public:
    explicit LentGrant(core::FencingToken behind) : behind_{behind} {}

    void begin(core::FencingToken newest) {
        state_ = {newest, false};
        is_lent_ = true;
    }
    [[nodiscard]] std::optional<core::FencingToken> take() {
        if (!is_lent_ || state_.in_use || state_.token.next() >= behind_) return std::nullopt;
        state_ = {state_.token.next(), true};
        return state_.token;
    }
    [[nodiscard]] bool put_back() {
        const bool may = is_lent_ && state_.in_use && state_.token.next() < behind_;
        if (may) state_.in_use = false;
        return may;
    }
    [[nodiscard]] State state() const noexcept override { return state_; }
    State end() noexcept override {
        is_lent_ = false;
        return state_;
    }

private:
    core::FencingToken behind_;  // all tokens of the grant
    State state_;
    bool is_lent_ = false;
};

class LockWorkload final : public Workload {
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
        contentions_.after_step(node, cluster_.at(node).driver().core().machine());
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
    [[nodiscard]] bool is_crowded() const;
    void acquire_many();
    void acquire(core::NodeId node);
    void use_semaphore(core::NodeId node);
    void wait_for_others(core::NodeId node);
    template <class WaitingCall>
    void ask(core::NodeId node, WaitingCall call);
    template <class WaitingCall>
    void begin(core::NodeId node, WaitingCall call);
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
    // The node runs, is awake, and is not being closed.
    [[nodiscard]] bool can_call(core::NodeId node) const;
    void tell_sometimes(core::NodeId node, core::OperationId hold);
    // lock_cached.cpp
    [[nodiscard]] core::LockCache& cache_of(core::NodeId node);
    void acquire_one(core::NodeId node, core::AcquireCall call);
    void ask_cluster(core::NodeId node, core::AcquireCall call, std::uint32_t tokens);
    [[nodiscard]] bool use_cached(core::NodeId node, const core::LockCache::Use& use);
    void lend(core::NodeId node, core::OperationId hold);
    void take_lent_later(core::NodeId node, core::OperationId hold);
    [[nodiscard]] bool put_back(core::NodeId node, core::OperationId hold);
    void wait_in_queue(core::NodeId node, core::AcquireCall call);
    void cancel_queued_sometimes(core::NodeId node, core::CallTag tag);
    void timed_out_in_queue(core::NodeId node, const core::LockCache::Waiters& callers);
    [[nodiscard]] std::optional<core::AcquireCall> take_from_queue(core::NodeId node,
                                                                   core::CallTag tag);
    void ask_later(core::NodeId node, core::LockCache::Asking asking);
    void answered_cached(core::NodeId node, core::CallTag tag);
    [[nodiscard]] std::optional<core::LockCache::GiveBack> released_cached(core::NodeId node,
                                                                           core::OperationId hold);
    void cached(core::NodeId node, core::CallTag tag, const core::Acquired& acquired);
    [[nodiscard]] bool keep_cached(core::NodeId node, core::OperationId hold, const Held& held);
    void make_ordinary(core::NodeId node, core::OperationId hold);
    [[nodiscard]] bool is_unused(core::NodeId node, core::OperationId hold);
    void publish(core::NodeId node, const core::LockCache::Publication& user);
    void give_back(core::NodeId node, const core::LockCache::GiveBack& back);
    [[nodiscard]] bool recalled(core::NodeId node, core::OperationId hold);
    void lost_cached(core::NodeId node, core::OperationId hold);
    [[nodiscard]] core::CallAnswer as_told(const core::CallAnswer& answer);
    void acquire_again(core::NodeId node, const core::NamedMode& wanted);
    void give_back_soon(core::NodeId node, const core::LockCache::GiveBack& back);
    void look_at_cache_later(core::NodeId node);
    void look_at_cache(core::NodeId node);
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
    void call(core::NodeId node, core::Call call);
    // The clocks of a node, or of a client.
    [[nodiscard]] core::Now now(core::NodeId node) const;
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
    std::optional<ClientLoad> clients_;      // likewise
    std::uint64_t next_name_ = 0;            // of a burst
    std::uint64_t newest_tag_ = 0;
    bool stopped_ = false;
    std::set<Who> waiting_;
    std::map<core::OperationId, Held> holds_;
    core::CacheOptions cache_options_;
    std::map<core::NodeId, core::LockCache> caches_;
    std::map<Who, core::LockCache::User> users_;  // who asked for a cached grant
    std::map<Who, core::AcquireCall> queued_;     // who waits for another caller of the node
    std::map<Who, std::string> asked_for_;  // names for which others may wait in a local queue
    std::map<core::CallTag, std::pair<core::OperationId, std::uint64_t>> confirms_;
    std::map<core::OperationId, std::uint64_t> uses_;         // of cached grants, that have ended
    std::set<core::OperationId> recalled_;                    // while they were used
    std::map<core::OperationId, std::uint32_t> hand_overs_;   // since the recall
    std::map<core::OperationId, core::FencingToken> tokens_;  // of the present uses
    std::map<core::OperationId, core::NamedMode> cached_names_;
    std::map<core::OperationId, LentGrant> lent_;      // exclusive cached grants, lent or not
    std::map<core::NodeId, std::uint64_t> lives_;      // of the program of that node
    std::map<core::NodeId, SimTime> looks_at_;         // when a node looks at its cache next
    std::set<Who> cancelled_in_queue_;                 // as they left it for the cluster
    std::map<core::SessionId, core::Instant> leases_;  // until when they are valid, boot clock
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
