// How the descriptors that this process may have are divided (docs/decisions/0030).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <mortise/config.hpp>

namespace mortise::detail {

struct DescriptorBudget {
    std::uint64_t limit = 0;   // RLIMIT_NOFILE
    std::uint64_t least = 0;   // below that the node does not get as far as to work
    std::uint64_t needed = 0;  // of its files and of the connections with its peers, at most
    // Bounds for others, such that the program keeps 64, or half of what is left if that is less.
    std::size_t strangers_max = 0;
    std::size_t clients_max = 0;

    [[nodiscard]] std::uint64_t recommended() const;
    [[nodiscard]] bool is_enough() const { return limit >= least; }
    [[nodiscard]] bool is_ample() const { return limit >= recommended(); }
};

[[nodiscard]] DescriptorBudget descriptor_budget(std::uint64_t limit, const Config& config);

// One line each, for whoever may raise the limit.
[[nodiscard]] std::string why_not_enough(const DescriptorBudget& budget);
[[nodiscard]] std::string why_not_ample(const DescriptorBudget& budget);

}  // namespace mortise::detail
