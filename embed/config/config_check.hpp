// Checks a configuration, and finds the place of an error.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <mortise/config.hpp>

namespace mortise::detail {

// Where the keys were written. A key of the second peer is "peer[1].address" here, and is displayed
// as "peer.address".
struct ConfigOrigin {
    std::string file{};
    bool is_environment = false;  // there is no file
    std::map<std::string, std::size_t, std::less<>> lines{};
    // Keys whose value is that of the environment; all peers are the key "peer".
    std::set<std::string, std::less<>> variables{};

    [[nodiscard]] ConfigError::Place place(std::string_view key) const;
    [[nodiscard]] bool has(std::string_view key) const { return lines.contains(key); }
};

// "MORTISE_TIMING_SESSION_TTL"; for every key of a peer "MORTISE_PEER_LIST".
std::string variable_of(std::string_view key);

// Reads each variable that is set over the value of its key. Throws ConfigError.
void take_environment(Config& config, ConfigOrigin& origin);

// The id of a node that finds its peers, if none is given and the host name has one.
void take_host_name(Config& config);

// Throws ConfigError for the first error.
void check(const Config& config, const ConfigOrigin& origin);
// The same for what a program needs that is no member. It may have its own peers, or none.
void check_for_client(const Config& config, const ConfigOrigin& origin);

}  // namespace mortise::detail
