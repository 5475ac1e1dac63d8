#include "embed/host/descriptor_budget.hpp"

#include <algorithm>

#include "core/raft/configuration.hpp"
#include "storage/base/descriptors.hpp"
#include "transport/peers/peer_connections.hpp"

namespace mortise::detail {

namespace {

constexpr std::uint64_t of_program = 64;
constexpr std::uint64_t of_event_loop = 3;
constexpr std::uint64_t standard = 3;  // 0, 1 and 2
constexpr std::size_t least_others = 2;
constexpr std::uint64_t strangers_part = 4;

std::uint64_t connections_with_peers(const Config& config) {
    if (config.listen.empty()) return 0;
    const auto listed = std::ranges::count_if(
        config.peers, [&](const auto& peer) { return peer.id != config.node_id; });
    // With a name, voters and as many others to ask who they are.
    const auto others = config.peers_from.empty() ? static_cast<std::uint64_t>(listed)
                                                  : std::uint64_t{core::voters_max};
    return transport::connections_per_peer_max * others;
}

}  // namespace

std::uint64_t DescriptorBudget::recommended() const {
    return needed + of_program;
}

DescriptorBudget descriptor_budget(std::uint64_t limit, const Config& config) {
    DescriptorBudget budget;
    budget.limit = limit;
    const auto fixed =
        of_event_loop + (config.listen.empty() ? 0 : 1) + connections_with_peers(config);
    const bool on_disk = !config.memory_only && config.role != Role::client;
    budget.least = standard + fixed + (on_disk ? storage::directory_descriptors_least : 0);
    budget.needed = fixed + (on_disk ? storage::directory_descriptors_max(limit) : 0);
    const auto room = limit > budget.needed ? limit - budget.needed : 0;
    const auto of_others = room - std::min(of_program, room / 2);
    const auto configured = std::max<std::uint64_t>(config.limits.connections, 1);
    budget.strangers_max = std::min<std::uint64_t>(
        configured, std::max<std::uint64_t>(of_others / strangers_part, least_others));
    const auto of_clients = of_others - std::min<std::uint64_t>(of_others, budget.strangers_max);
    budget.clients_max = std::min<std::uint64_t>(std::max<std::uint64_t>(config.limits.clients, 1),
                                                 std::max<std::uint64_t>(of_clients, least_others));
    return budget;
}

std::size_t client_node_places(std::size_t clients_max) {
    return clients_max < 2 ? clients_max : clients_max - std::max<std::size_t>(clients_max / 8, 1);
}

std::string why_not_enough(const DescriptorBudget& budget) {
    return "this process may have " + std::to_string(budget.limit) +
           " descriptors (RLIMIT_NOFILE), and this node needs " + std::to_string(budget.least) +
           " to work at all; raise the limit to " + std::to_string(budget.recommended()) +
           " or more";
}

std::string why_not_ample(const DescriptorBudget& budget) {
    return "this process may have " + std::to_string(budget.limit) +
           " descriptors (RLIMIT_NOFILE): this node may need " + std::to_string(budget.needed) +
           ", and leaves " + std::to_string(of_program) +
           " to the program if it can; so it admits " + std::to_string(budget.strangers_max) +
           " unauthenticated connections and " + std::to_string(budget.clients_max) +
           " clients. Raise the limit to " + std::to_string(budget.recommended()) + " or more";
}

}  // namespace mortise::detail
