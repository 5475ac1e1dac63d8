#include "tools/mortise/run/client_lock.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "tools/mortise/exit_code.hpp"
#include "tools/mortise/typed_name.hpp"
#include <mortise/election.hpp>
#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace {

constexpr Duration call_timeout_max = std::chrono::seconds{1};
constexpr std::size_t label_bytes_max = 256;
constexpr std::size_t name_bytes_max = 512;
constexpr std::size_t names_max = 64;
constexpr std::uint32_t permits_max = 1024;
constexpr std::uint32_t limit_max = 65'536;

// Zero if it is none.
std::uint32_t number_of(std::string_view text, std::uint32_t max) {
    std::uint32_t number = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    return read.ec == std::errc{} && read.ptr == end && number <= max ? number : 0;
}

// "2/5" is two permits of five.
Permits permits_of(const std::string& text) {
    const auto slash = text.find('/');
    Permits permits;
    permits.number = number_of(std::string_view{text}.substr(0, slash), permits_max);
    permits.limit = slash == std::string::npos
                        ? permits.number
                        : number_of(std::string_view{text}.substr(slash + 1), limit_max);
    if (permits.number == 0 || permits.limit == 0)
        throw Failure{ExitCode::usage, "--permits: \"" + escaped(text) +
                                           "\" is not N or N/LIMIT: N is 1 to 1024, LIMIT 1 to "
                                           "65536"};
    if (permits.number > permits.limit)
        throw Failure{ExitCode::usage, "--permits: more permits than the limit"};
    return permits;
}

std::vector<std::string> names_of(const LockWords& words, const char* option) {
    std::vector<std::string> names;
    for (const auto& word : words.locks) {
        names.push_back(name_of(word, words.escaped));
        if (names.back().empty() || names.back().size() > name_bytes_max)
            throw Failure{ExitCode::usage, std::string{option} + ": a name has 1 to 512 bytes"};
    }
    if (names.size() > names_max)
        throw Failure{ExitCode::usage, std::string{option} + ": at most 64 names"};
    return names;
}

// What has one name, and one holder or as many as there are permits.
void check(const LockWords& words) {
    const auto* const kind = words.permits ? "--permits" : words.value ? "--elect" : nullptr;
    if (words.permits && words.value)
        throw Failure{ExitCode::usage, "--permits and --elect exclude each other"};
    if (kind != nullptr && words.locks.size() > 1)
        throw Failure{ExitCode::usage, std::string{kind} + ": name one --lock"};
    if (words.value && words.value->size() > Election::value_bytes_max)
        throw Failure{ExitCode::usage, "--elect: the value has more than 4000 bytes"};
}

RunLock lock_of(const LockWords& words, const char* option, const std::string& otherwise_label) {
    check(words);
    return {.names = names_of(words, option),
            .is_shared = words.shared,
            .permits = words.permits ? std::optional{permits_of(*words.permits)} : std::nullopt,
            .leads_with = words.value,
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
    lock_ = lock_of(words, option, otherwise_label);
    const auto timeout = positive_duration_of("--timeout", words.access.timeout);
    config_ = client_config_of(words.access, words.ttl);
    lock_.patience = config_.timing.call_timeout;
    // A cluster that is away must not keep this program, and its signals, for longer.
    config_.timing.call_timeout = std::min(config_.timing.call_timeout, call_timeout_max);
    // The lock is released before that. A session without locks may as well expire.
    config_.timing.close_timeout = std::chrono::milliseconds{200};
    until_ = Clock::now() + timeout;
}

Grant ClientLock::acquire(const std::stop_token& cancel) {
    if (config_.cluster.empty()) config_.cluster = cluster_of_members(config_, until_, cancel);
    node_.emplace(config_);
    wait_ready(*node_, until_, cancel);
    return acquire_for_run(*node_, lock_, cancel);
}

void ClientLock::close() {
    if (node_) node_->close();
}

}  // namespace mortise::cli
