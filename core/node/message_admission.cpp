#include "core/node/message_admission.hpp"

#include <algorithm>

#include "core/base/overloaded.hpp"
#include "core/codec/configuration_codec.hpp"

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

// A message of a node that is not a member, as far as this node knows.
Admission judge_outsider(NodeId from, const RaftMessage& message, const Raft& raft,
                         const Hello& hello) {
    const auto asks = [&](LogId last) {
        // it may be a voter in entries that we do not have
        const bool may_be_member = last > raft.log().last();
        return may_be_member ? Admission::admitted : Admission::not_a_member;
    };
    const auto answers = [&] {
        const auto* progress = raft.progress_of(from);
        const bool is_asked =
            progress != nullptr && progress->incarnation == hello.generation.incarnation;
        return is_asked ? Admission::admitted : Admission::refused;
    };
    return std::visit(Overloaded{
                          [](const AppendRequest&) { return Admission::admitted; },
                          [](const SnapshotChunk&) { return Admission::admitted; },
                          [](const TimeoutNow&) { return Admission::admitted; },
                          [](const ReadReply&) { return Admission::admitted; },
                          [](const NotAMember&) { return Admission::admitted; },
                          [&](const PreVoteRequest& m) { return asks(m.last); },
                          [&](const VoteRequest& m) { return asks(m.last); },
                          [&](const AppendReply&) { return answers(); },
                          [&](const SnapshotReply&) { return answers(); },
                          [](const auto&) { return Admission::refused; },
                      },
                      message);
}

}  // namespace

// Members that knew an unknown leader elected it, and its term and its log prove it.
Admission judge(NodeId from, const RaftMessage& message, const Raft& raft, const Peers& peers,
                const Bootstrap& bootstrap) {
    const auto& hello = peers.at(from);
    const bool leads = claims_to_lead(message);
    if (!raft.configuration().is_formed()) {
        // The leader may have said hello before its first entry was on disk, when it did not know
        // its cluster yet; but its message tells.
        const auto cluster = hello.is_empty() ? cluster_in(message) : std::optional{hello.cluster};
        return leads && bootstrap.may_join(cluster) ? Admission::admitted : Admission::refused;
    }
    if (!peers.is_of_cluster(hello)) return Admission::refused;
    if (raft.configuration().has(from, hello.generation.incarnation)) return Admission::admitted;
    return judge_outsider(from, message, raft, hello);
}

}  // namespace mortise::core
