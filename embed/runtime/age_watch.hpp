// Warns of holds that last long and of calls that wait long (ObservabilityConfig): one event and
// one line of the log, with who stands in the way. It looks at a part of them at a time, on the
// core thread.
#pragma once

#include <functional>
#include <string>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "embed/holds/age_limit.hpp"
#include "embed/holds/hold_table.hpp"
#include "embed/host/log_sink.hpp"
#include "embed/runtime/pending_calls.hpp"
#include "embed/threads/event_hub.hpp"
#include <mortise/config.hpp>

namespace mortise::core {
class NodeCore;
}

namespace mortise::detail {

class AgeWatch {
public:
    // All of them outlive the watch, except the core, which exists from start() on.
    struct Parts {
        asio::io_context& io;
        const HoldTable& holds;
        PendingCalls& calls;
        EventHub& events;
        NodeLog& log;
        const core::Access& access;  // of this node
    };
    AgeWatch(Parts parts, const ObservabilityConfig& config);

    // Does nothing if no age is limited.
    void start(const core::NodeCore& core);
    void stop();

private:
    void look();
    [[nodiscard]] bool look_at_holds(core::Instant now);
    [[nodiscard]] bool look_at_calls(core::Instant now);
    void warn_of(const HoldRecord& hold, core::Nanoseconds age);
    void warn_of(core::CallTag call, core::Nanoseconds age);
    void write(std::string_view key, const std::string& text, const NodeEvent& event) const;
    [[nodiscard]] std::string in_the_way(const core::LockView& view, NodeEvent& event) const;

    const Parts parts_;
    const AgeLimit slow_hold_;
    const AgeLimit long_wait_;
    asio::steady_timer timer_;
    core::Nanoseconds pause_;
    const core::NodeCore* core_ = nullptr;
    core::OperationId next_hold_;  // where to go on
    std::size_t next_bucket_ = 0;
    int warnings_left_ = 0;  // in this turn
};

}  // namespace mortise::detail
