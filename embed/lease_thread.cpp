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

LeaseThread::LeaseThread(std::function<void(std::shared_ptr<Lease>)> on_over)
    : on_over_{std::move(on_over)} {
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
    watched_.store(nullptr);
}

void LeaseThread::watch(std::shared_ptr<Lease> lease) {
    const auto until = lease->valid_until();
    watched_.store(std::move(lease));
    arm(until);
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

void LeaseThread::look() {
    auto lease = watched_.load();
    if (!lease) return;
    const auto until = lease->valid_until();
    const auto now = boot_now();
    if (!lease->end_if_run_out(now)) {
        // Extended just now. Whoever did that may have set the timer before we read it.
        if (!lease->is_over()) arm(lease->valid_until());
        return;
    }
    worst_delay_ns_.store(std::max(worst_delay_ns_.load(), (now - until).count()));
    try {
        on_over_(std::move(lease));
    } catch (const std::exception&) {  // no memory: the core will find it over, too
    }
}

}  // namespace mortise::detail
