#include "tools/mortise/run/run_lock.hpp"

#include <optional>
#include <system_error>
#include <utility>

#include "tools/mortise/exit_code.hpp"
#include <mortise/errc.hpp>
#include <mortise/escaped.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/options.hpp>

namespace mortise::cli {

namespace {

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

std::string holder_of(const LockInfo& lock) {
    if (lock.is_closed) return "it is closed for a while";
    if (lock.holders.empty()) return "others wait for it";
    const auto& holder = lock.holders.front();
    const auto label = holder.label.empty() ? "" : " (" + escaped(holder.label) + ")";
    const auto node = holder.node == 0 ? "a client" : "node " + std::to_string(holder.node);
    return node + label + " has it";
}

// A client node is not told who has it, and asks.
[[noreturn]] void fail_busy(Node& node, const RunLock& lock) {
    std::error_code ignored;
    const auto seen = node.inspect(lock.name, ignored);
    throw Failure{ExitCode::taken, escaped(lock.name) + " is taken: " + holder_of(seen)};
}

}  // namespace

Hold acquire_for_run(Node& node, const RunLock& lock, std::stop_token cancel) {
    auto options = options_of(lock, std::move(cancel));
    if (!lock.wait.is_set()) return node.acquire(lock.name, options);
    std::optional<Hold> hold;
    if (lock.wait > Duration::zero()) {
        hold = node.acquire_for(lock.name, lock.wait, options);
    } else {
        hold = node.try_acquire(lock.name, options);
    }
    if (!hold) fail_busy(node, lock);
    return std::move(*hold);
}

}  // namespace mortise::cli
