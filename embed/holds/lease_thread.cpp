#include "embed/holds/lease_thread.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "embed/threads/thread_start.hpp"
#include "embed/values/clocks.hpp"

namespace mortise::detail {

LeaseThread::LeaseThread(Told on_risk, Told on_over, std::function<void()> look_around)
    : on_risk_{std::move(on_risk)},
      on_over_{std::move(on_over)},
      look_around_{std::move(look_around)},
      thread_{start_thread_named("mortise-lease", [this] { run(); })} {}

LeaseThread::~LeaseThread() {
    stop();
}

void LeaseThread::stop() {
    {
        const std::scoped_lock lock{stopping_};
        is_stopped_ = true;
    }
    stopped_.notify_all();
    if (!thread_.joinable()) return;
    thread_.join();
    watched_.with([](auto& watched) { watched.reset(); });
}

void LeaseThread::watch(std::shared_ptr<Lease> lease) {
    const auto from = lease->at_risk_from();
    // The former lease is destroyed outside the lock.
    watched_.with([&](auto& watched) { watched.swap(lease); });
    arm(from);
}

// Does not wake the thread, which reads the time often enough.
void LeaseThread::arm(core::Instant boot) {
    due_.store(boot.ns);
}

void LeaseThread::run() {
    while (true) {
        if (boot_now().ns >= due_.load()) {
            arm(core::Instant::never());
            look();
        }
        if (look_around_) look_around_();
        std::unique_lock lock{stopping_};
        if (stopped_.wait_for(lock, pause(), [this] { return is_stopped_; })) return;
    }
}

core::Nanoseconds LeaseThread::pause() const {
    const core::Nanoseconds left{std::max<std::int64_t>(due_.load() - boot_now().ns, 0)};
    return std::min<core::Nanoseconds>(left, pause_max);
}

std::shared_ptr<Lease> LeaseThread::watched() const {
    return watched_.with([](const auto& watched) { return watched; });
}

void LeaseThread::look() {
    auto lease = watched();
    while (lease) {
        const auto until = lease->valid_until();
        look_at(lease);
        if (!lease->is_over()) arm(next_look(*lease));
        // Another thread may have extended or replaced the lease meanwhile, and set the time first.
        auto present = watched();
        if (present == lease && lease->valid_until() <= until) return;
        lease = std::move(present);
    }
}

void LeaseThread::look_at(const std::shared_ptr<Lease>& lease) {
    const auto until = lease->valid_until();
    const auto now = boot_now();
    const bool ended = lease->end_if_run_out(now);
    const bool warns = lease->is_valid(now) && lease->is_at_risk(now) && warned_until_ != until;
    if (warns) warned_until_ = until;
    try {
        if (warns) on_risk_(lease);
        if (ended) on_over_(lease);
    } catch (const std::exception&) {  // no memory: the core will also detect the end
    }
}

// After the warning the next time is the end of the lease.
core::Instant LeaseThread::next_look(const Lease& lease) const {
    const auto until = lease.valid_until();
    return warned_until_ == until ? until : lease.at_risk_from();
}

}  // namespace mortise::detail
