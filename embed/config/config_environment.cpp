#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include "embed/config/config_check.hpp"
#include "embed/config/config_keys.hpp"
#include <mortise/config.hpp>
#include <mortise/detail/nearest_word.hpp>
#include <mortise/errc.hpp>
#include <mortise/escaped.hpp>

namespace mortise {

namespace {

constexpr std::string_view variables_begin = "MORTISE_";

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\n\r";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

PeerConfig parse_peer(std::string_view item) {
    const auto equals = item.find('=');
    const auto number = trimmed(item.substr(0, equals));
    PeerConfig peer;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), peer.id);
    const bool is_number = read.ec == std::errc{} && read.ptr == number.data() + number.size();
    if (equals == std::string_view::npos || !is_number) {
        throw ConfigError{
            Errc::invalid_argument,
            {.key = detail::variable_of("peer")},
            detail::in_quotes(item) + R"( is not a peer: write "1=host:port,2=host:port")"};
    }
    peer.address = trimmed(item.substr(equals + 1));
    return peer;
}

// An empty variable counts as unset. Values that were read from files may have line ends of any
// kind.
std::string_view variable(const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return trimmed(value != nullptr ? value : "");
}

// Unlike a shell, service managers and containers pass quotes on, and a path would begin with one.
std::string in_vain_quoted(std::string_view text) {
    const bool is_quoted = text.size() > 1 && text.front() == text.back() &&
                           (text.front() == '"' || text.front() == '\'');
    return is_quoted ? "the value has quotes around it: leave them out" : "";
}

std::vector<std::string> known_variables() {
    std::vector<std::string> known{detail::variable_of("peer")};
    Config config;
    detail::for_each_key(config, [&](std::string_view key, const auto& /*value*/) {
        known.push_back(detail::variable_of(key));
    });
    return known;
}

// "TLS_CERT" of "TLS_CERTIFICATE": the last of its words is cut off. One word alone is too little.
bool is_cut(std::string_view cut, std::string_view whole) {
    constexpr std::size_t letters_min = 3;
    const auto last_word = cut.rfind('_') + 1;
    return last_word != 0 && cut.size() >= last_word + letters_min && whole.starts_with(cut) &&
           whole.find('_', cut.size()) == std::string_view::npos;
}

// The variable that was meant by one of ours that no key has. It is spelt like it, or its last word
// is abbreviated there, or the name of its table is missing. Others have variables that begin like
// ours as well.
std::optional<std::string> meant_by(std::string_view name, const std::vector<std::string>& known) {
    if (name == "MORTISE_PEERS" || name == "MORTISE_PEER") return detail::variable_of("peer");
    const auto key = name.substr(variables_begin.size());
    std::vector<std::string> keys;  // without the beginning that all have: short ones differ much
    for (const auto& each : known) {
        keys.push_back(each.substr(variables_begin.size()));
        const auto of_table = keys.back().find('_');
        if (of_table != std::string::npos && keys.back().substr(of_table + 1) == key) return each;
    }
    if (const auto whole = std::ranges::find_if(keys, [&](auto& one) { return is_cut(key, one); });
        whole != keys.end())
        return std::string{variables_begin} + *whole;
    const auto nearest = detail::nearest_word(key, keys);
    if (!nearest) return std::nullopt;
    return std::string{variables_begin} + *nearest;
}

// A misspelt list of peers would otherwise bootstrap a cluster of one.
void refuse_misspelt_variables() {
    const auto known = known_variables();
    for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
        const std::string_view setting{*each};
        const auto name = setting.substr(0, setting.find('='));
        const bool is_ours = name.starts_with(variables_begin) && name.size() < setting.size();
        if (!is_ours || trimmed(setting.substr(name.size() + 1)).empty()) continue;
        if (std::ranges::find(known, name) != known.end()) continue;
        const auto meant = meant_by(name, known);
        if (!meant) continue;
        throw ConfigError{Errc::invalid_argument,
                          {.key = escaped(name)},
                          "unknown variable; did you mean " + *meant + "?"};
    }
}

}  // namespace

std::vector<PeerConfig> parse_peer_list(std::string_view list) {
    std::vector<PeerConfig> peers;
    while (!trimmed(list).empty()) {
        const auto comma = list.find(',');
        peers.push_back(parse_peer(trimmed(list.substr(0, comma))));
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    }
    return peers;
}

void detail::take_environment(Config& config, ConfigOrigin& origin) {
    refuse_misspelt_variables();
    for_each_key(config, [&](std::string_view key, auto& value) {
        const auto text = variable(variable_of(key));
        if (text.empty() || key == "peers") return;
        origin.lines.emplace(key, 0);
        origin.variables.emplace(key);
        auto problem = in_vain_quoted(text);
        if (problem.empty()) problem = take_text(text, value);
        if (problem.empty()) return;
        throw ConfigError{Errc::invalid_argument, origin.place(key), problem};
    });
    const auto peers = variable(variable_of("peer"));
    if (peers.empty()) return;
    origin.variables.emplace("peer");
    const bool finds = peers.starts_with("dns:");
    config.peers_from = finds ? peers : std::string_view{};
    config.peers = finds ? std::vector<PeerConfig>{} : parse_peer_list(peers);
}

Config Config::from_environment() {
    Config config;
    detail::ConfigOrigin origin{.is_environment = true};
    detail::take_environment(config, origin);
    detail::take_host_name(config);
    detail::check(config, origin);
    return config;
}

}  // namespace mortise
