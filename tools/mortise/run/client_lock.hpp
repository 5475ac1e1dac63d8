// The lock of the commands `run` and `lock`: as it was typed, and the client node that acquires it.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tools/mortise/access.hpp"
#include "tools/mortise/run/run_lock.hpp"
#include <mortise/config.hpp>
#include <mortise/node.hpp>

namespace mortise::cli {

// The lock and its options, as the user typed them.
struct LockWords {
    Access access{.timeout = "10s"};
    std::vector<std::string> locks{};
    bool escaped = false;
    bool shared = false;
    std::optional<std::string> permits{};
    std::optional<std::string> value{};  // of a candidate
    std::optional<std::string> wait{};
    std::optional<std::string> max_hold{};
    std::optional<std::string> min_hold{};
    std::optional<std::string> ttl{};
    std::optional<std::string> label{};
};

// The options of everything but the name. `at_max_hold`: what is done after that time.
[[nodiscard]] std::vector<Option> lock_options(LockWords& words, const std::string& at_max_hold);
// "host/4711: " and what this process does
[[nodiscard]] std::string default_label(const std::string& does);
[[nodiscard]] Duration time_or(const char* option, const std::optional<std::string>& text,
                               Duration otherwise);

class ClientLock {
public:
    // Throws Failure if the words are not valid. Opens nothing. `option` is how the user gave the
    // name.
    ClientLock(const LockWords& words, const char* option, const std::string& otherwise_label);

    // Blocks until the lock is granted, until that is impossible, or until a stop is requested.
    // Throws like acquire_for_run(). Call it once, on any thread.
    [[nodiscard]] Grant acquire(const std::stop_token& cancel);
    // Closes the node, if there is one.
    void close();

    [[nodiscard]] Duration ttl() const { return config_.timing.session_ttl; }
    [[nodiscard]] Duration max_hold() const { return lock_.max_hold; }
    [[nodiscard]] const std::vector<std::string>& names() const { return lock_.names; }

private:
    using Clock = std::chrono::steady_clock;

    RunLock lock_;
    Config config_;
    Clock::time_point until_;  // when the cluster must have been reached
    std::optional<Node> node_;
};

}  // namespace mortise::cli
