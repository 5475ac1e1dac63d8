// What each node knows about the generations of others: the judge's own account of what the cluster
// must detect when a directory was rolled back (docs/decisions/0013). A node that knows a later run
// must detect the rollback. A node that does not cannot detect it, so the rolled-back node must not
// meet such a node: its directory counts as lost then.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "core/node/hello.hpp"

namespace mortise::sim {

class LaterLives {
public:
    // This run belongs to a directory that was rolled back.
    void rolled_back(std::uint64_t life) { rolled_back_.insert(life); }
    [[nodiscard]] bool is_rolled_back(std::uint64_t life) const {
        return rolled_back_.contains(life);
    }

    void heard(core::NodeId by, const core::Hello& hello);
    // Its process has ended, and with it its memory.
    void forgot(core::NodeId by);
    // The node knows a later run of that directory, or another run of the same start; or its state
    // knows a session that a later run opened.
    [[nodiscard]] bool knows_better(core::NodeId by, const core::Hello& hello,
                                    core::BootEpoch newest_session) const;

private:
    struct Newest {
        core::BootEpoch epoch;
        std::uint64_t life = 0;
    };

    std::set<std::uint64_t> rolled_back_;
    std::map<std::pair<core::NodeId, core::Incarnation>, Newest> newest_;
};

}  // namespace mortise::sim
