#include "embed/host/log_sink.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/sink.h>

#include "embed/host/json_record.hpp"
#include "embed/host/rate_limit.hpp"
#include "embed/host/stderr_sink.hpp"
#include "embed/threads/guarded.hpp"
#include <mortise/escaped.hpp>

namespace mortise::detail {

namespace {

constexpr std::size_t line_bytes_max = 4'096;

spdlog::level::level_enum to_spdlog(LogLevel level) {
    switch (level) {
        case LogLevel::debug: return spdlog::level::debug;
        case LogLevel::info: return spdlog::level::info;
        case LogLevel::warn: return spdlog::level::warn;
        case LogLevel::error: return spdlog::level::err;
        case LogLevel::off: return spdlog::level::off;
    }
    return spdlog::level::off;
}

LogLevel from_spdlog(spdlog::level::level_enum level) {
    switch (level) {
        case spdlog::level::trace:
        case spdlog::level::debug: return LogLevel::debug;
        case spdlog::level::info: return LogLevel::info;
        case spdlog::level::warn: return LogLevel::warn;
        default: return LogLevel::error;
    }
}

// Passes lines to the program. No lock is held while the program's code runs.
class ProgramSink final : public spdlog::sinks::sink {
public:
    explicit ProgramSink(std::function<void(LogLevel, std::string_view)> program)
        : program_{std::move(program)} {}

    void log(const spdlog::details::log_msg& message) override {
        const std::string line =
            std::string{message.logger_name.data(), message.logger_name.size()}.append(": ").append(
                message.payload.data(), message.payload.size());
        program_(from_spdlog(message.level), line);
    }
    void flush() override {}
    void set_pattern(const std::string&) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

private:
    std::function<void(LogLevel, std::string_view)> program_;
};

// The level as this project spells it.
class LevelFlag final : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm&,
                spdlog::memory_buf_t& line) override {
        const auto level = to_string(from_spdlog(message.level));
        line.append(level.data(), level.data() + level.size());
    }
    [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
        return std::make_unique<LevelFlag>();
    }
};

// What the program throws does not keep the line from its other sink.
template <class Call>
void call_guarded(const Call& call) noexcept {
    try {
        call();
    } catch (...) {  // NOLINT(bugprone-empty-catch): the program threw
    }
}

// In JSON, write() gives the rest of the object.
constexpr auto text_pattern = "%Y-%m-%dT%H:%M:%S.%eZ %* %n: %v";
constexpr auto json_pattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%*",%v)";

std::shared_ptr<StderrSink> make_stderr_sink(LogFormat format) {
    auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
    formatter->add_flag<LevelFlag>('*').set_pattern(format == LogFormat::json ? json_pattern
                                                                              : text_pattern);
    auto sink = std::make_shared<StderrSink>();
    sink->set_formatter(std::move(formatter));
    return sink;
}

}  // namespace

struct NodeLog::State {
    NodeId node = 0;
    std::function<void(const LogRecord&)> records;
    Guarded<RateLimit> limit;
    std::shared_ptr<StderrSink> standard_error;  // unless the program receives the lines
    bool is_json = false;                        // what goes there
};

// spdlog's registry is not used, because the whole process shares it.
NodeLog::NodeLog(const LogConfig& config, NodeId node) : state_{std::make_unique<State>()} {
    state_->node = node;
    state_->records = config.record_sink;
    std::vector<spdlog::sink_ptr> sinks;
    if (config.sink) {
        sinks.push_back(std::make_shared<ProgramSink>(config.sink));
    } else if (!config.record_sink) {
        sinks.push_back(state_->standard_error = make_stderr_sink(config.format));
        state_->is_json = config.format == LogFormat::json;
    }
    logger_ = std::make_unique<spdlog::logger>(
        node == 0 ? "mortise client" : "mortise node " + std::to_string(node), sinks.begin(),
        sinks.end());
    logger_->set_level(to_spdlog(config.level));
    logger_->flush_on(spdlog::level::warn);
    // spdlog's own error handler writes to stderr, whatever sink is configured.
    logger_->set_error_handler([](const std::string&) {});
}

NodeLog::~NodeLog() = default;

bool NodeLog::wants(LogLevel level) const noexcept {
    return level != LogLevel::off && logger_->should_log(to_spdlog(level));
}

void NodeLog::write(LogLevel level, std::string_view key, std::string_view text,
                    Fields fields) noexcept {
    if (!wants(level)) return;
    try {
        const auto now = RateLimit::Clock::now();
        const auto left_out =
            state_->limit.with([&](RateLimit& limit) { return limit.admit(key, now); });
        if (!left_out) return;
        std::string line = escaped(text.substr(0, line_bytes_max));
        if (text.size() > line_bytes_max) line += "...";
        const LogRecord record{level,    state_->node, key, line, {fields.begin(), fields.end()},
                               *left_out};
        if (state_->records) call_guarded([&] { state_->records(record); });
        if (state_->is_json)
            write_line(level, json_record(record), 0);
        else
            write_line(level, line, *left_out);
    } catch (...) {  // NOLINT(bugprone-empty-catch): a line is not worth more
    }
}

void NodeLog::write_line(LogLevel level, std::string line, std::uint64_t left_out) {
    if (left_out > 0) line += " (" + std::to_string(left_out) + " similar lines left out)";
    logger_->log(to_spdlog(level), spdlog::string_view_t{line.data(), line.size()});
}

void NodeLog::debug(std::string_view key, std::string_view text, Fields fields) noexcept {
    write(LogLevel::debug, key, text, fields);
}

void NodeLog::info(std::string_view key, std::string_view text, Fields fields) noexcept {
    write(LogLevel::info, key, text, fields);
}

void NodeLog::warn(std::string_view key, std::string_view text, Fields fields) noexcept {
    write(LogLevel::warn, key, text, fields);
}

void NodeLog::error(std::string_view key, std::string_view text, Fields fields) noexcept {
    write(LogLevel::error, key, text, fields);
}

std::uint64_t NodeLog::left_out() const noexcept {
    const auto repeated =
        state_->limit.with([](const RateLimit& limit) { return limit.left_out(); });
    return repeated + (state_->standard_error ? state_->standard_error->dropped() : 0);
}

}  // namespace mortise::detail
