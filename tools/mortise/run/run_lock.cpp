#include "tools/mortise/run/run_lock.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "tools/mortise/exit_code.hpp"
#include "tools/mortise/say.hpp"
#include <mortise/detail/passing_error.hpp>
#include <mortise/errc.hpp>
#include <mortise/escaped.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/options.hpp>

namespace mortise::cli {

namespace {

using Clock = std::chrono::steady_clock;

// Calls wait for the cluster. This only keeps an immediate error from being repeated busily.
constexpr std::chrono::milliseconds pause{20};

AcquireOptions options_of(const RunLock& lock, std::stop_token cancel) {
    AcquireOptions options;
    options.mode = lock.is_shared ? LockMode::shared : LockMode::exclusive;
    options.label = lock.label;
    options.max_hold = lock.max_hold;
    options.min_hold = lock.min_hold;
    options.caching = Caching::off;  // there is one acquire
    options.cancel = std::move(cancel);
    return options;
}

// Why it is taken, if that is known now; the holder may have left meanwhile.
std::string holder_of(const LockInfo& lock) {
    if (lock.is_closed) return ": it is closed for a while";
    if (lock.holders.empty()) return lock.waiters.empty() ? "" : ": others wait for it";
    const auto& holder = lock.holders.front();
    const auto label = holder.label.empty() ? "" : " (" + escaped(holder.label) + ")";
    const auto node = holder.node == 0 ? "a client" : "node " + std::to_string(holder.node);
    return ": " + node + label + " has it";
}

[[noreturn]] void fail_unavailable(const std::string& why) {
    throw Failure{ExitCode::unavailable, "the cluster cannot be reached: " + why};
}

// A client node is not told who has it, and asks. A cluster that does not answer may have been away
// for the whole wait.
[[noreturn]] void fail_busy(Node& node, const RunLock& lock, const std::stop_token& cancel) {
    LockInfo seen;
    std::error_code ec;
    if (!cancel.stop_requested()) seen = node.inspect(lock.name, ec);
    const auto status = node.status();
    if (ec && !status.ready) fail_unavailable(status.why_not_ready);
    throw Failure{ExitCode::taken,
                  escaped_name(lock.name) + " is taken" + (ec ? "" : holder_of(seen))};
}

// Empty if others keep it until then.
std::optional<Hold> acquire_once(Node& node, const RunLock& lock, const AcquireOptions& options,
                                 Clock::time_point until) {
    if (!lock.wait.is_set()) return node.acquire(lock.name, options);
    if (lock.wait > Duration::zero()) return node.acquire_until(lock.name, until, options);
    return node.try_acquire(lock.name, options);
}

Clock::time_point end_of_wait(const RunLock& lock) {
    if (!lock.wait.is_set()) return Clock::time_point::max();
    const auto now = Clock::now();
    const auto wait = lock.wait > Duration::zero() ? lock.wait : lock.patience;
    const auto most = Duration{Clock::time_point::max() - now};
    return now + std::min(wait, most).to_nanoseconds();
}

}  // namespace

Hold acquire_for_run(Node& node, const RunLock& lock, const std::stop_token& cancel) {
    const auto options = options_of(lock, cancel);
    const auto until = end_of_wait(lock);
    for (bool is_told = false;; is_told = true) {
        try {
            auto hold = acquire_once(node, lock, options, until);
            if (!hold) fail_busy(node, lock, cancel);
            return std::move(*hold);
        } catch (const LockError& error) {
            if (cancel.stop_requested() || !detail::is_passing(error.code())) throw;
            if (until <= Clock::now() + pause) fail_unavailable(line_of(error));
            if (!is_told) say("waits for " + escaped_name(lock.name) + " anew: " + line_of(error));
        }
        std::this_thread::sleep_for(pause);
    }
}

}  // namespace mortise::cli
