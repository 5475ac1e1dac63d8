// The result of one call, passed from the core thread to the caller.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "embed/threads/stage_trace.hpp"
#include <mortise/hold.hpp>
#include <mortise/info.hpp>
#include <mortise/lock_error.hpp>

namespace mortise::detail {

struct CallOutcome {
    std::error_code error;
    Hold hold;                    // of an acquire; empty without an error: busy
    std::vector<LockInfo> locks;  // of a listing; or the holders that made an acquire busy
    std::string reason{};         // empty if the error code says everything
    bool is_busy = false;         // of a try
    std::vector<ErrorDetail::Wait> cycle{};  // of a deadlock: the wait cycle
};

// Completed once, on the core thread, or on the thread that hands a cached grant over. It must be
// short, allocate nothing, and run no code of the program. It must not fail, because a caller would
// then wait for ever. If the caller has gone, the outcome is dropped, and its Hold releases itself.
class Completion {
public:
    Completion() = default;
    Completion(const Completion&) = delete;
    Completion& operator=(const Completion&) = delete;
    virtual ~Completion() = default;
    virtual void complete(CallOutcome outcome) noexcept = 0;
};

// The completion of a thread that waits.
class WaitingThread final : public Completion {
public:
    void complete(CallOutcome outcome) noexcept override { tell(std::move(outcome)); }

    // False if the thread has stopped waiting.
    bool tell(CallOutcome outcome) noexcept {
        std::unique_lock lock{mutex_};
        // the Hold is a parameter, so it is released outside the lock
        if (abandoned_) return false;
        outcome_.emplace(std::move(outcome));
        lock.unlock();
        done_.notify_one();
        return true;
    }

    // The answer to a call that the core answers by its deadline, within one step. If it does not,
    // the error is `late`, and the thread stops waiting soon after.
    CallOutcome answer_by(std::chrono::steady_clock::time_point deadline, std::error_code late) {
        constexpr auto slack = std::chrono::milliseconds{100};
        const bool is_endless = deadline == std::chrono::steady_clock::time_point::max();
        auto outcome = wait_until(is_endless ? deadline : deadline + slack);
        return outcome ? *std::move(outcome) : CallOutcome{late, {}, {}};
    }

    // Empty if the time ended first; a later outcome is dropped.
    std::optional<CallOutcome> wait_until(std::chrono::steady_clock::time_point deadline) {
        std::unique_lock lock{mutex_};
        const auto is_done = [this] { return outcome_.has_value(); };
        if (deadline == std::chrono::steady_clock::time_point::max()) {
            done_.wait(lock, is_done);
        } else {
            done_.wait_until(lock, deadline, is_done);
        }
        abandoned_ = true;
        stage(Stage::woken);
        return std::move(outcome_);
    }

private:
    std::mutex mutex_;
    std::condition_variable done_;
    std::optional<CallOutcome> outcome_;
    bool abandoned_ = false;
};

}  // namespace mortise::detail
