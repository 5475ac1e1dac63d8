#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <set>
#include <tuple>
#include <utility>

#include <toml++/toml.h>

#include "embed/config/config_check.hpp"
#include "embed/config/config_keys.hpp"
#include "embed/config/deep_keys.hpp"
#include <mortise/config.hpp>
#include <mortise/detail/nearest_word.hpp>
#include <mortise/errc.hpp>
#include <mortise/escaped.hpp>

namespace mortise {

namespace {

constexpr std::size_t file_bytes_max = std::size_t{1} << 20U;

std::string_view kind_of(const toml::node& node) {
    switch (node.type()) {
        case toml::node_type::table: return "a table";
        case toml::node_type::array: return "an array";
        case toml::node_type::string: return "a string";
        case toml::node_type::integer: return "a whole number";
        case toml::node_type::floating_point: return "a number";
        case toml::node_type::boolean: return "true or false";
        case toml::node_type::none: break;
        default: return "a date or a time";
    }
    return "nothing";
}

template <class Value>
constexpr std::string_view wanted = "a string";
template <>
constexpr std::string_view wanted<std::uint64_t> = "a whole number";
template <>
constexpr std::string_view wanted<bool> = "true or false";
template <>
constexpr std::string_view wanted<double> = "a number";
template <>
constexpr std::string_view wanted<Duration> = R"(a duration in quotes, "10s")";
template <>
constexpr std::string_view wanted<std::vector<std::string>> =
    R"(an array of strings, ["a/", "b/"])";

// False if it is no array of strings.
bool take_strings(const toml::node& node, std::vector<std::string>& value) {
    const auto* array = node.as_array();
    if (array == nullptr) return false;
    value.clear();
    for (const auto& element : *array) {
        const auto* text = element.as_string();
        if (text == nullptr) return false;
        value.push_back(text->get());
    }
    return true;
}

// Returns what is wrong, or nothing.
template <class Value>
std::string take_node(const toml::node& node, Value& value) {
    if constexpr (std::is_same_v<Value, std::uint64_t>) {
        if (const auto number = node.value_exact<std::int64_t>()) {
            if (*number < 0) return "must not be negative";
            value = static_cast<std::uint64_t>(*number);
            return {};
        }
    } else if constexpr (std::is_same_v<Value, bool>) {
        if (const auto truth = node.value_exact<bool>()) {
            value = *truth;
            return {};
        }
    } else if constexpr (std::is_same_v<Value, double>) {
        if (node.is_number()) {
            value = *node.value<double>();
            return {};
        }
    } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
        if (take_strings(node, value)) return {};
    } else if (const auto* text = node.as_string()) {
        return detail::take_text(text->get(), value);
    }
    return "must be " + std::string{wanted<Value>} + ", not " + std::string{kind_of(node)};
}

// A key as a step of a path. A key with a dot in it is quoted, so that it is not taken for two.
std::string step(const toml::key& key) {
    const auto text = escaped(key.str());
    return text.find('.') == std::string::npos ? text : '"' + text + '"';
}

// Reads the whole file first and then reports the error with the lowest line number, because TOML
// tables have no order.
class TomlReader {
public:
    TomlReader(Config& config, detail::ConfigOrigin& origin) : config_{config}, origin_{origin} {}

    void read(const toml::table& file) {
        note_lines(file, "");
        read_peers(file);
        known_.insert("peer");
        detail::for_each_key(config_, [&](std::string_view key, auto& value) {
            known_.emplace(key);
            const auto node = file.at_path(key);
            if (!node) return;
            auto problem = take_node(*node.node(), value);
            if (key == "peers" && (!problem.empty() || config_.peers_from.empty()))
                problem = "write [[peer]] for each peer, or peers = \"dns:NAME:PORT\" to find them";
            take(key, std::move(problem));
        });
        find_unknown(file, "");
        if (problems_.empty()) return;
        const auto& [key, problem] = *std::min_element(
            problems_.begin(), problems_.end(),
            [this](const Problem& a, const Problem& b) { return line(a) < line(b); });
        throw ConfigError{Errc::invalid_argument, origin_.place(key), problem};
    }

private:
    struct Problem {
        std::string key;
        std::string text;
    };

    std::size_t line(const Problem& problem) const { return origin_.place(problem.key).line; }

    void take(std::string_view key, std::string problem) {
        if (!problem.empty()) problems_.push_back({std::string{key}, std::move(problem)});
    }

    void note_lines(const toml::table& table, const std::string& prefix) {
        for (const auto& [key, node] : table) {
            const std::string path = prefix + step(key);
            origin_.lines[path] = key.source().begin.line;
            if (const auto* inner = node.as_table()) note_lines(*inner, path + ".");
        }
    }

    void read_peers(const toml::table& file) {
        const auto* node = file.get("peer");
        if (node == nullptr) return;
        const auto* array = node->as_array();
        const bool tables = array != nullptr && (array->empty() || array->is_array_of_tables());
        if (!tables) return take("peer", "write [[peer]], with id and address, for each peer");
        for (const auto& element : *array)
            read_peer(*element.as_table());
    }

    void read_peer(const toml::table& table) {
        const std::string prefix = "peer[" + std::to_string(config_.peers.size()) + "].";
        note_lines(table, prefix);
        bool is_misspelt = false;
        for (const auto& [key, node] : table) {
            if (key == "id" || key == "address") continue;
            take(prefix + step(key), "unknown key; a peer has id, address");
            is_misspelt = true;
        }
        PeerConfig peer;
        take_peer_key(table, prefix + "id", is_misspelt, peer.id);
        take_peer_key(table, prefix + "address", is_misspelt, peer.address);
        config_.peers.push_back(std::move(peer));
    }

    template <class Value>
    void take_peer_key(const toml::table& table, const std::string& key, bool is_misspelt,
                       Value& value) {
        const auto* node = table.get(std::string_view{key}.substr(key.rfind('.') + 1));
        if (node != nullptr) return take(key, take_node(*node, value));
        if (is_misspelt) return;  // an unknown key may be this one, misspelt
        origin_.lines[key] = table.source().begin.line;
        take(key, "missing");
    }

    void find_unknown(const toml::table& table, const std::string& prefix) {
        for (const auto& [key, node] : table) {
            const std::string path = prefix + step(key);
            if (known_.contains(path)) continue;
            const auto inside = names_in(path + ".");
            if (inside.empty()) {
                take(path, "unknown key; " + hint(step(key), prefix));
            } else if (const auto* inner = node.as_table()) {
                find_unknown(*inner, path + ".");
            } else {
                take(path, "must be a table, not " + std::string{kind_of(node)});
            }
        }
    }

    // The table in which a key of this name exists, or the key that is spelt like it; otherwise the
    // keys known here.
    std::string hint(const std::string& name, const std::string& prefix) const {
        for (const auto& key : known_) {
            if (key == name || key.ends_with("." + name)) return "did you mean " + key + "?";
        }
        if (const auto near = detail::nearest_word(prefix + name, keys_and_tables()))
            return "did you mean " + *near + "?";
        return "known here: " + names_in(prefix);
    }

    std::vector<std::string> keys_and_tables() const {
        std::vector<std::string> all{known_.begin(), known_.end()};
        for (const auto& key : known_) {
            if (const auto dot = key.find('.'); dot != std::string::npos)
                all.push_back(key.substr(0, dot));
        }
        return all;
    }

    // The known keys and tables directly below the prefix.
    std::string names_in(std::string_view prefix) const {
        std::set<std::string> names;
        for (const std::string_view key : known_) {
            if (!key.starts_with(prefix)) continue;
            const auto rest = key.substr(prefix.size());
            names.emplace(rest.substr(0, rest.find('.')));
        }
        std::string text;
        for (const auto& name : names)
            text += (text.empty() ? "" : ", ") + name;
        return text;
    }

    Config& config_;
    detail::ConfigOrigin& origin_;
    std::set<std::string> known_;
    std::vector<Problem> problems_;
};

// The parser says what it did not find, and not what was probably meant.
std::string hint_for(std::string_view description) {
    if (description.find("could not determine value type") != description.npos)
        return "; text stands in quotes: \"data-1\"";
    if (description.find("redefine") != description.npos)
        return "; write it once, with all that belongs to it";
    if (description.find("table header") != description.npos)
        return "; the name of a table is written as [tls]";
    return {};
}

toml::table parse(std::string_view text, const std::string& file) {
    if (const auto line = detail::line_of_deep_key(text)) {
        throw ConfigError{Errc::invalid_argument,
                          {.file = file, .line = *line},
                          "a key has more than " + std::to_string(detail::key_dots_max) + " dots"};
    }
    try {
        return toml::parse(text);
    } catch (const toml::parse_error& error) {
        // The parser's message quotes the text, which may contain anything.
        throw ConfigError{Errc::invalid_argument,
                          {.file = file, .line = error.source().begin.line},
                          escaped(error.description()) + hint_for(error.description())};
    }
}

[[noreturn]] void refuse_file(const std::string& file, std::error_code code,
                              const std::string& problem) {
    throw ConfigError{code, {.file = file}, problem};
}

std::string text_in_file(const std::filesystem::path& path) {
    const std::string file = path.string();
    std::error_code code;
    if (std::filesystem::is_directory(path, code)) {
        refuse_file(file, std::make_error_code(std::errc::is_a_directory), "is a directory");
    }
    errno = 0;
    std::string text(file_bytes_max + 1, '\0');
    // A stream of C++ would not be closed on exec.
    auto* const stream = std::fopen(path.c_str(), "rbe");
    if (stream != nullptr) text.resize(std::fread(text.data(), 1, text.size(), stream));
    const bool is_read = stream != nullptr && std::ferror(stream) == 0;
    const int why = errno;
    if (stream != nullptr) std::ignore = std::fclose(stream);
    if (!is_read) {
        code = {why != 0 ? why : EIO, std::generic_category()};
        refuse_file(file, code,
                    "cannot be read: " + code.message() + "; name a file that this user may read");
    }
    if (text.size() > file_bytes_max) {
        refuse_file(file, Errc::invalid_argument, "is larger than 1 MiB");
    }
    return text;
}

Config unchecked(std::string_view toml, detail::ConfigOrigin& origin) {
    Config config;
    TomlReader{config, origin}.read(parse(toml, origin.file));
    return config;
}

// Without what concerns a node itself.
Config client_of(Config read, const detail::ConfigOrigin& origin) {
    Config config;
    config.role = Role::client;
    config.cluster = std::move(read.cluster);
    config.peers = std::move(read.peers);
    config.peers_from = std::move(read.peers_from);
    config.timing = read.timing;
    config.tls = std::move(read.tls);
    config.tls.insecure = false;  // that is about the node's own port
    config.log = std::move(read.log);
    detail::check_for_client(config, origin);
    return config;
}

}  // namespace

Config Config::from_string(std::string_view toml, std::string_view file) {
    detail::ConfigOrigin origin{.file = std::string{file}};
    auto config = unchecked(toml, origin);
    detail::take_host_name(config);
    detail::check(config, origin);
    return config;
}

Config Config::from_file(const std::filesystem::path& path) {
    return from_string(text_in_file(path), path.string());
}

Config Config::client_from_file(const std::filesystem::path& path) {
    detail::ConfigOrigin origin{.file = path.string()};
    auto config = unchecked(text_in_file(path), origin);
    return client_of(std::move(config), origin);
}

Config Config::from_file_and_environment(const std::filesystem::path& path) {
    detail::ConfigOrigin origin{.file = path.string()};
    auto config = unchecked(text_in_file(path), origin);
    detail::take_environment(config, origin);
    detail::take_host_name(config);
    detail::check(config, origin);
    return config;
}

Config Config::client_from_file_and_environment(const std::filesystem::path& path) {
    detail::ConfigOrigin origin{.file = path.string()};
    auto config = unchecked(text_in_file(path), origin);
    auto peers = config.peers;
    auto peers_from = config.peers_from;
    detail::take_environment(config, origin);
    if (!peers.empty() || !peers_from.empty()) {
        config.peers = std::move(peers);
        config.peers_from = std::move(peers_from);
        origin.variables.erase("peer");
    }
    return client_of(std::move(config), origin);
}

}  // namespace mortise
