#include "core/node/own_life.hpp"

#include <algorithm>

namespace mortise::core {

namespace {

// Longer than the time after which a peer that refused a hello is called again.
Nanoseconds doubt_lasts(Nanoseconds election_timeout) {
    constexpr Nanoseconds doubt_min = std::chrono::minutes{1};
    return std::max(60 * election_timeout, doubt_min);
}

}  // namespace

OwnLife::OwnLife(const NodeOptions& options, const Raft& raft, const Peers& peers)
    : options_{options},
      raft_{raft},
      peers_{peers},
      doubts_{doubt_lasts(options.election_timeout)} {}

bool OwnLife::refused(const LifeRefused& event, Instant now) {
    // Nothing was acknowledged yet, and there is nothing to give up.
    if (!raft_.configuration().is_formed()) return false;
    return doubts_.refused(event.by, event.as_copy, now);
}

// It counts from any node of this cluster, whatever its incarnation: a directory may be so old that
// it knows none of the present ones. If there is only one other member, it has to say it again
// after another hello.
OwnLife::Said OwnLife::said(NodeId from, const Superseded& message, Instant now) {
    const bool is_meant = message.generation == options_.generation;
    const auto& sender = peers_.at(from);
    const bool is_ours = !sender.is_empty() && peers_.is_of_cluster(sender);
    if (!is_meant || !(is_ours || peers_.is_trusted(from))) return Said::refused;
    if (!doubts_.said(from, now)) return Said::again;
    const bool is_only_other = raft_.configuration().all().size() == 2;
    return is_only_other ? Said::news_of_only_other : Said::news;
}

// Peers that have restarted know of later starts of this node from the sessions that they have
// applied. These may be missing when this node says hello, and a connection is judged when it
// begins. What they learn later, this node learns, too.
bool OwnLife::is_outlived_in(const SessionTable& sessions) const {
    const auto newest = sessions.newest_start(options_.generation.incarnation);
    return options_.generation.is_earlier_than(newest);
}

// A node that was accepted has all that was committed before, so it has nothing any more that one
// member alone could remind it of. From then on one statement, which anybody may make, has no
// effect (docs/decisions/0064).
bool OwnLife::is_doubted(Instant now) {
    doubts_.advance(now);
    return !doubts_.is_empty() && !is_accepted_;
}

OwnLife::Verdict OwnLife::judge(Instant now) {
    if (doubts_.is_empty()) {
        ask_at_ = Instant::never();
        return Verdict::none;
    }
    // After a start it may be unknown what is committed.
    const auto& committed = raft_.configuration_at(raft_.commit_index());
    const auto& members = committed.is_formed() ? committed : raft_.configuration();
    switch (doubts_.judge(members, options_.self, is_accepted_)) {
        case LifeDoubts::Verdict::unproven: break;
        case LifeDoubts::Verdict::outlived: return Verdict::outlived;
        case LifeDoubts::Verdict::copied: return Verdict::copied;
    }
    return is_time_to_ask(now) ? Verdict::ask : Verdict::none;
}

// A node that is asked for a vote detects what the asker has lost, and says so.
bool OwnLife::is_time_to_ask(Instant now) {
    if (ask_at_ != Instant::never() && now < ask_at_) return false;
    ask_at_ = now + options_.election_timeout;
    return true;
}

Instant OwnLife::deadline() const {
    return std::min(doubts_.deadline(), ask_at_);
}

}  // namespace mortise::core
