// What is news in a conversation, and what is left out because it says nothing new: heartbeats and
// their answers, questions that are asked again, and, if a scene wishes so, the renewals of
// sessions with everything that they cause.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/node/effects.hpp"

namespace mortise::conversations {

class News {
public:
    // From now on renewals are routine, or are not.
    void renewals_are_routine(bool on) { renewals_are_routine_ = on; }
    [[nodiscard]] bool leaves_out_renewals() const { return renewals_are_routine_; }

    // Whether the entry is worth a word. One that was described, or was routine, stays what it is.
    bool is_news(const core::Entry& entry);
    // Some part of the write is.
    bool is_news(const core::Write& write);
    // The message says more than those before it from that node to that one.
    bool is_news(core::NodeId from, core::NodeId to, const core::PeerMessage& message);
    // True the first time for each entry, and the first time for each entry's outcomes.
    bool is_first_word_about(const core::LogId& entry) { return told_.insert(entry).second; }
    bool is_first_outcome_of(const core::LogId& entry) { return applied_.insert(entry).second; }
    // Those of a node's notes that are news: not that it asks once more for the same pre-votes, nor
    // that it followed nobody for no time.
    std::vector<core::Note> news_of(core::NodeId node, const std::vector<core::Note>& notes);
    // True if the node wants to be connected with other nodes than before.
    bool is_news(core::NodeId node, const std::vector<core::Member>& peers);

private:
    // The last that one node told another.
    struct Told {
        core::Term term;
        core::LogIndex previous;
        core::LogIndex reached;  // committed, by a leader; on disk, by a follower
        std::uint64_t read_round = 0;
        std::vector<core::RenewedLease> run_out;
        core::LogIndex rejected;  // not set: it was none
    };
    using Pair = std::pair<core::NodeId, core::NodeId>;

    bool is_news(Told& told, const core::AppendRequest& append);
    bool is_news(Told& told, const core::AppendReply& reply);
    bool is_news(const Pair& pair, const core::PreVoteRequest& request);
    bool has_news_between(core::LogIndex after, core::LogIndex last) const;

    bool renewals_are_routine_ = false;
    std::set<core::LogIndex> routine_;
    std::set<core::LogId> told_;
    std::set<core::LogId> applied_;
    std::map<Pair, Told> requests_;
    std::map<Pair, core::PreVoteRequest> pre_votes_;
    std::map<core::NodeId, core::Term> asks_in_;  // pre-votes
    std::map<core::NodeId, std::set<core::NodeId>> peers_;
    std::set<Pair> offered_;  // the first entry of the cluster
    std::map<Pair, Told> replies_;
};

}  // namespace mortise::conversations
