// Warns of holds that last long and of calls that wait long (ObservabilityConfig): one event and
// one line of the log, with who stands in the way. It looks at a part of them at a time, on the
// core thread. On a client node a member says who that is.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "core/agent/session_agent.hpp"
#include "embed/holds/age_limit.hpp"
#include "embed/holds/hold_table.hpp"
#include "embed/host/log_sink.hpp"
#include "embed/threads/call_gate.hpp"
#include "embed/threads/event_hub.hpp"
#include <mortise/config.hpp>

namespace mortise::detail {

class AgeWatch {
public:
    // All of them outlive the watch.
    struct Parts {
        asio::io_context& io;
        const HoldTable& holds;
        PendingCalls& calls;
        EventHub& events;
        NodeLog& log;
        const core::Access& access;  // of this node
    };
    AgeWatch(Parts parts, const ObservabilityConfig& config);

    // What the node knows. Used until stop().
    struct Knowledge {
        const core::SessionAgent* agent = nullptr;
        // Tells how the name is used, now or later, or nothing of it if that is not found out.
        using Told = std::function<void(const core::LockView& view)>;
        std::function<void(const std::string& name, Told told)> look_at;
    };
    // Does nothing if no age is limited.
    void start(Knowledge knowledge);
    void stop();

private:
    void set_timer();
    void look();
    [[nodiscard]] bool look_at_holds(core::Instant now);
    [[nodiscard]] bool look_at_calls(core::Instant now);
    // A warning, before it is known how its name is used.
    struct Due {
        NodeEvent event;
        core::OperationId operation;  // the hold, or what waits
        std::size_t names = 1;
    };
    [[nodiscard]] Due due_for(const HoldRecord& hold, core::Nanoseconds age) const;
    [[nodiscard]] Due due_for(core::CallTag call, core::Nanoseconds age) const;
    void warn(const Due& due, const core::LockView& view) const;
    void warn_of_hold(const Due& due, const core::LockView& view) const;
    void warn_of_wait(const Due& due, const core::LockView& view) const;
    [[nodiscard]] bool knows_of(const core::LockView& view) const;
    void write(std::string_view key, const std::string& text, const NodeEvent& event) const;
    [[nodiscard]] std::string in_the_way(const core::LockView& view, NodeEvent& event) const;

    const Parts parts_;
    const AgeLimit slow_hold_;
    const AgeLimit long_wait_;
    asio::steady_timer timer_;
    core::Nanoseconds pause_;
    Knowledge knowledge_{};        // without an agent while it is stopped
    core::OperationId next_hold_;  // where to go on
    std::size_t next_call_ = 0;    // likewise
    std::vector<Due> due_;         // in this turn
};

}  // namespace mortise::detail
