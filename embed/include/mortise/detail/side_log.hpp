// The log of what a program runs beside its node, such as the console. Not for use by programs.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>

#include <mortise/config.hpp>

namespace mortise::detail {

class NodeLog;

// Its lines go where those of a node with this configuration go, under the same conditions: writing
// one neither waits nor raises a signal. Thread-safe.
class SideLog {
public:
    SideLog(const LogConfig& config, NodeId node);
    ~SideLog();
    SideLog(const SideLog&) = delete;
    SideLog& operator=(const SideLog&) = delete;

    // Writes a line. `key` is that of LogRecord; `text` is escaped.
    void write(LogLevel level, std::string_view key, std::string_view text,
               std::initializer_list<LogField> fields = {}) const noexcept;
    void warn(std::string_view key, std::string_view text,
              std::initializer_list<LogField> fields = {}) const noexcept;

private:
    std::unique_ptr<NodeLog> log_;
};

}  // namespace mortise::detail
