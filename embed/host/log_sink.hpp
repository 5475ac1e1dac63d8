// The log of one node. It shares nothing with other nodes of the process or with a logger of the
// program.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include <mortise/config.hpp>

namespace spdlog {
class logger;
}

namespace mortise::detail {

// Thread-safe. No member throws; a line that cannot be written is dropped.
class NodeLog {
public:
    // Lines go to config.sink, or to stderr if there is none; a line that stderr does not accept at
    // once is dropped. On stderr a line is
    //   2026-11-21T16:30:00.123Z warn mortise node 1: text
    // and a sink receives the part after the level, "mortise node 1: text". Without an id the node
    // is a client, "mortise client: text".
    // config.record_sink receives the parts of the line; then nothing goes to stderr. With
    // LogFormat::json a line on stderr is an object (json_record.hpp).
    NodeLog(const LogConfig& config, NodeId node);
    ~NodeLog();
    NodeLog(const NodeLog&) = delete;
    NodeLog& operator=(const NodeLog&) = delete;

    // Whether a line of this level would be written. Use it before composing an expensive line.
    [[nodiscard]] bool wants(LogLevel level) const noexcept;
    using Fields = std::initializer_list<LogField>;

    // Writes one line; `text` is escaped (escaped()). `key` says what happened, for programs
    // (LogRecord::key). If a key repeats too often, its lines are dropped, and its next line
    // reports their number.
    void write(LogLevel level, std::string_view key, std::string_view text,
               Fields fields = {}) noexcept;

    void debug(std::string_view key, std::string_view text, Fields fields = {}) noexcept;
    void info(std::string_view key, std::string_view text, Fields fields = {}) noexcept;
    void warn(std::string_view key, std::string_view text, Fields fields = {}) noexcept;
    void error(std::string_view key, std::string_view text, Fields fields = {}) noexcept;

    // The number of dropped lines.
    [[nodiscard]] std::uint64_t left_out() const noexcept;

private:
    struct State;
    void write_line(LogLevel level, std::string line, std::uint64_t left_out);
    std::unique_ptr<spdlog::logger> logger_;
    std::unique_ptr<State> state_;
};

}  // namespace mortise::detail
