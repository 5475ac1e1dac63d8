#include "transport/sockets/network_values.hpp"

#include <numeric>

namespace mortise::transport {

std::uint64_t RefusalCounts::all() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

}  // namespace mortise::transport
