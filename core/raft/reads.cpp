// Linearizable reads without a log entry (thesis 6.4): the commit index at the time of asking, once
// a majority has confirmed, in a round begun after that, that this is still the leader.
#include <algorithm>

#include "core/base/mutant.hpp"
#include "core/raft/quorum.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

bool Raft::read(ReadId id, Instant now) {
    begin_event(now);
    if (auto* leading = std::get_if<Leader>(&role_)) {
        leading->reads.push_back({self(), id, 0, {}});
        start_read_rounds(*leading);
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
    leading->reads.push_back({from, request.id, 0, {}});
    start_read_rounds(*leading);
}

// Gives every read that has none a round of its own time. One still waiting for the first commit of
// this term gets it then: before, the commit index may be behind what an earlier leader
// acknowledged.
void Raft::start_read_rounds(Leader& leader) {
    if (!has_committed_own_term() && !planted(Mutant::read_before_own_commit)) return;
    bool any = false;
    for (auto& read : leader.reads) {
        if (read.round != 0) continue;
        const bool reuses = planted(Mutant::read_joins_open_round) && leader.read_round != 0;
        read.round = leader.read_round + (reuses ? 0 : 1);
        read.index = commit_;
        any = any || !reuses;
    }
    if (any) ++leader.read_round;
    grant_reads(leader);
}

void Raft::grant_reads(Leader& leader) {
    if (leader.reads.empty()) return;
    const auto confirmed = quorum_value(configuration(), [&](NodeId id) {
        if (id == self()) return leader.read_round;
        const auto peer = leader.peers.find(id);
        return peer == leader.peers.end() ? std::uint64_t{0} : peer->second.read_round_confirmed;
    });
    std::erase_if(leader.reads, [&](const PendingRead& read) {
        if (read.round == 0 || read.round > confirmed) return false;
        if (read.from == self()) {
            granted_reads_.push_back({read.id, read.index});
        } else {
            send(read.from, ReadReply{term(), read.id, read.index});
        }
        return true;
    });
}

void Raft::on(NodeId /*from*/, const ReadReply& reply, Instant /*now*/) {
    // Whatever term it is of: the round was confirmed after we asked, and the id is used once.
    granted_reads_.push_back({reply.id, reply.index});
}

}  // namespace mortise::core
