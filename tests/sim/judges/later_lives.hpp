// What each node has heard of the lives of others: the judge's own account, which says what the
// cluster owes where a directory was rolled back (docs/decisions/0013). Whoever has heard of a
// later life must find it out. Whoever has not cannot, so nobody of them is to meet it: its
// directory then counts as lost.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "core/node/hello.hpp"

namespace mortise::sim {

class LaterLives {
public:
    // This life is one of a directory that was rolled back.
    void rolled_back(std::uint64_t life) { rolled_back_.insert(life); }
    [[nodiscard]] bool is_rolled_back(std::uint64_t life) const {
        return rolled_back_.contains(life);
    }

    void heard(core::NodeId by, const core::Hello& hello);
    // Its process is over, and with it what it remembered.
    void forgot(core::NodeId by);
    // It has heard of a later life of that directory, or of another one of the same start; or its
    // state knows of a session that a later one opened.
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
