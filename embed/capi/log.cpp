// The two ways of log lines into the program: a callback, and a queue.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <mortise.h>

#include "embed/capi/calls.hpp"
#include "embed/capi/handles.hpp"
#include "embed/capi/log_queue.hpp"
#include "embed/capi/structs.hpp"
#include <mortise/config.hpp>

using namespace mortise::capi;

namespace mortise::capi {
namespace {

constexpr std::size_t oldest_log_line = 40;
static_assert(sizeof(mortise_log_line) >= oldest_log_line);

constexpr std::size_t queued_lines_max = 65'536;

struct LogCallback {
    mortise_log_callback call;
    CallbackContext context;
};

static_assert(MORTISE_LOG_DEBUG == static_cast<int>(LogLevel::debug));
static_assert(MORTISE_LOG_INFO == static_cast<int>(LogLevel::info));
static_assert(MORTISE_LOG_WARN == static_cast<int>(LogLevel::warn));
static_assert(MORTISE_LOG_ERROR == static_cast<int>(LogLevel::error));
static_assert(MORTISE_LOG_OFF == static_cast<int>(LogLevel::off));

LogLevel log_level(mortise_log_level level) {
    require(level >= MORTISE_LOG_DEBUG && level <= MORTISE_LOG_OFF, "level is no log level");
    return static_cast<LogLevel>(level);
}

LogConfig to_callback(LogLevel level, std::shared_ptr<const LogCallback> callback) {
    LogConfig log;
    log.level = level;
    if (callback == nullptr) return log;
    log.sink = [callback = std::move(callback)](LogLevel at, std::string_view line) {
        const std::string copy{line};  // it ends with a zero
        callback->call(callback->context.get(), static_cast<mortise_log_level>(at), copy.c_str(),
                       copy.size());
    };
    return log;
}

LogConfig to_queue(LogLevel level, std::shared_ptr<LogQueue> queue) {
    LogConfig log;
    log.level = level;
    log.sink = [writer = std::make_shared<const LogWriter>(std::move(queue))](
                   LogLevel at, std::string_view line) { writer->put(at, line); };
    return log;
}

mortise_log_line shown(const LogQueue::Line& line) {
    mortise_log_line known{};
    known.dropped = line.dropped;
    if (line.is_end) return known;
    known.text = line.text.c_str();
    known.length = line.text.size();
    known.level = static_cast<mortise_log_level>(line.level);
    return known;
}

}  // namespace
}  // namespace mortise::capi

int mortise_config_set_log(mortise_config* config, mortise_log_level level,
                           mortise_log_callback sink, void* context, void (*destroy)(void* context),
                           mortise_error** error) {
    CallbackContext owned{context, destroy};
    return guarded(error, [&] {
        require(config != nullptr, "config is NULL");
        const auto from = log_level(level);
        std::shared_ptr<const LogCallback> callback;
        if (sink != nullptr) {
            callback = std::make_shared<LogCallback>(LogCallback{sink, std::move(owned)});
        }
        config->config.log = to_callback(from, std::move(callback));
    });
}

int mortise_config_queue_log(mortise_config* config, mortise_log_level level, size_t lines_max,
                             mortise_log_queue** queue, mortise_error** error) {
    clear(queue);
    return guarded(error, [&] {
        require(config != nullptr, "config is NULL");
        require(queue != nullptr, "queue is NULL");
        require(lines_max >= 1 && lines_max <= queued_lines_max, "lines_max is 1 to 65536");
        auto lines = std::make_shared<LogQueue>(lines_max);
        auto made = std::make_unique<mortise_log_queue>(mortise_log_queue{lines});
        config->config.log = to_queue(log_level(level), std::move(lines));
        *queue = made.release();
    });
}

int mortise_log_queue_next(mortise_log_queue* queue, mortise_log_line* line,
                           mortise_error** error) {
    return guarded(error, [&] {
        require(queue != nullptr, "queue is NULL");
        require(line != nullptr, "line is NULL");
        require_size(line->size, oldest_log_line);  // before a line is taken
        queue->line = queue->queue->next();
        write_struct(shown(queue->line), *line, oldest_log_line);
    });
}

void mortise_log_queue_close(mortise_log_queue* queue) {
    if (queue != nullptr) queue->queue->close();
}

void mortise_log_queue_free(mortise_log_queue* queue) {
    mortise_log_queue_close(queue);
    delete queue;
}
