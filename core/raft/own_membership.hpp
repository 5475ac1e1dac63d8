// What a node knows about being a member: by its own log, and by what others say while it hears no
// leader.
#pragma once

#include <cstddef>
#include <set>
#include <utility>

#include "core/raft/configuration.hpp"
#include "core/raft/quorum.hpp"

namespace mortise::core {

class OwnMembership {
public:
    // `was_member`: some configuration in its log has it. The entry that removed it may be the
    // newest one.
    OwnMembership(bool was_member, LogIndex newest) : was_member_{was_member}, noted_{newest} {}

    // True if enough peers have said that this node was removed and no leader was heard since, or
    // if the log shows it.
    [[nodiscard]] bool is_removed() const { return is_dismissed_ || was_removed_; }
    [[nodiscard]] bool is_dismissed() const { return is_dismissed_; }

    void heard_leader() {
        is_dismissed_ = false;
        dismissed_by_.clear();
        unknown_to_.clear();
    }
    // A log shows that this node was removed. True if as many have said so as are `enough`.
    bool dismissed_by(NodeId peer, std::size_t enough) {
        dismissed_by_.insert(peer);
        is_dismissed_ = dismissed_by_.size() >= enough;
        return is_dismissed_;
    }
    // That voter does not know this node. True if a majority does not: it would have the entry that
    // added this node.
    bool unknown_to(NodeId voter, const Configuration& present) {
        unknown_to_.insert(voter);
        was_removed_ = has_quorum(present, [&](NodeId id) { return unknown_to_.contains(id); });
        return was_removed_;
    }

    struct News {
        bool is_changed = false;  // another configuration is in force
        bool is_removed = false;  // the log shows for the first time that this node is no member
    };
    // Compares the configuration in force with the one at the last call.
    News look(LogIndex newest, bool is_member, bool is_committed) {
        News news{std::exchange(noted_, newest) != newest, false};
        if (is_member) {
            was_member_ = true;
            was_removed_ = false;
        } else if (is_committed && std::exchange(was_member_, false)) {
            was_removed_ = true;
            news.is_removed = true;
        }
        return news;
    }

private:
    friend class StateReader;  // tests/explore: distinguishes states by all members

    std::set<NodeId> dismissed_by_;  // since it last heard a leader
    std::set<NodeId> unknown_to_;    // voters, since it last heard a leader
    bool is_dismissed_ = false;      // they were enough
    bool was_removed_ = false;       // its log shows its removal, and that it was not added since
    bool was_member_;                // at the last look()
    LogIndex noted_;                 // the configuration at the last look()
};

}  // namespace mortise::core
