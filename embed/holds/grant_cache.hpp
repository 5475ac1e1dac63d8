// The cached grants of a node, for the threads of its program (S39-S45). core/cache decides which
// grants stay and when they go back; this class has the records of the grants, carries those
// decisions out, and makes the calls of many threads safe. A use of a cached grant sends no message
// and waits for no thread.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "core/cache/lock_cache.hpp"
#include "embed/holds/release.hpp"
#include "embed/threads/fork_generation.hpp"
#include "embed/threads/guarded.hpp"
#include <mortise/detail/start.hpp>

namespace mortise::detail {

// Thread-safe. In the child of a fork it serves nothing: another thread may have had its lock.
class GrantCache : public std::enable_shared_from_this<GrantCache> {
public:
    GrantCache() = default;
    GrantCache(const GrantCache&) = delete;
    GrantCache& operator=(const GrantCache&) = delete;

    // Whether the grant of such an acquire may be cached (S43).
    [[nodiscard]] static bool may_have(const AcquireOrder& order);

    // --- on the thread of a caller

    // A hold from a cached grant; empty if there is none that can be used now. Throws
    // std::bad_alloc.
    [[nodiscard]] Hold take(const AcquireOrder& order);
    // How many tokens an acquire reserves; zero: it asks for an ordinary grant.
    [[nodiscard]] std::uint32_t tokens_to_reserve(std::string_view name);
    // The owner has released a use of a cached grant, or an ordinary grant that might have been
    // one.
    GivenBack leave(HoldRecord& hold, core::CallTag tag,
                    std::shared_ptr<Completion> waiting) noexcept;
    // Makes the grant of a hold an ordinary one, before it is converted or its value is written.
    void make_ordinary(const HoldRecord& hold);

    // --- on the core thread

    // The first use of a cached grant, whose record is `grant`.
    [[nodiscard]] Hold granted(Hold grant, std::uint32_t tokens, core::LockCache::User user);
    // Another request waits for it. It goes back if nobody uses it.
    void recalled(core::OperationId grant) noexcept;
    // The grant ended.
    core::LockCache::Lost lost(core::OperationId grant) noexcept;
    // Gives back what was unused for long, and publishes users that keep others waiting.
    void look(core::Instant now);
    // When to call look() next, by the steady clock.
    [[nodiscard]] core::Instant deadline() const;

    // The number of acquires that were served without the cluster.
    [[nodiscard]] std::uint64_t served() const { return served_; }

private:
    using Record = std::shared_ptr<HoldRecord>;
    struct State {
        core::LockCache cache;
        std::map<core::OperationId, Record> grants;  // of the cached grants, used or not
    };
    // A grant that left the cache.
    struct Leaving {
        Record grant;
        std::optional<core::LockCache::Publication> last;
    };

    GivenBack stop_using(core::OperationId grant, core::CallTag tag,
                         std::shared_ptr<Completion> waiting) noexcept;
    void note_release(std::string_view name) noexcept;
    [[nodiscard]] static Leaving leaving(State& state, core::LockCache::GiveBack back);
    static GivenBack send_back(const Leaving& leaving, core::CallTag tag,
                               std::shared_ptr<Completion> waiting) noexcept;
    static void publish(const HoldRecord& grant, const core::LockCache::Publication& user) noexcept;

    const ForkGeneration generation_;
    Guarded<State> state_;
    std::atomic<std::uint64_t> served_ = 0;
};

}  // namespace mortise::detail
