#include "embed/lease_thread.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "embed/clocks.hpp"
#include "embed/thread_start.hpp"

namespace mortise::detail {

namespace {

int need(int descriptor, const char* what) {
    if (descriptor < 0) throw std::system_error{errno, std::generic_category(), what};
    return descriptor;
}

}  // namespace

LeaseThread::LeaseThread(Told on_risk, Told on_over)
    : on_risk_{std::move(on_risk)}, on_over_{std::move(on_over)} {
    timer_ = need(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create");
    try {
        stop_ = need(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd");
        thread_ = start_thread_named("mortise-lease", [this] { run(); });
    } catch (...) {
        close(timer_);
        if (stop_ >= 0) close(stop_);
        throw;
    }
}

LeaseThread::~LeaseThread() {
    stop();
    close(timer_);
    close(stop_);
}

void LeaseThread::stop() {
    if (!thread_.joinable()) return;
    eventfd_write(stop_, 1);
    thread_.join();
    watched_.with([](auto& watched) { watched.reset(); });
}

void LeaseThread::watch(std::shared_ptr<Lease> lease) {
    const auto from = lease->at_risk_from();
    // What it was is let go of outside.
    watched_.with([&](auto& watched) { watched.swap(lease); });
    arm(from);
}

// Setting the timer is thread-safe and wakes nobody before it is time.
void LeaseThread::arm(core::Instant boot) const {
    constexpr std::int64_t second = 1'000'000'000;
    itimerspec at{};
    const auto ns = boot.ns > 0 ? boot.ns : 1;  // zero would disarm it
    at.it_value = {ns / second, ns % second};
    timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr);
}

void LeaseThread::run() {
    pollfd wait[2] = {{timer_, POLLIN, 0}, {stop_, POLLIN, 0}};
    while (true) {
        const auto ready = poll(wait, 2, -1);
        if (ready < 0 && errno == EINTR) continue;
        if ((wait[1].revents & POLLIN) != 0) return;
        std::uint64_t ticks = 0;
        if (read(timer_, &ticks, sizeof ticks) > 0) look();
    }
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
        // Whoever extended or replaced it meanwhile may have set the timer before we did.
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
    if (ended) worst_delay_ns_.store(std::max(worst_delay_ns_.load(), (now - until).count()));
    if (warns) warned_until_ = until;
    try {
        if (warns) on_risk_(lease);
        if (ended) on_over_(lease);
    } catch (const std::exception&) {  // no memory: the core will find it over, too
    }
}

// Once it was said to be at risk, its end.
core::Instant LeaseThread::next_look(const Lease& lease) const {
    const auto until = lease.valid_until();
    return warned_until_ == until ? until : lease.at_risk_from();
}

}  // namespace mortise::detail
