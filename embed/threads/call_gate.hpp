// The queue of calls to the core thread. It is bounded, and wakes the core thread once for a burst
// of calls. It outlives the node, so that later calls of holds and mutexes get an error.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>

#include "core/agent/call.hpp"
#include "embed/threads/fork_generation.hpp"
#include "embed/threads/guarded.hpp"
#include "embed/threads/notifier.hpp"
#include "embed/threads/submitted.hpp"

namespace mortise::detail {

// Thread-safe.
class CallGate {
public:
    // `wake` is called from any thread when the gate was empty. If it throws, the exception is
    // dropped, and the next call wakes again. `call_timeout` is for callers that wait for what they
    // submitted.
    CallGate(std::function<void()> wake, core::Nanoseconds call_timeout,
             std::shared_ptr<Notifier> notifier, std::size_t calls_max = 65'536)
        : calls_max_{calls_max},
          call_timeout_{call_timeout},
          notifier_{std::move(notifier)},
          state_{State{std::move(wake), {}, Open::to_all, false}} {}

    [[nodiscard]] core::CallTag next_tag() { return core::CallTag{++newest_tag_}; }
    [[nodiscard]] core::Nanoseconds call_timeout() const { return call_timeout_; }

    // The threads on which handlers of calls run.
    [[nodiscard]] Notifier& notifier() const { return *notifier_; }

    // Returns forked or node_stopped; or resource_exhausted for an acquiring call while `calls_max`
    // of those are in progress. A releasing call is always accepted (P11). After an error, or
    // std::bad_alloc, nothing is queued.
    std::error_code submit(core::Call call, std::shared_ptr<Completion> completion);
    // Submits a prepared call, and allocates nothing. It is null afterwards. Does nothing if it was
    // submitted before, also by another thread. After an error the call is still there.
    std::error_code submit(std::shared_ptr<Submitted>& prepared) noexcept;
    // Does the same, but puts the call before all that were not taken yet.
    std::error_code submit_first(std::shared_ptr<Submitted>& prepared) noexcept;
    // Calls `wake` although nothing was submitted.
    void wake_up() noexcept;
    // Takes the oldest calls that were submitted. `wake` is called again for the rest.
    [[nodiscard]] SubmittedCalls take(std::size_t max = std::numeric_limits<std::size_t>::max());
    [[nodiscard]] std::uint64_t refused() const { return refused_; }
    // Among them.
    [[nodiscard]] std::uint64_t refused_acquires() const { return refused_acquires_; }
    // The node closes: from now on only a ToldCall is accepted, because the close waits for these
    // (S6). Returns the other calls that were not taken.
    [[nodiscard]] SubmittedCalls refuse_calls();
    // Closes the gate and returns the calls that were not taken. After it returns, `wake` is not
    // called and not running.
    [[nodiscard]] SubmittedCalls close();

private:
    enum class Open : std::uint8_t { to_all, to_told, to_none };

    struct State {
        std::function<void()> wake;
        SubmittedCalls queue;
        Open open = Open::to_none;
        bool is_awake = false;  // take() will be called

        [[nodiscard]] bool accepts(const Submitted& call) const {
            return open == Open::to_all || (open == Open::to_told && call.is<core::ToldCall>());
        }
    };

    std::error_code submit(std::shared_ptr<Submitted>& prepared, bool first) noexcept;
    static void wake(State& state) noexcept;
    [[nodiscard]] bool admit(Submitted& one) noexcept;

    const ForkGeneration generation_;
    const std::size_t calls_max_;
    const core::Nanoseconds call_timeout_;
    const std::shared_ptr<Notifier> notifier_;
    std::atomic<std::uint64_t> newest_tag_{0};
    std::atomic<std::uint64_t> refused_{0};
    std::atomic<std::uint64_t> refused_acquires_{0};
    std::atomic<std::size_t> under_way_{0};  // destroyed after the calls, whose places refer to it
    Guarded<State> state_;
};

}  // namespace mortise::detail
