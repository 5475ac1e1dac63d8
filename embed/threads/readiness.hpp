// Whether this node can answer calls; threads can wait until it can.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>

namespace mortise::detail {

// Thread-safe.
class Readiness {
public:
    void set_ready(bool ready) {
        {
            const std::scoped_lock lock{mutex_};
            ready_ = ready;
        }
        changed_.notify_all();
    }
    // Final; the first reason is kept.
    void stop(std::string_view why) noexcept {
        {
            const std::scoped_lock lock{mutex_};
            if (!stopped_) stop_for(why);
        }
        changed_.notify_all();
    }

    // False if the time ended, or if the node stopped.
    bool wait_until(std::chrono::steady_clock::time_point deadline) {
        std::unique_lock lock{mutex_};
        const auto is_decided = [this] { return ready_ || stopped_; };
        if (deadline == std::chrono::steady_clock::time_point::max()) {
            changed_.wait(lock, is_decided);
        } else {
            changed_.wait_until(lock, deadline, is_decided);
        }
        return ready_ && !stopped_;
    }
    [[nodiscard]] std::optional<std::string> why_stopped() const {
        const std::scoped_lock lock{mutex_};
        return stopped_;
    }

private:
    void stop_for(std::string_view why) noexcept {
        stopped_.emplace();
        try {
            *stopped_ = why;
        } catch (const std::bad_alloc&) {  // it has stopped, and the reason is lost
        }
    }

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool ready_ = false;
    std::optional<std::string> stopped_;
};

}  // namespace mortise::detail
