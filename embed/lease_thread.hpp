// Watches the lease of this node's session, on the clock that counts suspend: says when it is at
// risk, and ends it when it has run out, whatever disk, network or the core thread are doing (S7).
// Runs nothing of the user's and takes no lock that anybody holds while doing I/O. It has no
// descriptor, which the program might close: it sleeps for a moment, again and again, and looks at
// the clock.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "embed/guarded.hpp"
#include "embed/lease.hpp"

namespace mortise::detail {

class LeaseThread {
public:
    using Told = std::function<void(std::shared_ptr<Lease>)>;

    // Called on the thread, and short, as it watches nothing meanwhile: `on_risk` each time that a
    // renewal is overdue, `on_over` for each lease that it ended, `look_around` each time that it
    // wakes up, which must not throw. Throws std::system_error when there is no thread to be had.
    LeaseThread(Told on_risk, Told on_over, std::function<void()> look_around = {});
    ~LeaseThread();
    LeaseThread(const LeaseThread&) = delete;
    LeaseThread& operator=(const LeaseThread&) = delete;

    // Watches this one from now on; call it again when it was extended. One thread at a time.
    void watch(std::shared_ptr<Lease> lease);
    // Nothing is watched any more.
    void stop();
    [[nodiscard]] std::shared_ptr<Lease> watched() const;

private:
    // So much later than it ran out the end of a lease is told at most, after the machine slept.
    static constexpr std::chrono::milliseconds pause_max{25};

    void run();
    void look();
    void look_at(const std::shared_ptr<Lease>& lease);
    [[nodiscard]] core::Instant next_look(const Lease& lease) const;
    [[nodiscard]] core::Nanoseconds pause() const;
    void arm(core::Instant boot);

    const Told on_risk_;
    const Told on_over_;
    const std::function<void()> look_around_;
    std::atomic<std::int64_t> due_ = core::Instant::never().ns;  // when to look at the lease
    std::mutex stopping_;
    std::condition_variable stopped_;
    bool is_stopped_ = false;
    Guarded<std::shared_ptr<Lease>> watched_;
    core::Instant warned_until_{};  // of the last lease said to be at risk; on the thread
    std::thread thread_;
};

}  // namespace mortise::detail
