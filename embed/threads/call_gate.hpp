// The queue of calls to the core thread. It is bounded, and wakes the core thread once for a burst
// of calls. It outlives the node, so that later calls of holds and mutexes get an error.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <system_error>
#include <utility>

#include "core/agent/call.hpp"
#include "core/base/id_table.hpp"
#include "embed/threads/completion.hpp"
#include "embed/threads/fork_generation.hpp"
#include "embed/threads/guarded.hpp"
#include "embed/threads/notifier.hpp"
#include "embed/threads/submitted_call.hpp"

namespace mortise::detail {

// A call and its completion, which is null if no caller waits.
struct Submitted {
    SubmittedCall call;
    std::shared_ptr<Completion> completion{};
    core::Instant gives_up = core::Instant::never();  // while it waits for another run of the node
};

// The calls are in the order of submission. Moving the list allocates nothing.
using SubmittedCalls = std::list<Submitted>;
// Those that the core has, by tag, each in a list of its own.
using PendingCalls = core::IdTable<core::CallTag, SubmittedCalls>;

// A call whose memory is allocated in advance, so that it can be submitted at any time.
[[nodiscard]] inline SubmittedCalls prepared(SubmittedCall call) {
    SubmittedCalls one;
    one.emplace_back().call = std::move(call);
    return one;
}

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
    std::error_code submit(Submitted one);
    std::error_code submit(SubmittedCall call, std::shared_ptr<Completion> completion);
    // Submits a prepared call, and allocates nothing. Does nothing if it was submitted before, also
    // by another thread. After an error the call is still in the list.
    std::error_code submit(SubmittedCalls& prepared) noexcept;
    // Does the same, but puts the call before all that were not taken yet.
    std::error_code submit_first(SubmittedCalls& prepared) noexcept;
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

        [[nodiscard]] bool accepts(const SubmittedCall& call) const {
            return open == Open::to_all || (open == Open::to_told && call.is<core::ToldCall>());
        }
    };

    std::error_code submit(SubmittedCalls& prepared, bool first) noexcept;
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
