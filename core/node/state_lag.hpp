// Memory that is used only because the state on disk is behind: the log since then, and the deltas
// on their way there. A slow or stalled disk must not let it grow without limit (P11).
#pragma once

#include <cstddef>
#include <deque>

#include "core/node/state_delta.hpp"
#include "core/raft/snapshot.hpp"

namespace mortise::core {

// The size of a delta, and of the log that is kept until it is durable.
[[nodiscard]] std::size_t weight(const StateDelta& delta);

class StateLag {
public:
    void applied(const Entry& entry) { log_bytes_ += weight(entry); }
    // Everything that was applied is in a delta.
    void handed_over(const StateDelta& delta);
    void durable(LogIndex index);

    // The log since the last delta.
    [[nodiscard]] std::size_t log_bytes() const { return log_bytes_; }
    [[nodiscard]] std::size_t bytes() const { return waiting_bytes_ + log_bytes_; }

private:
    struct Waiting {
        LogIndex applied;
        std::size_t bytes = 0;
    };

    std::deque<Waiting> waiting_;  // passed on, not durable
    std::size_t waiting_bytes_ = 0;
    std::size_t log_bytes_ = 0;
};

// The same for a snapshot that will replace this node's own state.
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
