#include <cstddef>
#include <filesystem>
#include <string_view>

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

// The system would read a path up to its first zero byte, which is another one.
std::string_view path_of(const char* path, std::size_t length, const char* is_null,
                         const char* is_wrong) {
    const auto given = text(path, length, is_null);
    require(!given.empty() && given.find('\0') == std::string_view::npos, is_wrong);
    return given;
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
