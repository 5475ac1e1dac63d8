#include "embed/runtime/name_lookup.hpp"

#include <algorithm>
#include <utility>

#include "embed/config/host_port.hpp"
#include "transport/sockets/resolver.hpp"

namespace mortise::detail {

namespace {

constexpr const char* too_far =
    "its addresses are on other machines, and without TLS all members are on this one";

transport::HostPort host_and_port(const Config& config) {
    const auto at = parse_found_peers(config.peers_from);
    if (!at) return {};
    return {at->host, std::to_string(at->port)};
}

// A client has no secret that it could tell a stranger, and asks wherever it is told to.
bool is_bound_to_this_machine(const Config& config) {
    return config.role != Role::client && !config.tls.is_set() && !config.tls.insecure;
}

}  // namespace

NameLookup::NameLookup(asio::io_context& io, const Config& config, NodeLog& log)
    : io_{io},
      log_{log},
      at_{host_and_port(config)},
      loopback_only_{is_bound_to_this_machine(config)} {}

void NameLookup::begin(Found found) {
    if (std::exchange(is_under_way_, true)) return;
    const auto done = [this, alive = std::weak_ptr{alive_},
                       found = std::move(found)](const transport::Resolver::Found& answer) {
        if (alive.expired()) return;
        std::vector<std::string> addresses;
        for (const auto& endpoint : answer.endpoints) {
            if (!loopback_only_ || transport::is_loopback(endpoint.address()))
                addresses.push_back(transport::to_string(endpoint));
        }
        const bool is_far = addresses.empty() && !answer.endpoints.empty();
        finished(found, std::move(addresses), is_far ? too_far : answer.error.message());
    };
    asio::use_service<transport::Resolver>(io_).resolve(at_, done);
}

// A failure is told once, until it changes.
void NameLookup::finished(const Found& found, std::vector<std::string> addresses,
                          const std::string& why) {
    is_under_way_ = false;
    std::ranges::sort(addresses);
    const auto repeated = std::ranges::unique(addresses);
    addresses.erase(repeated.begin(), repeated.end());
    const auto problem = addresses.empty() ? why : std::string{};
    if (problem != problem_ && !problem.empty())
        log_.warn("peers_not_found", "the name of the peers, " + name() + ", leads nowhere: " + why,
                  {{"name", name()}});
    problem_ = problem;
    found(std::move(addresses));
}

}  // namespace mortise::detail
