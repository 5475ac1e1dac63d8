// Whom this node listens to, and how members that lost their directory come back.
#include <algorithm>

#include "core/base/overloaded.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/node/node_core.hpp"

namespace mortise::core {

namespace {

// The cluster of the sender; empty if the message does not tell.
std::optional<ClusterId> cluster_in(const RaftMessage& message) {
    if (const auto* chunk = std::get_if<SnapshotChunk>(&message))
        return chunk->configuration.cluster;
    const auto* request = std::get_if<AppendRequest>(&message);
    if (request == nullptr) return std::nullopt;
    const auto found = std::ranges::find(request->entries, EntryKind::configuration, &Entry::kind);
    if (found == request->entries.end()) return std::nullopt;
    const auto configuration = decode_configuration(found->payload);
    return configuration ? configuration->cluster : ClusterId{};
}

}  // namespace

// --- the door -----------------------------------------------------------------------------------

bool NodeCore::is_of_cluster(const Hello& hello) const {
    return hello.is_empty() || hello.cluster == raft_.configuration().cluster;
}

bool NodeCore::is_trusted(NodeId peer) const {
    const auto found = connected_.find(peer);
    if (found == connected_.end() || !is_of_cluster(found->second)) return false;
    const auto incarnation = found->second.generation.incarnation;
    return raft_.configuration().has(peer, incarnation) && !memory_.has_forgotten(incarnation);
}

// Claims count only from members, by id and incarnation. A leader may be unknown to this node:
// members that knew it elected it, and its term and its log prove it.
bool NodeCore::is_admitted(NodeId from, const RaftMessage& message) {
    const auto& hello = connected_.at(from);
    const bool leads = std::holds_alternative<AppendRequest>(message) ||
                       std::holds_alternative<SnapshotChunk>(message);
    if (!is_formed()) {
        // It joins the cluster that adds it (S47); or, if it lost its data, the one it belonged to.
        // The leader may have said hello before its first entry was on disk, when it did not know
        // its cluster yet; but its message tells.
        const auto cluster = hello.is_empty() ? cluster_in(message) : std::optional{hello.cluster};
        const bool own =
            !former_cluster_.is_set() || cluster.value_or(former_cluster_) == former_cluster_;
        return leads && own;
    }
    if (!is_of_cluster(hello)) return false;
    return raft_.configuration().has(from, hello.generation.incarnation) ||
           is_admitted_outsider(from, message);
}

bool NodeCore::is_admitted_outsider(NodeId from, const RaftMessage& message) {
    const auto asks = [&](LogId last) {
        // it may be a voter in entries that we do not have
        if (last > raft_.log().last()) return true;
        raft_.dismiss(from);
        return false;
    };
    const auto answers = [&] {
        const auto* progress = raft_.progress_of(from);
        return progress != nullptr &&
               progress->incarnation == connected_.at(from).generation.incarnation;
    };
    return std::visit(Overloaded{
                          [](const AppendRequest&) { return true; },
                          [](const SnapshotChunk&) { return true; },
                          [](const TimeoutNow&) { return true; },
                          [](const ReadReply&) { return true; },
                          [](const NotAMember&) { return true; },
                          [&](const PreVoteRequest& m) { return asks(m.last); },
                          [&](const VoteRequest& m) { return asks(m.last); },
                          [&](const AppendReply&) { return answers(); },
                          [&](const SnapshotReply&) { return answers(); },
                          [](const auto&) { return false; },
                      },
                      message);
}

// A learner that missed its removal asks for no votes; its other requests show that it does not
// know.
void NodeCore::dismiss_stranger(NodeId from) {
    const auto found = connected_.find(from);
    if (!is_formed() || found == connected_.end() || found->second.is_empty()) return;
    const auto& hello = found->second;
    if (is_of_cluster(hello) && !raft_.configuration().has(from, hello.generation.incarnation))
        raft_.dismiss(from);
}

void NodeCore::on(const UnknownTo& event, Now /*now*/) {
    raft_.on_unknown_to(event.peer);
}

// --- without being asked
// --------------------------------------------------------------------------

// A member that lost its directory comes back with another incarnation: first as a learner, and
// when it has caught up it replaces the lost one as a voter (S47). Tried at every step until it is
// done.
void NodeCore::take_in_newcomers(Now now) {
    if (!raft_.has_handed_out_own_term()) return;
    for (const auto& [peer, hello] : connected_) {
        const auto& present = raft_.configuration();
        const auto* member = present.find(peer);
        if (member == nullptr || !is_of_cluster(hello) || is_too_old(hello)) continue;
        if (!is_members_certificate(peer)) continue;
        ChangeResult begun = MembershipRefusal::already_member;
        if (member->incarnation != hello.generation.incarnation) {
            begun = raft_.add_learner({peer, hello.generation.incarnation, member->address},
                                      now.steady);
        } else if (present.is_learner(peer) &&
                   std::ranges::find(present.voters, peer, &Member::id) != present.voters.end()) {
            begun = promote(peer, now);
        }
        if (std::holds_alternative<LogIndex>(begun)) return;
    }
}

}  // namespace mortise::core
