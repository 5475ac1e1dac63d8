// How the descriptors that this process may have are divided (docs/decisions/0030).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <mortise/config.hpp>

namespace mortise::detail {

struct DescriptorBudget {
    std::uint64_t limit = 0;   // RLIMIT_NOFILE
    std::uint64_t least = 0;   // with fewer the node cannot start
    std::uint64_t needed = 0;  // for its files and the connections with its peers, at most
    // Limits for inbound connections, chosen so that the program keeps 64 descriptors, or half of
    // the rest if that is less.
    std::size_t strangers_max = 0;
    std::size_t clients_max = 0;

    [[nodiscard]] std::uint64_t recommended() const;
    [[nodiscard]] bool is_enough() const { return limit >= least; }
    [[nodiscard]] bool is_ample() const { return limit >= recommended(); }
};

[[nodiscard]] DescriptorBudget descriptor_budget(std::uint64_t limit, const Config& config);

// How many of the clients may be client nodes. The other places are for those that come and go,
// such as the command line.
[[nodiscard]] std::size_t client_node_places(std::size_t clients_max);

// One line each, for the operator.
[[nodiscard]] std::string why_not_enough(const DescriptorBudget& budget);
[[nodiscard]] std::string why_not_ample(const DescriptorBudget& budget);

}  // namespace mortise::detail
