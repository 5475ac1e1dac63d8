// Watches the lease of this node's session, on the clock that counts suspend: says when it is at
// risk, and ends it when it has run out, whatever disk, network or the core thread are doing (S7).
// Runs nothing of the user's and takes no lock that anybody holds while doing I/O.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "embed/guarded.hpp"
#include "embed/lease.hpp"

namespace mortise::detail {

class LeaseThread {
public:
    using Told = std::function<void(std::shared_ptr<Lease>)>;

    // Called on the thread, and short, as it watches nothing meanwhile: `on_risk` each time that a
    // renewal is overdue, `on_over` for each lease that it ended. Throws std::system_error when
    // there are no descriptors or threads to be had.
    LeaseThread(Told on_risk, Told on_over);
    ~LeaseThread();
    LeaseThread(const LeaseThread&) = delete;
    LeaseThread& operator=(const LeaseThread&) = delete;

    // Watches this one from now on; call it again when it was extended. One thread at a time.
    void watch(std::shared_ptr<Lease> lease);
    // Nothing is watched any more.
    void stop();
    // The latest that a tick ever came, in nanoseconds.
    [[nodiscard]] std::int64_t worst_delay_ns() const { return worst_delay_ns_.load(); }

private:
    void run();
    void look();
    void look_at(const std::shared_ptr<Lease>& lease);
    [[nodiscard]] std::shared_ptr<Lease> watched() const;
    [[nodiscard]] core::Instant next_look(const Lease& lease) const;
    void arm(core::Instant boot) const;

    const Told on_risk_;
    const Told on_over_;
    int timer_ = -1;
    int stop_ = -1;
    Guarded<std::shared_ptr<Lease>> watched_;
    std::atomic<std::int64_t> worst_delay_ns_{0};
    core::Instant warned_until_{};  // of the last lease said to be at risk; on the thread
    std::thread thread_;
};

}  // namespace mortise::detail
