// The way out of the core thread for one call: whoever waits for its answer.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <mortise/hold.hpp>
#include <mortise/info.hpp>
#include <mortise/lock_error.hpp>

namespace mortise::detail {

struct CallOutcome {
    std::error_code error;
    Hold hold;                                // of an acquire; empty and no error: busy
    std::vector<LockInfo> locks;              // of a look; of a busy acquire, who has it
    std::string reason{};                     // in more words than the error, as far as there are
    bool is_busy = false;                     // of a try
    std::vector<ErrorDetail::Wait> circle{};  // of a deadlock
};

// Completed once, on the node's core thread: short, taking no memory, and running nothing of the
// user's. Whoever completes it must not fail, or somebody would wait for ever. An outcome
// that nobody wants any more is dropped, and with it the Hold, which gives itself back.
class Completion {
public:
    Completion() = default;
    Completion(const Completion&) = delete;
    Completion& operator=(const Completion&) = delete;
    virtual ~Completion() = default;
    virtual void complete(CallOutcome outcome) noexcept = 0;
};

// For a thread that waits.
class WaitingThread final : public Completion {
public:
    void complete(CallOutcome outcome) noexcept override { tell(std::move(outcome)); }

    // False when nobody waits any more.
    bool tell(CallOutcome outcome) noexcept {
        std::unique_lock lock{mutex_};
        if (abandoned_) return false;  // its Hold goes when the lock is gone: it is a parameter
        outcome_.emplace(std::move(outcome));
        lock.unlock();
        done_.notify_one();
        return true;
    }

    // Empty when the time was over first; then nothing comes any more.
    std::optional<CallOutcome> wait_until(std::chrono::steady_clock::time_point deadline) {
        std::unique_lock lock{mutex_};
        const auto is_done = [this] { return outcome_.has_value(); };
        if (deadline == std::chrono::steady_clock::time_point::max()) {
            done_.wait(lock, is_done);
        } else {
            done_.wait_until(lock, deadline, is_done);
        }
        abandoned_ = true;
        return std::move(outcome_);
    }

private:
    std::mutex mutex_;
    std::condition_variable done_;
    std::optional<CallOutcome> outcome_;
    bool abandoned_ = false;
};

}  // namespace mortise::detail
