// The log of one node. Nothing here is shared with other nodes of the process or with a logger of
// the program around us.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <mortise/config.hpp>

namespace spdlog {
class logger;
}

namespace mortise::detail {

// Thread-safe. Nothing throws; a line that cannot be written is dropped.
class NodeLog {
public:
    // Lines go to config.sink, or to stderr if there is none, as far as it takes them at once. On
    // stderr a line is
    //   2026-11-21T16:30:00.123Z warn mortise node 1: text
    // and a sink gets what is behind the level, "mortise node 1: text".
    NodeLog(const LogConfig& config, NodeId node);
    ~NodeLog();
    NodeLog(const NodeLog&) = delete;
    NodeLog& operator=(const NodeLog&) = delete;

    // Would a line of this level be written? For lines that are dear to put together.
    [[nodiscard]] bool wants(LogLevel level) const noexcept;
    // One line, whatever is in `text`: see escaped(). `cause` names the place in the code, in a
    // word or two; a cause that comes back too often is cut short, and the next line of it says how
    // many were left out.
    void write(LogLevel level, std::string_view cause, std::string_view text) noexcept;

    void debug(std::string_view cause, std::string_view text) noexcept;
    void info(std::string_view cause, std::string_view text) noexcept;
    void warn(std::string_view cause, std::string_view text) noexcept;
    void error(std::string_view cause, std::string_view text) noexcept;

    // Lines that were, or that stderr did not take.
    [[nodiscard]] std::uint64_t left_out() const noexcept;

private:
    struct State;
    std::unique_ptr<spdlog::logger> logger_;
    std::unique_ptr<State> state_;
};

}  // namespace mortise::detail
