// The cached grants of a node, for the threads of its program (S39-S45). core/cache decides which
// grants stay and when they go back; this class has the records of the grants, carries those
// decisions out, and makes the calls of many threads safe. A use of a cached grant sends no message
// and waits for no thread. A grant that nobody uses is lent to its last use, whose owner then takes
// it again and puts it back by one word, without the lock of this class (GrantWord).
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/cache/lock_cache.hpp"
#include "embed/holds/lent_grants.hpp"
#include "embed/holds/queued_calls.hpp"
#include "embed/holds/release.hpp"
#include "embed/threads/fork_generation.hpp"
#include "embed/threads/guarded.hpp"
#include "embed/values/duration_buckets.hpp"
#include <mortise/detail/start.hpp>

namespace mortise::detail {

// Thread-safe. In the child of a fork it serves nothing: another thread may have had its lock.
class GrantCache : public std::enable_shared_from_this<GrantCache> {
public:
    explicit GrantCache(std::shared_ptr<CallGate> gate) : gate_{std::move(gate)} {}
    GrantCache(const GrantCache&) = delete;
    GrantCache& operator=(const GrantCache&) = delete;

    // --- on the thread of a caller

    // A hold from a cached grant; empty if there is none that can be used now. Throws
    // std::bad_alloc.
    [[nodiscard]] Hold take(const AcquireOrder& order);
    // The owner of a released use takes the grant again, if it is lent to that use. False if it is
    // not, or if the lease has ended.
    [[nodiscard]] bool take_again(HoldRecord& use);
    // Likewise the caller whose last use has that name and the same user. An empty hold if there is
    // none, and for options with which a grant may not be cached or somebody has to be notified.
    [[nodiscard]] Hold take_again(std::string_view name, const AcquireOptions& options);
    // Submits an acquire to the core, unless it gets a cached grant here, or waits for one that
    // another caller of this node has (S41). Returns the errors of CallGate::submit(). Throws
    // std::bad_alloc; then nothing was begun.
    std::error_code submit(std::shared_ptr<Submitted> acquire);
    // The owner has released a use of a cached grant, or an ordinary grant that might have been
    // one.
    GivenBack leave(const std::shared_ptr<HoldRecord>& hold, core::CallTag tag,
                    std::shared_ptr<Completion> waiting) noexcept;
    // Makes the grant of a hold an ordinary one, before it is converted or its value is written.
    void make_ordinary(const HoldRecord& hold);

    // --- on the core thread

    // The first use of a cached grant, whose record is `grant`.
    [[nodiscard]] Hold granted(Hold grant, std::uint32_t tokens, core::LockCache::User user);
    // Another request waits for it. It goes back if nobody uses it.
    void recalled(core::OperationId grant) noexcept;
    // The grant ended.
    struct Lost {
        bool was_unused = false;
        core::FencingToken token;  // of its present or last use
    };
    Lost lost(core::OperationId grant) noexcept;
    // The core is about to begin these calls. Cancellations end callers that wait here; those that
    // came before their acquires are put behind them.
    void pass(SubmittedCalls& calls) noexcept;
    // Gives back what was unused for long, publishes users that keep others waiting, and sends
    // callers to the cluster that have waited here for long.
    void look(core::Instant now);
    // When to call look() next, by the steady clock. If the time moves to an earlier one, the core
    // thread is woken.
    [[nodiscard]] core::Instant deadline();
    // Sends all callers that wait here to the cluster.
    void send_all() noexcept;
    // The node has stopped, and the gate is closed: nobody waits here any more.
    void close() noexcept;

    // --- on any thread

    // The acquire of the caller that asked the cluster has ended.
    void answered(std::string_view name, core::CallTag call) noexcept;

    // The number of acquires that were served without the cluster.
    [[nodiscard]] std::uint64_t served() const {
        return served_ + state_.with([](const State& all) { return all.cache.taken_again(); });
    }
    // The callers that gave up while they waited here, and those that wait now.
    [[nodiscard]] std::uint64_t timed_out() const { return timed_out_; }
    [[nodiscard]] std::uint64_t cancelled() const { return cancelled_; }
    // How many of the served grants one caller of this node handed over to the next one.
    [[nodiscard]] std::uint64_t handed_over() const { return hand_over_time_.read().total(); }
    // Of those grants: the times from the call to the grant, and from the release to the grant.
    [[nodiscard]] DurationHistogram acquire_time() const { return acquire_time_.read(); }
    [[nodiscard]] DurationHistogram hand_over_time() const { return hand_over_time_.read(); }
    [[nodiscard]] std::size_t waiting() const {
        return state_.with([](const State& state) { return state.cache.waiters(); });
    }

private:
    using Record = std::shared_ptr<HoldRecord>;
    struct Grant {
        Record record;
        Record use;  // its present use, or the last one
    };
    struct State {
        core::LockCache cache;
        std::map<core::OperationId, Grant> grants;  // that are cached, used or not
        QueuedCalls calls;
        core::Instant looks_at = core::Instant::never();  // when the core thread calls look()
        bool is_closed = false;
    };
    // A grant that left the cache.
    struct Leaving {
        Record grant;
        std::optional<core::LockCache::Publication> last;
    };
    // What follows a release.
    struct AfterRelease {
        std::optional<Leaving> back{};
        std::shared_ptr<Submitted> next{};  // this caller gets the use
        std::optional<core::LockCache::Use> use{};
        Record grant{};
        core::Instant began{};  // on the steady clock
        SubmittedCalls asking{};
        SubmittedCalls timed_out{};
        Record lent{};                        // to this use
        [[nodiscard]] bool is_over() const {  // the grant stays here, unused
            return !back && !use && asking.empty() && timed_out.empty();
        }
    };
    struct Joined {
        core::LockCache::Joined how;
        Record grant{};  // of the use
        Record again{};
        bool wakes = false;
    };

    // A use, and whose it is.
    struct UsedBy {
        core::LockCache::User user;
        core::LockCache::Use use{};
    };
    [[nodiscard]] static Record use_again(const State& state, UsedBy& use);
    [[nodiscard]] Record new_use(const Record& grant, UsedBy use);
    [[nodiscard]] Hold use_of(const Record& grant, Record again, UsedBy use);
    [[nodiscard]] Joined join(std::shared_ptr<Submitted>& acquire, core::LockCache::Waiter caller,
                              UsedBy& its);
    void drop(HoldRecord& use) noexcept;
    void drop_lent(HoldRecord& use) noexcept;
    static void lend(State& state, core::OperationId grant, Record& lent) noexcept;
    void note_lent(const Record& use) noexcept;
    void remember(const Record& grant, const Record& use);
    [[nodiscard]] static AfterRelease after_release(State& state, core::OperationId grant);
    [[nodiscard]] bool hand_over(AfterRelease& after) noexcept;
    void send(SubmittedCalls acquires) noexcept;
    [[nodiscard]] SubmittedCalls leave_after(const Submitted& refused) noexcept;
    void end(const SubmittedCalls& acquires, Errc why) noexcept;
    void cancel(core::CallTag call) noexcept;
    [[nodiscard]] std::shared_ptr<Submitted> forget(core::CallTag call) noexcept;
    GivenBack stop_using(core::OperationId grant, core::CallTag tag,
                         std::shared_ptr<Completion> waiting) noexcept;
    void note_release(std::string_view name) noexcept;
    [[nodiscard]] static Leaving leaving(State& state, core::LockCache::GiveBack back);
    static GivenBack send_back(const Leaving& leaving, core::CallTag tag,
                               std::shared_ptr<Completion> waiting) noexcept;
    static void publish(const HoldRecord& grant, const core::LockCache::Publication& user) noexcept;

    const ForkGeneration generation_;
    const std::shared_ptr<CallGate> gate_;
    Guarded<State> state_;
    LentGrants lent_;
    // under the lock; less those that were taken without it and dropped
    std::atomic<std::uint64_t> served_ = 0;
    std::atomic<std::uint64_t> timed_out_ = 0;
    std::atomic<std::uint64_t> cancelled_ = 0;
    SharedHistogram acquire_time_;
    SharedHistogram hand_over_time_;
};

}  // namespace mortise::detail
