// Delivers the notifications that a hold's owner asked for (S6, S24), except that of the loss
// itself: see HoldRecord::notify_lost().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/instant.hpp"
#include "embed/threads/guarded.hpp"
#include "embed/threads/notifier.hpp"
#include <mortise/duration.hpp>
#include <mortise/enums.hpp>

namespace mortise::detail {

// A request that conflicts with this hold.
struct Contention {
    LockMode mode = LockMode::exclusive;
    std::size_t waiters = 0;
    std::string reason;  // of Node::request_release()
};

// The callbacks of AcquireOptions.
struct HoldWishes {
    std::function<void(Duration remaining)> on_at_risk;
    std::function<void()> on_suspended;
    std::function<void(LockMode mode, std::size_t waiters, std::string_view reason)> on_contended;

    explicit operator bool() const { return on_at_risk || on_suspended || on_contended; }
};

// Thread-safe. Notifications run code of the program, so they run on the notifier's threads only.
// Destroying the callbacks may run such code too: so the watcher is a job there for its own
// destruction. Until then it owns itself, and its hold has only a pointer: most holds have none.
class HoldWatcher final : public Notifier::Job {
public:
    static HoldWatcher* make(HoldWishes wishes);
    // The hold is gone.
    [[nodiscard]] std::shared_ptr<HoldWatcher> let_go() { return std::move(self_); }

    [[nodiscard]] bool wants_trouble() const { return wishes_.on_at_risk || wishes_.on_suspended; }
    [[nodiscard]] bool wants_contentions() const { return static_cast<bool>(wishes_.on_contended); }

    // At most once for each end of a lease: `until` is the end.
    void notify_at_risk(core::Instant until, core::Instant boot);
    void notify_suspended(core::Instant until);
    // A slow owner gets one notification at a time: the newest waiter and the last request. False
    // if a notification is running or about to run.
    [[nodiscard]] bool add(Contention contention);
    void notify_contentions();

private:
    explicit HoldWatcher(HoldWishes wishes) : wishes_{std::move(wishes)} {}

    struct Pending {
        std::vector<Contention> contentions;
        bool is_notifying = false;
    };

    void tell(const Contention& one) const noexcept;

    std::shared_ptr<HoldWatcher> self_;
    const HoldWishes wishes_;
    std::atomic<std::int64_t> risk_notified_{0};
    std::atomic<std::int64_t> suspension_notified_{0};
    Guarded<Pending> pending_;
};

}  // namespace mortise::detail
