#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <mortise.h>

#include "embed/capi/calls.hpp"
#include "embed/capi/handles.hpp"
#include <mortise/config.hpp>

using namespace mortise::capi;

namespace mortise::capi {
namespace {

template <class Read>
int make_config(mortise_config** config, mortise_error** error, const Read& read) {
    clear(config);
    return guarded(error, [&] {
        require(config != nullptr, "config is NULL");
        *config = new mortise_config{read()};
    });
}

struct LogCallback {
    mortise_log_callback call;
    CallbackContext context;
};

static_assert(MORTISE_LOG_DEBUG == static_cast<int>(LogLevel::debug));
static_assert(MORTISE_LOG_INFO == static_cast<int>(LogLevel::info));
static_assert(MORTISE_LOG_WARN == static_cast<int>(LogLevel::warn));
static_assert(MORTISE_LOG_ERROR == static_cast<int>(LogLevel::error));
static_assert(MORTISE_LOG_OFF == static_cast<int>(LogLevel::off));

// The system would read a path up to its first zero byte, which is another one.
std::string_view path_of(const char* path, std::size_t length, const char* is_null,
                         const char* is_wrong) {
    const auto given = text(path, length, is_null);
    require(!given.empty() && given.find('\0') == std::string_view::npos, is_wrong);
    return given;
}

LogConfig log_config(mortise_log_level level, std::shared_ptr<const LogCallback> callback) {
    LogConfig log;
    log.level = static_cast<LogLevel>(level);
    if (callback == nullptr) return log;
    log.sink = [callback = std::move(callback)](LogLevel at, std::string_view line) {
        const std::string copy{line};  // it ends with a zero
        callback->call(callback->context.get(), static_cast<mortise_log_level>(at), copy.c_str(),
                       copy.size());
    };
    return log;
}

}  // namespace
}  // namespace mortise::capi

int mortise_config_from_file(const char* path, size_t path_length, mortise_config** config,
                             mortise_error** error) {
    return make_config(config, error, [&] {
        return mortise::Config::from_file(
            path_of(path, path_length, "path is NULL", "path is empty or has a zero byte"));
    });
}

int mortise_config_from_string(const char* toml, size_t toml_length, mortise_config** config,
                               mortise_error** error) {
    return make_config(config, error, [&] {
        return mortise::Config::from_string(text(toml, toml_length, "toml is NULL"));
    });
}

int mortise_config_from_environment(mortise_config** config, mortise_error** error) {
    return make_config(config, error, [] { return mortise::Config::from_environment(); });
}

int mortise_config_single_node(const char* data_dir, size_t data_dir_length,
                               mortise_config** config, mortise_error** error) {
    return make_config(config, error, [&] {
        return mortise::Config::single_node(path_of(data_dir, data_dir_length, "data_dir is NULL",
                                                    "data_dir is empty or has a zero byte"));
    });
}

int mortise_config_in_memory(mortise_config** config, mortise_error** error) {
    return make_config(config, error, [] { return mortise::Config::in_memory(); });
}

void mortise_config_free(mortise_config* config) {
    delete config;
}

int mortise_config_set_log(mortise_config* config, mortise_log_level level,
                           mortise_log_callback sink, void* context, void (*destroy)(void* context),
                           mortise_error** error) {
    CallbackContext owned{context, destroy};
    return guarded(error, [&] {
        require(config != nullptr, "config is NULL");
        require(level >= MORTISE_LOG_DEBUG && level <= MORTISE_LOG_OFF, "level is no log level");
        std::shared_ptr<const LogCallback> callback;
        if (sink != nullptr) {
            callback = std::make_shared<LogCallback>(LogCallback{sink, std::move(owned)});
        }
        config->config.log = log_config(level, std::move(callback));
    });
}
