// What a member can say that stops others, or could (the table in SECURITY.md).
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "core/node/node_core.hpp"
#include "core/raft/bounds.hpp"
#include "core/raft/snapshot_sum.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {

// What the liar says to a node, by the present state of that node.
struct Lie {
    const char* name;
    std::function<std::vector<PeerMessage>(const NodeCore&)> to;
    bool only_stops = true;  // otherwise a node that believes it may break a promise about locks
};
inline void PrintTo(const Lie& lie, std::ostream* out) {
    *out << lie.name;
}

// The answer does not count for what the liar asks as an honest member.
constexpr std::uint64_t a_round = std::uint64_t{1} << 60U;

inline Term later_term(const NodeCore& node, std::uint64_t by) {
    return Term{node.raft().term().raw() + by};
}
inline RaftMessage lying_campaign(const NodeCore& node, Term term, bool transfer) {
    return VoteRequest{term, a_round, node.raft().log().last(), transfer};
}
inline RaftMessage false_claim(const NodeCore& node, Term term) {
    const auto commit = node.raft().commit_index();
    const auto known = node.raft().log().term_at(commit);
    auto claim = append(term.raw(), {known.value_or(Term{}), commit}, {}, commit.raw());
    // Others that are down may lack that. It may lead in an earlier term, and would be believed.
    if (term >= later_term(node, 3)) claim.replicated = commit;
    return claim;
}

inline const std::vector<Lie> lies{
    {"Transfer",
     [](const NodeCore& node) {
         return std::vector<PeerMessage>{lying_campaign(node, later_term(node, 1), true)};
     }},
    {"TransferToTheLastTerm",
     [](const NodeCore& node) {
         return std::vector<PeerMessage>{lying_campaign(node, Term{term_end - 1}, true)};
     }},
    {"VoteRequest",
     [](const NodeCore& node) {
         return std::vector<PeerMessage>{
             lying_campaign(node, later_term(node, 1), false),
             RaftMessage{VoteRequest{later_term(node, 2), a_round + 1, {}, false}}};
     }},
    {"PreVoteRequest",
     [](const NodeCore& node) {
         return std::vector<PeerMessage>{
             RaftMessage{PreVoteRequest{later_term(node, 9), 1, node.raft().log().last()}}};
     }},
    {"RepliesOfLaterTerms",
     [](const NodeCore& node) {
         return std::vector<PeerMessage>{
             RaftMessage{PreVoteReply{later_term(node, 3), 1, false}},
             RaftMessage{VoteReply{later_term(node, 6), 1, false}},
             RaftMessage{rejects(later_term(node, 9).raw(), 1, {})},
             RaftMessage{SnapshotReply{later_term(node, 12), {}, 0, false, true}}};
     }},
    {"RepliesOfTheLastTerm",
     [](const NodeCore&) {
         return std::vector<PeerMessage>{RaftMessage{PreVoteReply{Term{term_end - 1}, 1, false}},
                                         RaftMessage{rejects(term_end - 1, 1, {})}};
     }},
    {"Rejections",
     [](const NodeCore& node) {
         const auto last = node.raft().log().last();
         return std::vector<PeerMessage>{
             RaftMessage{rejects(node.raft().term().raw(), last.index.raw(), {})},
             RaftMessage{rejects(node.raft().term().raw(), 1, {})},
             RaftMessage{SnapshotReply{node.raft().term(), last, 0, false, true}}};
     }},
    {"TimeoutNow",
     [](const NodeCore& node) {
         const auto last = node.raft().log().last();
         return std::vector<PeerMessage>{RaftMessage{TimeoutNow{node.raft().term(), last}},
                                         RaftMessage{TimeoutNow{later_term(node, 1), last}}};
     }},
    {"ReadReply",
     [](const NodeCore& node) {
         std::vector<PeerMessage> all;
         for (std::uint64_t id = 1; id < 200; ++id)
             all.emplace_back(
                 RaftMessage{ReadReply{node.raft().term(), ReadId{id}, LogIndex{log_index_max}}});
         return all;
     }},
    {"ReadRequest",
     [](const NodeCore& node) {
         return std::vector<PeerMessage>{RaftMessage{ReadRequest{node.raft().term(), ReadId{1}}},
                                         RaftMessage{ReadRequest{later_term(node, 1), ReadId{2}}}};
     }},
    {"NotAMember",
     [](const NodeCore& node) {
         const LogId newest{later_term(node, 1), LogIndex{log_index_max}};
         return std::vector<PeerMessage>{RaftMessage{NotAMember{node.raft().term(), newest}},
                                         RaftMessage{NotAMember{later_term(node, 1), newest}}};
     }},
    {"Superseded",
     [](const NodeCore& node) {
         return std::vector<PeerMessage>{Superseded{node.hello().generation}};
     }},
    {"StreamGap",
     [](const NodeCore& node) {
         std::vector<PeerMessage> all;
         for (const auto& [id, session] : node.machine().sessions().all())
             all.emplace_back(StreamGap{id, Seq{1}});
         return all;
     }},
    {"Formation",
     [](const NodeCore& node) {
         const auto founding = configures(log_id(1, 1), voters({3}));
         return std::vector<PeerMessage>{FormationQuestion{1, node.hello().generation.life},
                                         FormationAnswer{1}, FormationOffer{founding}};
     },
     false},
    {"Membership",
     [](const NodeCore&) {
         std::vector<PeerMessage> all;
         for (std::uint64_t id = 1; id < 50; ++id) {
             MembershipReply reply;
             reply.id = ChangeId{id};
             reply.state = MembershipReply::State::refused;
             all.emplace_back(reply);
         }
         return all;
     }},
    // It leads, without having been elected.
    {"AppendRequest",
     [](const NodeCore& node) {
         return std::vector<PeerMessage>{false_claim(node, later_term(node, 0)),
                                         false_claim(node, later_term(node, 1)),
                                         false_claim(node, later_term(node, 3))};
     }},
    {"AppendRequestOfTheLastTerm",
     [](const NodeCore& node) {
         return std::vector<PeerMessage>{false_claim(node, Term{term_end - 1})};
     }},
    {"SnapshotChunk",
     [](const NodeCore& node) {
         SnapshotChunk chunk;
         chunk.term = later_term(node, 1);
         chunk.last = {later_term(node, 0), node.raft().log().last().index.next()};
         chunk.configuration = node.raft().configuration();
         chunk.rows.push_back({"x", "y"});
         chunk.checksum = sum_with(0, chunk);
         return std::vector<PeerMessage>{RaftMessage{chunk}};
     },
     false},
};

}  // namespace mortise::core::test
