// The list of all keys of the configuration except listed peers. The file and the environment both
// use it.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <mortise/config.hpp>

namespace mortise::detail {

// Calls visit("timing.session_ttl", config.timing.session_ttl), and so on.
template <class Visit>
void for_each_key(Config& config, Visit&& visit) {
    visit("cluster", config.cluster);
    visit("role", config.role);
    visit("node_id", config.node_id);
    visit("data_dir", config.data_dir);
    visit("listen", config.listen);
    visit("advertise", config.advertise);
    visit("peers", config.peers_from);
    visit("expect", config.expect);
    visit("durability", config.durability);
    visit("sync_interval", config.sync_interval);
    visit("timing.session_ttl", config.timing.session_ttl);
    visit("timing.election_timeout", config.timing.election_timeout);
    visit("timing.heartbeat", config.timing.heartbeat);
    visit("timing.call_timeout", config.timing.call_timeout);
    visit("timing.close_timeout", config.timing.close_timeout);
    visit("timing.clock_rate_bound", config.timing.clock_rate_bound);
    visit("tls.certificate", config.tls.certificate);
    visit("tls.key", config.tls.key);
    visit("tls.ca", config.tls.ca);
    visit("tls.revoked", config.tls.revoked);
    visit("tls.insecure", config.tls.insecure);
    visit("log.level", config.log.level);
    visit("log.format", config.log.format);
    visit("limits.calls", config.limits.calls);
    visit("limits.log_bytes", config.limits.log_bytes);
    visit("limits.outbox_bytes", config.limits.outbox_bytes);
    visit("limits.connections", config.limits.connections);
    visit("limits.clients", config.limits.clients);
    visit("limits.polling", config.limits.polling);
    visit("observability.slow_hold", config.observability.slow_hold);
    visit("observability.long_wait", config.observability.long_wait);
    visit("observability.prefixes", config.observability.prefixes);
}

// Reads a value from text. Returns what is wrong with it, or nothing.
std::string take_text(std::string_view text, std::string& value);
std::string take_text(std::string_view text, std::filesystem::path& value);
std::string take_text(std::string_view text, std::uint64_t& value);
std::string take_text(std::string_view text, bool& value);
std::string take_text(std::string_view text, double& value);
std::string take_text(std::string_view text, Duration& value);
std::string take_text(std::string_view text, Role& value);
std::string take_text(std::string_view text, LogLevel& value);
std::string take_text(std::string_view text, LogFormat& value);
std::string take_text(std::string_view text, Durability& value);
// Separated by commas.
std::string take_text(std::string_view text, std::vector<std::string>& value);

// The text, quoted and escaped for a message.
std::string in_quotes(std::string_view text);

}  // namespace mortise::detail
