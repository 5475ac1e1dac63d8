// What a node claims about itself must be on its disk at that time.
#include "core/base/overloaded.hpp"
#include "tests/sim/base/in_words.hpp"
#include "tests/sim/judges/checker.hpp"

namespace mortise::sim {

void Checker::sent(core::NodeId from, core::NodeId to, const core::PeerMessage& message) {
    if (view(from).rolled_back) return;  // its messages do not count, or (1) detects a missing vote
    std::visit(core::Overloaded{
                   [&](const core::RaftMessage& said) { check_claim(from, to, said); },
                   // These messages claim nothing.
                   [](const core::Forward&) {},
                   [](const core::MembershipRequest&) {},
                   [](const core::MembershipReply&) {},
                   [](const core::Superseded&) {},
                   [](const core::StreamGap&) {},
                   [](const core::FormationQuestion&) {},
                   [](const core::FormationAnswer&) {},
                   [&](const core::FormationOffer& offer) {
                       const auto& platter = *view(from).platter;
                       if (platter.founding == offer.founding.checksum) return;
                       // Or the configuration of the installed state, if the log has yet to begin
                       // behind it.
                       const auto& there = platter.configuration_there;
                       if (there.is_formed() && core::founding_entry(there) == offer.founding)
                           return;
                       violations_.report(from, "claim: offers what it has not on disk");
                   },
               },
               message);
}

void Checker::check_claim(core::NodeId from, core::NodeId to, const core::RaftMessage& message) {
    std::visit([&](const auto& said) { claim(from, to, said); }, message);
}

void Checker::claim_term(core::NodeId from, core::Term term, const char* what) {
    const auto durable = view(from).platter->hard_state.term;
    if (term <= durable) return;
    violations_.report(from, std::string{"claim: "} + what + " of term " + in_words(term) +
                                 ", on disk is term " + in_words(durable));
}

void Checker::claim(core::NodeId from, core::NodeId /*to*/, const core::VoteRequest& request) {
    const auto& platter = *view(from).platter;
    claim_term(from, request.term, "request for a vote");
    votes_.voted(from, platter.incarnation, request.term, from);
    if (platter.hard_state != core::HardState{request.term, from}) {
        violations_.report(from, "claim: asks for votes, its own is not on disk");
    }
    if (!platter.has(request.last)) {
        violations_.report(from, "claim: asks for votes with a log that is not on disk");
    }
    if (request.transfer) tally_.probe("candidate by handing over");
}

void Checker::claim(core::NodeId from, core::NodeId to, const core::VoteReply& reply) {
    const auto& platter = *view(from).platter;
    claim_term(from, reply.term, "vote");
    tally_.probe(reply.granted ? "vote granted" : "vote refused");
    if (!reply.granted && !reply.if_all) return;
    if (view(from).was_wiped) tally_.probe("wiped member votes again");
    votes_.voted(from, platter.incarnation, reply.term, to);
    if (platter.hard_state.term == reply.term && platter.hard_state.voted_for != to) {
        violations_.report(from, "claim: a vote for node " + in_words(to) + " that is not on disk");
    }
}

void Checker::claim(core::NodeId from, core::NodeId /*to*/, const core::PreVoteReply& reply) {
    claim_term(from, reply.term, "answer to a pre-vote");
    if (!reply.granted && view(from).raft->leader()) tally_.probe("vote refused by stickiness");
}

void Checker::claim(core::NodeId from, core::NodeId /*to*/, const core::AppendRequest& request) {
    // (1): the leader of a term is known since it was elected.
    if (view(from).raft->term() == request.term) votes_.leads(from, request.term);
}

void Checker::claim(core::NodeId from, core::NodeId /*to*/, const core::SnapshotReply& reply) {
    claim_term(from, reply.term, "answer to a state");
    const auto& platter = *view(from).platter;
    if (!reply.installed) return;
    if (!platter.has(reply.last) || reply.last.index > platter.last().index) {
        violations_.report(
            from, "claim: has installed " + in_words(reply.last) + ", which is not on disk");
    }
}

void Checker::claim(core::NodeId from, core::NodeId to, const core::AppendReply& reply) {
    claim_term(from, reply.term, "acknowledgement");
    if (reply.rejected) {
        tally_.probe("append rejected");
        return;
    }
    const auto& platter = *view(from).platter;
    if (reply.match > platter.last().index) {
        violations_.report(from, "claim: acknowledges index " + in_words(reply.match) +
                                     ", on disk is " + in_words(platter.last().index));
        return;
    }
    const auto* entry = platter.find(reply.match);
    const auto* leader = view(to).raft;
    const bool leads = leader != nullptr && leader->is_leader() && leader->term() == reply.term;
    if (entry == nullptr || !leads || leader->log().has(entry->id)) return;
    violations_.report(from,
                       "claim: acknowledges " + in_words(entry->id) + ", which its leader has not");
}

}  // namespace mortise::sim
