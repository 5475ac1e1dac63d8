#include "core/node/client_flow.hpp"

#include <algorithm>

namespace mortise::core {

namespace {

// Enough to keep the leader busy, and few enough to be applied in a fraction of a second.
constexpr std::uint64_t all_under_way = 4'096;
constexpr std::uint64_t share_min = 64;

}  // namespace

bool ClientFlow::is_above_share(const UnderWay& its) const {
    const auto share = std::max(share_min, all_under_way / under_way_.size());
    return its.last.raw() - its.applied.raw() > share;
}

void ClientFlow::asked(ClientId client, Seq applied, Seq last, Nanoseconds pause) {
    if (last <= applied) return;
    auto& its = under_way_[client];
    its.applied = std::max(its.applied, applied);
    its.last = std::max(its.last, last);
    if (!is_above_share(its)) return;
    its.is_paused = true;
    changes_.push_back({client, pause});
}

void ClientFlow::dropped(ClientId client, Nanoseconds pause) {
    changes_.push_back({client, pause});
}

void ClientFlow::applied(ClientId client, Seq last) {
    const auto found = under_way_.find(client);
    if (found == under_way_.end()) return;
    auto& its = found->second;
    its.applied = std::max(its.applied, last);
    if (its.applied >= its.last) {
        end(found);
    } else if (!is_above_share(its)) {
        resume(found);
    }
}

void ClientFlow::forget(ClientId client) {
    if (const auto found = under_way_.find(client); found != under_way_.end()) end(found);
}

void ClientFlow::forget_all() {
    for (auto client = under_way_.begin(); client != under_way_.end();)
        client = end(client);
}

ClientFlow::All::iterator ClientFlow::end(All::iterator client) {
    resume(client);
    return under_way_.erase(client);
}

void ClientFlow::resume(All::iterator client) {
    if (std::exchange(client->second.is_paused, false)) changes_.push_back({client->first, {}});
}

}  // namespace mortise::core
