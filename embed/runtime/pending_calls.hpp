// The calls that the core has, with their completions. Used on the core thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/agent/call.hpp"
#include "core/cache/lock_cache.hpp"
#include "embed/threads/call_gate.hpp"
#include "embed/threads/completion.hpp"

namespace mortise::detail {

// Calls for which a missing answer leaves the outcome unknown (P6).
[[nodiscard]] inline bool is_unknown_unanswered(const SubmittedCall& call) {
    return call.is<core::ReleaseCall>() || call.is<core::WriteCall>() ||
           call.is<core::ChangeCall>();
}

struct PendingCall {
    std::shared_ptr<Completion> completion;           // of this node's program,
    std::function<void(core::CallAnswer&)> answered;  // or of a client
    core::Nanoseconds progress_timeout{0};            // of the hold that comes of it; zero: none
    core::OperationId upgrades;                       // of an upgrade: the hold
    CallPlace place;                                  // of a call of this node's program
    std::optional<core::LockCache::User> user;        // of an acquire whose grant may be cached
    bool is_unknown_unanswered = false;
    std::optional<core::Instant> began;  // of an acquire, on the steady clock
    std::uint8_t age_warnings = 0;       // the number of warnings that it waits
};

class PendingCalls {
public:
    void add(core::CallTag tag, PendingCall call) { calls_.emplace(tag.raw(), std::move(call)); }
    // Empty if there is no call with that tag.
    [[nodiscard]] std::optional<PendingCall> take(core::CallTag tag) {
        auto found = calls_.extract(tag.raw());
        if (found.empty()) return std::nullopt;
        return std::move(found.mapped());
    }
    [[nodiscard]] std::unordered_map<std::uint64_t, PendingCall> take_all() {
        return std::exchange(calls_, {});
    }
    [[nodiscard]] std::size_t size() const { return calls_.size(); }
    // Calls visit(tag, call) for the calls from that bucket of the table on, until it returns
    // false: then `bucket` is where to go on. True if it came to the end.
    template <class Visit>
    bool each_from(std::size_t& bucket, const Visit& visit) {
        for (; bucket < calls_.bucket_count(); ++bucket) {
            for (auto call = calls_.begin(bucket); call != calls_.end(bucket); ++call) {
                if (!visit(core::CallTag{call->first}, call->second)) return false;
            }
        }
        return true;
    }

private:
    std::unordered_map<std::uint64_t, PendingCall> calls_;
};

}  // namespace mortise::detail
