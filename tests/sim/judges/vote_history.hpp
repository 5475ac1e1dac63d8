// Leaders, votes, and the hard state on disk: one leader per term, one vote of an incarnation per
// term, and nothing goes back.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "core/raft/write.hpp"
#include "tests/sim/base/violations.hpp"

namespace mortise::sim {

class VoteHistory {
public:
    explicit VoteHistory(Violations& violations) : violations_{violations} {}

    void leads(core::NodeId node, core::Term term);
    // `voter` has sent this vote.
    void voted(core::NodeId voter, core::Incarnation incarnation, core::Term term,
               core::NodeId candidate);
    // It may have forgotten what it voted in later terms than this one.
    void forgot(core::NodeId voter, core::Incarnation incarnation, core::Term after);
    void hard_state(core::NodeId node, const core::HardState& before, const core::HardState& after);
    // Whether it has sent that vote.
    [[nodiscard]] bool has_voted(core::NodeId voter, core::Incarnation incarnation, core::Term term,
                                 core::NodeId candidate) const;

private:
    struct Voter {
        core::NodeId node;
        core::Incarnation incarnation;
        friend constexpr auto operator<=>(const Voter&, const Voter&) = default;
    };

    Violations& violations_;
    std::map<core::Term, core::NodeId> leaders_;
    std::map<std::pair<core::Term, Voter>, core::NodeId> votes_;
};

}  // namespace mortise::sim
