#include "tests/sim/judges/vote_history.hpp"

#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

void VoteHistory::leads(core::NodeId node, core::Term term) {
    const auto [place, is_first] = leaders_.emplace(term, node);
    if (!is_first && place->second != node) {
        violations_.report(node, "election safety: leads in term " + in_words(term) +
                                     " as does node " + in_words(place->second));
    }
}

bool VoteHistory::has_voted(core::NodeId voter, core::Incarnation incarnation, core::Term term,
                            core::NodeId candidate) const {
    const auto vote = votes_.find({term, Voter{voter, incarnation}});
    return vote != votes_.end() && vote->second == candidate;
}

void VoteHistory::voted(core::NodeId voter, core::Incarnation incarnation, core::Term term,
                        core::NodeId candidate) {
    const auto key = std::pair{term, Voter{voter, incarnation}};
    const auto [place, is_first] = votes_.emplace(key, candidate);
    if (!is_first && place->second != candidate) {
        violations_.report(voter, "one vote: voted for node " + in_words(candidate) + " in term " +
                                      in_words(term) + " and before for node " +
                                      in_words(place->second));
    }
}

void VoteHistory::forgot(core::NodeId voter, core::Incarnation incarnation, core::Term after) {
    std::erase_if(votes_, [&](const auto& vote) {
        return vote.first.second == Voter{voter, incarnation} && vote.first.first > after;
    });
}

void VoteHistory::hard_state(core::NodeId node, const core::HardState& before,
                             const core::HardState& after) {
    if (after.term < before.term) {
        violations_.report(node, "hard state: term " + in_words(after.term) + " after term " +
                                     in_words(before.term));
    }
    const bool changed = before.voted_for.is_set() && after.voted_for != before.voted_for;
    if (after.term == before.term && changed) {
        violations_.report(node, "hard state: the vote of term " + in_words(after.term) +
                                     " changed from node " + in_words(before.voted_for) +
                                     " to node " + in_words(after.voted_for));
    }
}

}  // namespace mortise::sim
