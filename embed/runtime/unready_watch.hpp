// Warns of a node that is not ready for long, with the reason: after a time, and each time that it
// has doubled. Without it, a node that waits for a majority is silent at the default level.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "embed/holds/age_limit.hpp"
#include "embed/host/log_sink.hpp"

namespace mortise::detail {

// Used on one thread, that of `io`.
class UnreadyWatch {
public:
    // `why` says why the node is not ready now.
    UnreadyWatch(asio::io_context& io, NodeLog& log, core::Nanoseconds limit,
                 std::function<std::string()> why)
        : log_{log}, limit_{limit}, why_{std::move(why)}, timer_{io} {}

    // The node is not ready from now on.
    void not_ready();
    // It is ready, or ends.
    void ready();

private:
    void look();

    NodeLog& log_;
    const AgeLimit limit_;
    const std::function<std::string()> why_;
    asio::steady_timer timer_;
    // since when the node is not ready, and the warnings of that: set by not_ready()
    core::Instant since_;
    std::uint8_t warnings_ = 0;
    // from not_ready() to ready(): the timer may fire although it was cancelled
    bool is_on_ = false;
};

}  // namespace mortise::detail
