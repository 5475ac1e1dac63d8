// Detects messages that no correct peer would send. They change nothing here, not even the term,
// and their sender is reported to the owner of the connections. MORTISE_CHECK is for our own
// mistakes only.
#include <algorithm>
#include <array>
#include <variant>

#include "core/base/overloaded.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/raft/bounds.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

namespace {

constexpr const char* out_of_bounds = "a term or an index is out of bounds";
constexpr const char* malformed = "it is malformed";
constexpr const char* second_leader = "there is another leader in this term";
constexpr const char* contradicts = "it contradicts what is certain here";
constexpr const char* other_cluster = "it brings the members of another cluster";

bool has_sound_numbers(const RaftMessage& message) {
    const auto is_sound = Overloaded{
        [](const PreVoteRequest& m) { return is_in_bounds(m.last); },
        [](const PreVoteReply& m) { return is_in_bounds(m.configuration); },
        [](const VoteRequest& m) { return is_in_bounds(m.last); },
        [](const AppendRequest& m) {
            return is_in_bounds(m.previous) && is_in_bounds(m.commit) &&
                   is_in_bounds(m.replicated) &&
                   m.previous.index.raw() <= log_index_max - m.entries.size();
        },
        [](const AppendReply& m) {
            return is_in_bounds(m.match) && is_in_bounds(m.previous) && is_in_bounds(m.hint);
        },
        [](const TimeoutNow& m) { return is_in_bounds(m.last); },
        [](const ReadReply& m) { return is_in_bounds(m.index); },
        [](const SnapshotChunk& m) { return is_in_bounds(m.last); },
        [](const SnapshotReply& m) { return is_in_bounds(m.last); },
        [](const NotAMember& m) { return is_in_bounds(m.configuration); },
        [](const auto&) { return true; },
    };
    return is_in_bounds(term_of(message)) && std::visit(is_sound, message);
}

}  // namespace

const char* name_of(const RaftMessage& message) {
    constexpr std::array names{"PreVoteRequest", "PreVoteReply",  "VoteRequest",   "VoteReply",
                               "AppendRequest",  "AppendReply",   "TimeoutNow",    "ReadRequest",
                               "ReadReply",      "SnapshotChunk", "SnapshotReply", "NotAMember"};
    static_assert(names.size() == std::variant_size_v<RaftMessage>);
    return names.at(message.index());
}

bool Raft::refuses(NodeId from, const RaftMessage& message) {
    const char* why = nullptr;
    if (!has_sound_numbers(message)) {
        why = out_of_bounds;
    } else {
        why = std::visit([&](const auto& m) { return why_refused(from, m); }, message);
    }
    if (why == nullptr) return false;
    refuse(from, name_of(message), why);
    return true;
}

void Raft::refuse(NodeId from, const char* message, const char* why) {
    out_.notes.push_back({Note::Kind::refused_message, term(), from, message, why});
    out_.distrusted.push_back(from);
}

// Used for an AppendRequest and a SnapshotChunk: a term has one leader, and a node acknowledges
// entries to that one alone.
bool Raft::is_second_leader(NodeId from, Term of) const {
    if (of != term()) return false;
    const auto leads = leader();
    return leads.has_value() && *leads != from;
}

// Returns the index up to which this log cannot differ from that of the sender: what is committed,
// unless voters that lost power may begin an era without it;
// the first entry, to which all voters agreed; and, if the sender is the leader of this term, what
// was checked against its log.
LogIndex Raft::certain_for(NodeId from, Term of) const {
    auto certain = may_be_left_behind() ? LogIndex{} : commit_;
    if (configuration().is_formed() && log_.last().index.is_set())
        certain = std::max(certain, LogIndex{1});
    const auto* follower = std::get_if<Follower>(&role_);
    if (follower != nullptr && follower->leader == from && of == term())
        certain = std::max(certain, follower->verified);
    return certain;
}

bool Raft::is_of_other_cluster(const Configuration& configuration) const {
    const auto& ours = this->configuration();
    return ours.is_formed() && configuration.cluster != ours.cluster;
}

const char* Raft::why_refused(NodeId from, const AppendRequest& request) const {
    if (request.term < term()) return nullptr;  // it learns our term, and nothing else happens
    if (!is_well_formed(request)) return malformed;
    if (is_second_leader(from, request.term)) return second_leader;
    // An empty node learns only from this configuration that it belongs to the cluster.
    const bool is_empty = !configuration().is_formed() && log_.last() == LogId{};
    if (is_empty && !request.previous.index.is_set() && !request.entries.empty() &&
        request.entries.front().kind != EntryKind::configuration)
        return malformed;
    const auto certain = certain_for(from, request.term);
    const auto differs = [&](LogId id) { return id.index <= certain && !log_.has(id); };
    if (differs(request.previous)) return contradicts;
    for (const auto& entry : request.entries) {
        if (differs(entry.id)) return contradicts;
        if (entry.kind != EntryKind::configuration) continue;
        if (is_of_other_cluster(*decode_configuration(entry.payload))) return other_cluster;
    }
    return nullptr;
}

const char* Raft::why_refused(NodeId from, const SnapshotChunk& chunk) const {
    if (chunk.term < term()) return nullptr;
    if (!is_well_formed(chunk)) return malformed;
    if (chunk.last.index.raw() > log_.last().index.raw() + log_index_step_max) return out_of_bounds;
    if (is_second_leader(from, chunk.term)) return second_leader;
    if (is_of_other_cluster(chunk.configuration)) return other_cluster;
    const bool differs = chunk.last.index <= certain_for(from, chunk.term) && !log_.has(chunk.last);
    return differs ? contradicts : nullptr;
}

const char* Raft::why_refused(NodeId from, const AppendReply& reply) const {
    const auto* progress = progress_of(from);
    if (progress == nullptr || reply.term != term()) return nullptr;
    if (reply.read_round > std::get<Leader>(role_).read_round)
        return "it confirms a read that was not asked for";
    if (reply.match > progress->named) return "it has what was never sent";
    return nullptr;
}

const char* Raft::why_refused(NodeId from, const SnapshotReply& reply) const {
    const auto* progress = progress_of(from);
    if (progress == nullptr || reply.term != term() || !reply.installed) return nullptr;
    return reply.last.index > progress->named ? "it has what was never sent" : nullptr;
}

const char* Raft::why_refused(NodeId /*from*/, const ReadRequest& request) const {
    return request.id.is_set() ? nullptr : malformed;
}

const char* Raft::why_refused(NodeId /*from*/, const ReadReply& reply) const {
    return reply.id.is_set() ? nullptr : malformed;
}

}  // namespace mortise::core
