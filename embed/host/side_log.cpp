#include "embed/host/log_sink.hpp"
#include <mortise/detail/side_log.hpp>

namespace mortise::detail {

SideLog::SideLog(const LogConfig& config, NodeId node)
    : log_{std::make_unique<NodeLog>(config, node)} {}

SideLog::~SideLog() = default;

void SideLog::write(LogLevel level, std::string_view key, std::string_view text,
                    std::initializer_list<LogField> fields) const noexcept {
    log_->write(level, key, text, fields);
}

void SideLog::warn(std::string_view key, std::string_view text,
                   std::initializer_list<LogField> fields) const noexcept {
    log_->warn(key, text, fields);
}

}  // namespace mortise::detail
