// The acquires of callers that wait in the lines of the lock cache (core/cache/local_lines.hpp),
// until they get the lock or are sent to the cluster.
#pragma once

#include <cstdint>
#include <map>

#include "core/cache/lock_cache.hpp"
#include "embed/threads/call_gate.hpp"

namespace mortise::detail {

// Not thread-safe. An acquire that leaves is still known until has_left(), so that no cancellation
// is lost on the way: it must not come to the core before the acquire.
class CallsInLine {
public:
    // Takes the only call of that list, an acquire. Throws std::bad_alloc, and nothing was taken.
    void add(SubmittedCalls& call);

    // These allocate nothing.
    [[nodiscard]] SubmittedCalls leave(core::CallTag call) noexcept;
    // With so many tokens to reserve.
    [[nodiscard]] SubmittedCalls leave(const core::LockCache::Asking& asking) noexcept;
    // The cancellation that came while the call was leaving; empty if none did.
    [[nodiscard]] SubmittedCalls has_left(core::CallTag call) noexcept;
    void cancel(core::CallTag call) noexcept;
    // All that were not leaving.
    [[nodiscard]] SubmittedCalls leave_all() noexcept;

private:
    struct Entry {
        SubmittedCalls call;
        SubmittedCalls cancellation;
        bool is_cancelled = false;
    };
    std::map<core::CallTag, Entry> calls_;
};

}  // namespace mortise::detail
