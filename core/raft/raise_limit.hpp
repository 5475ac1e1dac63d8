// How often a peer may raise this node's term (docs/decisions/0064).
#pragma once

#include <map>

#include "core/base/ids.hpp"
#include "core/base/instant.hpp"

namespace mortise::core {

class RaiseLimit {
public:
    explicit RaiseLimit(Nanoseconds election_timeout) : period_{election_timeout} {}

    // Counts an attempt. False if that peer has raised the term too often lately.
    bool allows(NodeId peer, Instant now) {
        std::erase_if(raises_,
                      [&](const auto& raised) { return now >= raised.second.since + period_; });
        auto& raises = raises_.try_emplace(peer, Raises{now, 0}).first->second;
        return raises.count < raises_max && ++raises.count > 0;
    }
    void forget(NodeId peer) { raises_.erase(peer); }

private:
    // An honest candidate raises the term of the others once with each attempt. Several attempts
    // may follow each other quickly after a split vote.
    static constexpr int raises_max = 4;

    struct Raises {
        Instant since;  // the first one of its period
        int count = 0;
    };

    Nanoseconds period_;
    std::map<NodeId, Raises> raises_;  // of the peers that did it within the last period
};

}  // namespace mortise::core
