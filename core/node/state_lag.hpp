// What is in memory only because the state on disk lags behind: the log since, and the deltas on
// their way there. A disk that is slow or stands still must not make it grow for ever (P11).
#pragma once

#include <cstddef>
#include <deque>

#include "core/node/state_delta.hpp"
#include "core/raft/snapshot.hpp"

namespace mortise::core {

// Of a delta, and of the log that is kept until it is durable.
[[nodiscard]] std::size_t weight(const StateDelta& delta);

class StateLag {
public:
    void applied(const Entry& entry) { log_bytes_ += weight(entry); }
    // Everything that was applied is in it.
    void handed_over(const StateDelta& delta);
    void durable(LogIndex index);

    // Of the log since the last delta.
    [[nodiscard]] std::size_t log_bytes() const { return log_bytes_; }
    [[nodiscard]] std::size_t bytes() const { return waiting_bytes_ + log_bytes_; }

private:
    struct Waiting {
        LogIndex applied;
        std::size_t bytes = 0;
    };

    std::deque<Waiting> waiting_;  // handed over, not durable
    std::size_t waiting_bytes_ = 0;
    std::size_t log_bytes_ = 0;
};

// The same of a state that comes from another and is to take the place of this node's own.
class InstallLag {
public:
    void handed_over(const InstallStep& step);
    void taken();

    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    std::deque<std::size_t> waiting_;
    std::size_t bytes_ = 0;
};

}  // namespace mortise::core
