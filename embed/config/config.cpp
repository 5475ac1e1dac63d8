#include <array>
#include <utility>

#include <unistd.h>

#include "embed/config/config_check.hpp"
#include "embed/config/host_port.hpp"
#include <mortise/config.hpp>

namespace mortise {

struct ConfigError::Text {
    Place place;
    std::string what;
};

namespace {

// "mortise.toml:7: timing.session_ttl: "
std::string in_words(const ConfigError::Place& place) {
    std::string text;
    if (!place.file.empty()) {
        text = place.file;
        if (place.line != 0) text += ":" + std::to_string(place.line);
        text += ": ";
    }
    if (!place.key.empty()) text += place.key + ": ";
    return text;
}

}  // namespace

ConfigError::ConfigError(std::error_code code, Place place, const std::string& problem)
    : std::system_error{code} {
    std::string text = in_words(place) + problem;
    text_ = std::make_shared<const Text>(Text{std::move(place), std::move(text)});
}

ConfigError::~ConfigError() = default;

const char* ConfigError::what() const noexcept {
    return text_->what.c_str();
}

const ConfigError::Place& ConfigError::place() const noexcept {
    return text_->place;
}

Config Config::single_node(std::filesystem::path data_dir) {
    Config config;
    config.node_id = 1;
    config.data_dir = std::move(data_dir);
    return config;
}

Config Config::in_memory() {
    Config config;
    config.node_id = 1;
    config.memory_only = true;
    return config;
}

void detail::take_host_name(Config& config) {
    if (config.peers_from.empty() || config.node_id != 0 || config.role == Role::client) return;
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return;
    config.node_id = id_in_host_name(name.data()).value_or(0);
}

void Config::validate() const {
    auto filled = *this;
    detail::take_host_name(filled);
    detail::check(filled, {});
}

}  // namespace mortise
