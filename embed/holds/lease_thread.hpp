// Watches the lease of this node's session on the clock that counts suspend. It reports when the
// lease is at risk, and ends it when its time has passed, whatever the disk, the network and the
// core thread are doing (S7). It runs no code of the program and takes no lock that another thread
// holds during I/O. It has no descriptor, which the program might close: it sleeps for short times
// and reads the clock.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "embed/holds/lease.hpp"
#include "embed/threads/guarded.hpp"

namespace mortise::detail {

class LeaseThread {
public:
    using Told = std::function<void(std::shared_ptr<Lease>)>;

    // The callbacks run on this thread and must be short, because it watches nothing meanwhile.
    // `on_risk` is called each time that a renewal is overdue, `on_over` for each lease that it
    // ended, and `look_around`, which must not throw, each time that it wakes up. Throws
    // std::system_error if no thread can be started.
    LeaseThread(Told on_risk, Told on_over, std::function<void()> look_around = {});
    ~LeaseThread();
    LeaseThread(const LeaseThread&) = delete;
    LeaseThread& operator=(const LeaseThread&) = delete;

    // Watches this lease from now on. Call it again after an extension. One thread at a time.
    void watch(std::shared_ptr<Lease> lease);
    // Stops watching.
    void stop();
    [[nodiscard]] std::shared_ptr<Lease> watched() const;

private:
    // The end of a lease is detected at most this long after the machine resumes from suspend. It
    // is less than the time for which the shortest lease is valid before it is at risk.
    static constexpr std::chrono::milliseconds pause_max{50};

    void run();
    void look();
    void look_at(const std::shared_ptr<Lease>& lease);
    [[nodiscard]] core::Instant next_look(const Lease& lease) const;
    [[nodiscard]] core::Nanoseconds pause() const;
    void arm(core::Instant boot);

    const Told on_risk_;
    const Told on_over_;
    const std::function<void()> look_around_;
    std::atomic<std::int64_t> due_ = core::Instant::never().ns;  // when to check the lease
    std::mutex stopping_;
    std::condition_variable stopped_;
    bool is_stopped_ = false;
    Guarded<std::shared_ptr<Lease>> watched_;
    core::Instant warned_until_{};  // of the last lease said to be at risk; on the thread
    std::thread thread_;
};

}  // namespace mortise::detail
