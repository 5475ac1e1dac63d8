// Linearizable reads without a log entry (thesis 6.4). A read gets the commit index at the time
// when its round began, once a majority has confirmed in that round that this node is still the
// leader.
#include <algorithm>

#include "core/raft/quorum.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

namespace {

constexpr std::size_t reads_max = 262'144;  // reads that wait at a leader (P11)

}  // namespace

bool Raft::read(ReadId id, Instant now) {
    begin_event(now);
    if (auto* leading = std::get_if<Leader>(&role_)) {
        remember_read(*leading, self(), id);
        return true;
    }
    const auto known = leader();
    if (!known) return false;
    send(*known, ReadRequest{term(), id});
    return true;
}

void Raft::on(NodeId from, const ReadRequest& request, Instant /*now*/) {
    auto* leading = std::get_if<Leader>(&role_);
    if (leading == nullptr || request.term != term()) return;
    remember_read(*leading, from, request.id);
}

// An unanswered read is asked again with another id, so nothing is lost by dropping the oldest one.
void Raft::remember_read(Leader& leader, NodeId from, ReadId id) {
    leader.reads.push_back({from, id, 0, {}});
    if (leader.reads.size() > reads_max) leader.reads.pop_front();
}

// All reads that were asked in one step share one round. Reads that wait for the first commit of
// this term get their round then: before that, the commit index may be behind what an earlier
// leader acknowledged.
void Raft::start_read_round() {
    auto* leader = std::get_if<Leader>(&role_);
    if (leader == nullptr || leader->reads.empty() || leader->reads.back().round != 0) return;
    if (!has_committed_own_term()) return;
    ++leader->read_round;
    for (auto read = leader->reads.rbegin(); read != leader->reads.rend(); ++read) {
        if (read->round != 0) break;
        read->round = leader->read_round;
        read->index = commit_;
    }
    grant_reads(*leader);
}

void Raft::grant_reads(Leader& leader) {
    if (leader.reads.empty()) return;
    const auto confirmed = quorum_value(configuration(), [&](NodeId id) {
        if (id == self()) return leader.read_round;
        const auto* progress = counted(id);
        return progress == nullptr ? std::uint64_t{0} : progress->read_round_confirmed;
    });
    for (auto& reads = leader.reads; !reads.empty(); reads.pop_front()) {
        const auto& read = reads.front();
        if (read.round == 0 || read.round > confirmed) return;
        if (read.from == self()) {
            granted_reads_.push_back({read.id, read.index});
        } else {
            // The reader knows the commit from the message that asked it to confirm the round.
            send(read.from, ReadReply{term(), read.id, read.index});
        }
    }
}

// Only the leader was asked. After a change of the leader the question is repeated.
void Raft::on(NodeId from, const ReadReply& reply, Instant /*now*/) {
    if (leader() != from || reply.term != term()) return;
    granted_reads_.push_back({reply.id, reply.index});
}

}  // namespace mortise::core
