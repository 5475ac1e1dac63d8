// The state of each role: one struct per role in a variant, so that no state of an old role
// survives a change.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "core/base/instant.hpp"
#include "core/raft/message.hpp"
#include "core/raft/progress.hpp"

namespace mortise::core {

enum class Role : std::uint8_t { follower, pre_candidate, candidate, leader };

struct AskedPreVote {
    NodeId by;
    PreVoteRequest request;
};

struct Follower {
    std::optional<NodeId> leader;
    Instant leader_heard;  // it supports this leader for one election timeout
    Instant election_at;
    LogIndex verified;  // the last entry that was checked against this term's leader
    std::uint64_t read_round = 0;
    bool reply_owed = false;
    std::optional<AppendReply> rejection;
    std::optional<SnapshotReply> snapshot_reply;
    std::optional<AskedPreVote> asked;      // refused while it has this leader
    std::optional<NodeId> transfer_target;  // as in the newest AppendRequest
};

// Those who agree. The votes of nodes that may have forgotten entries only count if all agree.
struct Votes {
    std::set<NodeId> granted;
    std::set<NodeId> if_all;
};

struct PreCandidate {
    std::uint64_t round = 0;
    Votes votes;
    Instant election_at;
};

struct Candidate {
    std::uint64_t round = 0;
    Votes votes;
    Instant election_at;
    bool transfer = false;       // it campaigns because its leader asked it to
    bool requests_sent = false;  // its own vote is durable
};

struct PendingRead {
    NodeId from;
    ReadId id;
    std::uint64_t round = 0;  // zero until it gets one: see Raft::start_read_round
    LogIndex index;
};

struct Transfer {
    NodeId target;
    Instant deadline;
    bool sent = false;
};

struct Leader {
    std::map<NodeId, Progress> peers;  // all other members of the configuration
    Instant since;
    Instant contact_since;
    Instant heartbeat_at;
    bool heartbeat_due = true;
    LogIndex first_own;  // the first entry of this term
    std::uint64_t read_round = 0;
    std::deque<PendingRead> reads;  // their rounds ascend; those without a round are the last
    std::optional<Transfer> transfer;
};

// The alternatives are in the order of Role.
using RoleData = std::variant<Follower, PreCandidate, Candidate, Leader>;

}  // namespace mortise::core
