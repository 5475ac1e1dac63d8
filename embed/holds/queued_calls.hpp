// The acquires of callers that wait in the local queues of the lock cache
// (core/cache/local_queues.hpp), until they get the lock or are sent to the cluster.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "core/cache/lock_cache.hpp"
#include "embed/threads/call_gate.hpp"

namespace mortise::detail {

// Not thread-safe. An acquire that leaves for the cluster is still known until the core begins it,
// so that no cancellation is lost: one that comes to the core first has to follow the acquire.
class QueuedCalls {
public:
    // Takes that acquire. Throws std::bad_alloc, and nothing was taken.
    void add(std::shared_ptr<Submitted>& acquire);

    // These allocate nothing, and return null where there is none.
    [[nodiscard]] std::shared_ptr<Submitted> leave(core::CallTag call) noexcept;
    // With so many tokens to reserve.
    [[nodiscard]] SubmittedCalls leave(const core::LockCache::Asking& asking) noexcept;
    // The call has ended or the core begins it. Returns the cancellation that came before.
    [[nodiscard]] std::shared_ptr<Submitted> forget(core::CallTag call) noexcept;
    void cancel(core::CallTag call) noexcept;
    [[nodiscard]] SubmittedCalls leave_all() noexcept;
    void clear() noexcept { calls_.clear(); }

private:
    struct Entry {
        std::shared_ptr<Submitted> call;
        std::shared_ptr<Submitted> cancellation;
        bool is_cancelled = false;
    };
    std::map<core::CallTag, Entry> calls_;
};

}  // namespace mortise::detail
