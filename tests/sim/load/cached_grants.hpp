// Programs whose node keeps grants that their owner released, for the next caller (S39-S45). The
// cache decides; this does what the embedding of a node does around it: it checks the lease after a
// use was taken, and carries out what is due. Nodes are members or clients.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/prng.hpp"
#include "core/cache/lock_cache.hpp"
#include "tests/sim/judges/lock_history.hpp"
#include "tests/sim/world/world.hpp"

namespace mortise::sim {

// The programs around the caches.
class CachingPrograms {
public:
    virtual ~CachingPrograms() = default;
    [[nodiscard]] virtual core::Now now(core::NodeId node) const = 0;
    // The node runs, is awake, and is not being closed.
    [[nodiscard]] virtual bool can_call(core::NodeId node) const = 0;
    [[nodiscard]] virtual bool is_stopped() const = 0;
    [[nodiscard]] virtual bool is_crowded() const = 0;
    virtual void call(core::NodeId node, core::Call call) = 0;
    // The call, which has a tag, goes to the cluster.
    virtual void begin(core::NodeId node, core::AcquireCall call) = 0;
    [[nodiscard]] virtual core::AcquireCall draw(core::NodeId node) = 0;
    // The cluster granted it; a caller took it from the cache; it becomes an ordinary grant; it
    // goes back.
    virtual void got_cached(core::NodeId node, core::OperationId grant,
                            const std::string& name) = 0;
    virtual void took_cached(core::NodeId node, core::OperationId grant) = 0;
    virtual void publishes(core::OperationId /*grant*/) {}
    virtual void gives_back(core::OperationId grant) = 0;
};

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

[[nodiscard]] core::CacheOptions draw_cache_options(core::Prng& prng, const Swarm& swarm);

class CachedGrants {
public:
    // References outlive it. `newest_tag` numbers the calls of all programs.
    CachedGrants(World& world, CachingPrograms& programs, core::CacheOptions options,
                 LockHistory& history, core::Prng& prng, std::uint64_t& newest_tag);

    // --- what programs do

    // From the cache, if it may be; else by CachingPrograms::begin().
    void acquire(core::NodeId node, core::AcquireCall call);
    // After a release: the next caller wants the same name, mostly soon.
    void acquire_again(core::NodeId node, const core::NamedMode& wanted);
    // The node was paused, and its programs go on before it does.
    void wakes(core::NodeId node);
    // A release. True if the grant stays in the cache.
    [[nodiscard]] bool keep(core::NodeId node, core::OperationId hold,
                            const std::vector<core::NamedMode>& names);
    // Before the hold is converted, or its value is written.
    void make_ordinary(core::NodeId node, core::OperationId hold);
    [[nodiscard]] bool is_unused(core::NodeId node, core::OperationId hold);
    void confirming(core::CallTag tag, core::OperationId hold);

    // --- what nodes report

    void lease_changed(const core::LeaseChanged& lease) {
        leases_[lease.session] = lease.valid_until;
    }
    // The answer that the caller hears.
    [[nodiscard]] core::CallAnswer as_told(const core::CallAnswer& answer);
    void granted(core::NodeId node, core::CallTag tag, const core::Acquired& acquired);
    // The request has ended, and granted() was called before.
    void answered(core::NodeId node, core::CallTag tag);
    // A recall. True if the hold is cached.
    [[nodiscard]] bool recalled(core::NodeId node, core::OperationId hold);
    void lost(core::NodeId node, core::OperationId hold);
    void node_lost(core::NodeId node);

    // Callers that wait for another one of their node.
    using Who = std::pair<core::NodeId, core::CallTag>;
    [[nodiscard]] const std::map<Who, core::AcquireCall>& queued() const { return queued_; }

private:
    [[nodiscard]] core::LockCache& cache_of(core::NodeId node);
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
    [[nodiscard]] std::optional<core::LockCache::GiveBack> released_cached(core::NodeId node,
                                                                           core::OperationId hold);
    void publish(core::NodeId node, const core::LockCache::Publication& user);
    void give_back(core::NodeId node, const core::LockCache::GiveBack& back);
    void give_back_soon(core::NodeId node, const core::LockCache::GiveBack& back);
    void look_at_cache_later(core::NodeId node);
    void look_at_cache(core::NodeId node);

    World& world_;
    CachingPrograms& programs_;
    core::CacheOptions options_;
    LockHistory& history_;
    core::Prng& prng_;
    std::uint64_t& newest_tag_;
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
};

}  // namespace mortise::sim
