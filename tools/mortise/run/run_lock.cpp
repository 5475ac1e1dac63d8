#include "tools/mortise/run/run_lock.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "tools/mortise/exit_code.hpp"
#include "tools/mortise/say.hpp"
#include "tools/mortise/short_time.hpp"
#include <mortise/detail/passing_error.hpp>
#include <mortise/election.hpp>
#include <mortise/errc.hpp>
#include <mortise/escaped.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/lock_request.hpp>
#include <mortise/options.hpp>
#include <mortise/semaphore.hpp>

namespace mortise::cli {

namespace {

using Clock = std::chrono::steady_clock;

// Calls wait for the cluster. This only keeps an immediate error from being repeated busily.
constexpr std::chrono::milliseconds pause{20};

LockMode mode_of(const RunLock& lock) {
    return lock.is_shared ? LockMode::shared : LockMode::exclusive;
}

AcquireOptions options_of(const RunLock& lock, std::stop_token cancel) {
    AcquireOptions options;
    options.mode = mode_of(lock);
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
    auto text = ": " + node + label + (lock.limit ? " has permits of it" : " has it");
    if (holder.age.is_set()) text += ", for " + short_time(holder.age);
    const auto from = shown_label({}, holder.origin);
    return from.empty() ? text : text + ", from " + escaped(from);
}

bool is_taken(const LockInfo& lock) {
    return lock.is_closed || !lock.holders.empty() || !lock.waiters.empty();
}

// All are free again if none is told.
std::string line_of_taken(const RunLock& lock, const LockInfo& seen) {
    if (is_taken(seen)) return escaped_name(seen.name) + " is taken" + holder_of(seen);
    const bool is_one = lock.names.size() == 1;
    return is_one ? escaped_name(lock.names.front()) + " is taken" : "one of the locks is taken";
}

[[noreturn]] void fail_unavailable(const std::string& why) {
    throw Failure{ExitCode::unavailable, "the cluster cannot be reached: " + why};
}

// A client node is not told who has it, and asks. A cluster that does not answer may have been away
// for the whole wait.
[[noreturn]] void fail_busy(Node& node, const RunLock& lock, const std::stop_token& cancel) {
    LockInfo seen;
    std::error_code ec;
    for (const auto& name : lock.names) {
        if (ec || cancel.stop_requested() || is_taken(seen)) break;
        seen = node.inspect(name, ec);
    }
    const auto status = node.status();
    if (ec && !status.ready) fail_unavailable(status.why_not_ready);
    throw Failure{ExitCode::taken, line_of_taken(lock, ec ? LockInfo{} : seen)};
}

// For how long this attempt may wait.
Duration wait_of(const RunLock& lock, Clock::time_point until) {
    if (!lock.wait.is_set()) return Duration::max();
    if (lock.wait <= Duration::zero()) return Duration::zero();
    return std::max(Duration{until - Clock::now()}, Duration::zero());
}

// Throws timed_out if others keep it for that long.
Grant acquire_once(Node& node, const RunLock& lock, const AcquireOptions& options) {
    const auto& name = lock.names.front();
    if (lock.leads_with) {
        Election election{node, name};
        auto hold = election.campaign(*lock.leads_with, options);
        return {std::move(election), std::move(hold)};
    }
    if (lock.permits) {
        Semaphore semaphore{node, name, lock.permits->limit};
        return Grant{semaphore.acquire(lock.permits->number, options)};
    }
    if (lock.names.size() == 1) return Grant{node.acquire(name, options)};
    std::vector<LockRequest> requests;
    for (const auto& each : lock.names)
        requests.push_back({each, mode_of(lock)});
    return {node.acquire_all(requests, options), lock.names};
}

std::string names_of(const RunLock& lock) {
    std::string text;
    for (const auto& name : lock.names)
        text += (text.empty() ? "" : ", ") + escaped_name(name);
    return text;
}

Clock::time_point end_of_wait(const RunLock& lock) {
    if (!lock.wait.is_set()) return Clock::time_point::max();
    const auto now = Clock::now();
    const auto wait = lock.wait > Duration::zero() ? lock.wait : lock.patience;
    const auto most = Duration{Clock::time_point::max() - now};
    return now + std::min(wait, most).to_nanoseconds();
}

}  // namespace

Grant acquire_for_run(Node& node, const RunLock& lock, const std::stop_token& cancel) {
    auto options = options_of(lock, cancel);
    const auto until = end_of_wait(lock);
    for (bool is_told = false;; is_told = true) {
        try {
            options.wait_max = wait_of(lock, until);
            return acquire_once(node, lock, options);
        } catch (const LockError& error) {
            if (error.code() == Errc::timed_out) fail_busy(node, lock, cancel);
            if (cancel.stop_requested() || !detail::is_passing(error.code())) throw;
            if (until <= Clock::now() + pause) fail_unavailable(line_of(error));
            if (!is_told) say("waits for " + names_of(lock) + " anew: " + line_of(error));
        }
        std::this_thread::sleep_for(pause);
    }
}

}  // namespace mortise::cli
