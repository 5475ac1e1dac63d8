#include "transport/sockets/endpoint_memory.hpp"

#include <algorithm>
#include <iterator>

namespace mortise::transport {
namespace {

using Endpoint = EndpointMemory::Endpoint;

std::vector<Endpoint> in_turn(const std::vector<Endpoint>& found) {
    std::vector<Endpoint> first;
    std::vector<Endpoint> second;
    for (const auto& each : found)
        (each.protocol() == found.front().protocol() ? first : second).push_back(each);
    std::vector<Endpoint> ordered;
    for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
        if (i < first.size()) ordered.push_back(first[i]);
        if (i < second.size()) ordered.push_back(second[i]);
    }
    return ordered;
}

}  // namespace

// A program that dials ever new addresses loses what it knew of the former ones.
EndpointMemory::Known& EndpointMemory::of(const std::string& address) {
    if (known_.size() >= addresses_max && !known_.contains(address)) known_.clear();
    return known_[address];
}

void EndpointMemory::worked(const std::string& address, const Endpoint& endpoint) {
    const std::lock_guard lock{mutex_};
    auto& its = of(address);
    its.worked = endpoint;
    if (its.failed == endpoint) its.failed.reset();
}

void EndpointMemory::failed(const std::string& address, const Endpoint& endpoint) {
    const std::lock_guard lock{mutex_};
    auto& its = of(address);
    its.failed = endpoint;
    if (its.worked == endpoint) its.worked.reset();
}

std::vector<Endpoint> EndpointMemory::in_order(const std::string& address,
                                               const std::vector<Endpoint>& found) const {
    auto ordered = in_turn(found);
    const std::lock_guard lock{mutex_};
    const auto its = known_.find(address);
    if (its == known_.end()) return ordered;
    std::ranges::stable_sort(ordered, {}, [&](const Endpoint& each) {
        if (each == its->second.worked) return 0;
        return each == its->second.failed ? 2 : 1;
    });
    return ordered;
}

}  // namespace mortise::transport
