#include "tools/mortise/run/client_lock.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <unistd.h>

#include "tools/mortise/exit_code.hpp"
#include "tools/mortise/typed_name.hpp"

namespace mortise::cli {

namespace {

constexpr Duration call_timeout_max = std::chrono::seconds{1};
constexpr std::size_t label_bytes_max = 256;
constexpr std::size_t name_bytes_max = 512;

RunLock lock_of(const LockWords& words, const std::string& otherwise_label) {
    return {.name = name_of(words.lock, words.escaped),
            .is_shared = words.shared,
            .wait = time_or("--wait", words.wait, Duration::max()),
            .max_hold = time_or("--max-hold", words.max_hold, Duration::max()),
            .min_hold = time_or("--min-hold", words.min_hold, Duration::zero()),
            .label = words.label.value_or(otherwise_label)};
}

// Without a limit for the wait, a cluster that cannot be reached would look like a lock that others
// have.
void wait_ready(Node& node, std::chrono::steady_clock::time_point until,
                const std::stop_token& cancel) {
    constexpr auto glance = std::chrono::milliseconds{100};
    while (!cancel.stop_requested()) {
        const auto now = std::chrono::steady_clock::now();
        if (node.wait_ready(std::min(until, now + glance))) return;
        if (now < until) continue;
        throw Failure{ExitCode::unavailable,
                      "the cluster cannot be reached: " + node.status().why_not_ready};
    }
}

}  // namespace

std::vector<Option> lock_options(LockWords& words, const std::string& at_max_hold) {
    return {flag("--shared", words.shared, "Others may hold it in shared mode as well"),
            option("--wait DURATION", value(words.wait),
                   "How long to wait for the lock, 0s for one attempt (default: no limit)"),
            option("--max-hold DURATION", value(words.max_hold),
                   at_max_hold + " after this time (default: no limit)"),
            option("--min-hold DURATION", value(words.min_hold),
                   "Keep the name closed for this time from the grant, even if the lock is given "
                   "back earlier"),
            option("--ttl DURATION", value(words.ttl),
                   "After how long the lock is free if this machine dies (default: that of "
                   "--config, or 10s)")};
}

std::string default_label(const std::string& does) {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    const auto label = std::string{host.data()} + "/" + std::to_string(::getpid()) + ": " + does;
    return label.substr(0, label_bytes_max);
}

Duration time_or(const char* option, const std::optional<std::string>& text, Duration otherwise) {
    return text ? duration_of(option, *text) : otherwise;
}

ClientLock::ClientLock(const LockWords& words, const char* option,
                       const std::string& otherwise_label) {
    const auto name = name_of(words.lock, words.escaped);
    if (name.empty() || name.size() > name_bytes_max)
        throw Failure{ExitCode::usage, std::string{option} + ": a name has 1 to 512 bytes"};
    const auto timeout = positive_duration_of("--timeout", words.access.timeout);
    lock_ = lock_of(words, otherwise_label);
    config_ = client_config_of(words.access, words.ttl);
    lock_.patience = config_.timing.call_timeout;
    // A cluster that is away must not keep this program, and its signals, for longer.
    config_.timing.call_timeout = std::min(config_.timing.call_timeout, call_timeout_max);
    // The lock is released before that. A session without locks may as well expire.
    config_.timing.close_timeout = std::chrono::milliseconds{200};
    until_ = Clock::now() + timeout;
}

Hold ClientLock::acquire(const std::stop_token& cancel) {
    if (config_.cluster.empty()) config_.cluster = cluster_of_members(config_, until_, cancel);
    node_.emplace(config_);
    wait_ready(*node_, until_, cancel);
    return acquire_for_run(*node_, lock_, cancel);
}

void ClientLock::close() {
    if (node_) node_->close();
}

}  // namespace mortise::cli
