// Where the rights of certificates are checked (S50): at the call of this node's program, at the
// leader when a peer forwards commands to it, and in apply (locks/requests.cpp), which decides.
// docs/decisions/0031 gives the reasons.
#include <algorithm>
#include <string>
#include <utility>

#include "core/base/overloaded.hpp"
#include "core/locks/needed_rights.hpp"
#include "core/node/node_core.hpp"

namespace mortise::core {

namespace {

constexpr std::size_t early_forwards_max = 32;
constexpr std::size_t early_bytes_max = std::size_t{1} << 20U;

}  // namespace

// --- calls of this node's program ---------------------------------------------------------------

std::optional<Denied> NodeCore::denied(const Call& call) const {
    const auto& access = options_.access;
    using Missing = std::optional<MissingRight>;
    const auto missing = std::visit(
        Overloaded{
            [&](const AcquireCall& one) { return missing_right(access, one.request); },
            [&](const AcquireSeveralCall& one) { return missing_right(access, one.request); },
            [&](const WriteCall& one) { return missing_right(access, one.body); },
            [&](const InspectCall& one) {
                const bool may = one.is_prefix ? access.may_all(Right::observe, one.name)
                                               : access.may(Right::observe, one.name);
                return may ? Missing{} : MissingRight{Right::observe, one.name};
            },
            [&](const ChangeCall&) {
                const bool may = access.may(Right::members, {});
                return may ? Missing{} : MissingRight{Right::members, {}};
            },
            [](const auto&) { return Missing{}; }},
        call);
    if (!missing) return std::nullopt;
    return denial("node " + std::to_string(options_.self.raw()), access, missing->right,
                  missing->name);
}

// --- commands that a peer forwards --------------------------------------------------------------

namespace {

// The requests of one session, numbered without a gap.
bool are_part_of_a_stream(const std::vector<Command>& commands) {
    const Request* before = nullptr;
    for (const auto& command : commands) {
        const auto* request = std::get_if<Request>(&command);
        if (request == nullptr) continue;
        const bool follows = before == nullptr || (request->session == before->session &&
                                                   request->seq == before->seq.next());
        if (!follows) return false;
        before = request;
    }
    return true;
}

}  // namespace

NodeCore::Inbound NodeCore::look_into(const Forward& forward) {
    Inbound inbound{{}, {}, forward.renewal};
    if (forward.batch.empty()) return inbound;
    auto commands = decode_batch(forward.batch, options_.command_format);
    if (!commands || !are_part_of_a_stream(*commands)) {
        ++refused_messages_;
        return inbound;
    }
    inbound.batch = forward.batch;
    inbound.commands = std::move(*commands);
    for (const auto& command : inbound.commands) {
        const auto* request = std::get_if<Request>(&command);
        if (request == nullptr) continue;
        if (!inbound.session.is_set()) inbound.first = request->seq;
        inbound.session = request->session;
        inbound.last = request->seq;
    }
    return inbound;
}

// A session that does not exist although a later one was opened has ended: requests for it have no
// effect.
NodeCore::Owner NodeCore::owner_of(SessionId session, NodeId sender) const {
    const auto* found = machine_.sessions().find(session);
    if (found != nullptr)
        return found->opened.node == sender ? Owner::sender : Owner::somebody_else;
    return session > machine_.sessions().newest() ? Owner::unknown : Owner::sender;
}

// An opening ends the sessions of earlier starts of its directory (S10), so it may name no other
// directory.
bool NodeCore::opens_for_itself(const OpenSession& opening, NodeId sender) const {
    const auto found = connected_.find(sender);
    return found != connected_.end() && opening.node == sender &&
           opening.generation.is_same_start(found->second.generation);
}

// Other commands are made by leaders only.
NodeCore::Owner NodeCore::owner_of(const Command& command, NodeId sender) const {
    return std::visit(
        Overloaded{[&](const OpenSession& one) {
                       return opens_for_itself(one, sender) ? Owner::sender : Owner::somebody_else;
                   },
                   [&](const Acknowledge& one) { return owner_of(one.session, sender); },
                   [&](const Request& one) { return owner_of(one.session, sender); },
                   [](const auto&) { return Owner::somebody_else; }},
        command);
}

// A node has one session and opens it once; each opening may grow by the rules of a certificate.
NodeCore::Owner NodeCore::owner_of(const Inbound& inbound, NodeId sender) const {
    auto worst = Owner::sender;
    std::size_t openings = 0;
    if (inbound.renewal) worst = owner_of(inbound.renewal->session, sender);
    for (const auto& command : inbound.commands) {
        worst = std::max(worst, owner_of(command, sender));
        if (std::holds_alternative<OpenSession>(command)) ++openings;
    }
    return openings > 1 ? Owner::somebody_else : worst;
}

void NodeCore::refuse_forward(NodeId from) {
    ++refused_messages_;
    effects_.notes.push_back({Note::Kind::refused_message, raft_.term(), from, "Forward",
                              "it asks for what its sender may not ask for"});
}

// Its sender has applied more than this leader. Waiting for the next attempt would cost an election
// timeout, at each start and each change of the leader. The number kept for each peer is about what
// a session sends at once: more would be a way to fill the memory.
void NodeCore::keep_early(NodeId from, const Forward& forward) {
    if (early_forwards_.empty()) {
        newest_when_early_ = machine_.sessions().newest();
        knew_log_when_early_ = raft_.has_handed_out_own_term();
    }
    auto& kept = early_forwards_[from];
    std::size_t bytes = 0;
    for (const auto& one : kept)
        bytes += one.batch.size();
    if (kept.size() < early_forwards_max && bytes < early_bytes_max) kept.push_back(forward);
}

void NodeCore::take_early_forwards() {
    const bool knows_more = machine_.sessions().newest() != newest_when_early_ ||
                            raft_.has_handed_out_own_term() != knew_log_when_early_;
    if (!knows_more) return;
    for (const auto& [from, forwards] : std::exchange(early_forwards_, {})) {
        for (const auto& forward : forwards)
            take_forward(from, forward);
    }
}

// What the opener wrote about itself does not count, and need not: its certificate does. What a
// member says that it reads does not count either, or a member could lift the rules for all by
// claiming to be old: every version that knows certificates reads such commands.
void NodeCore::set_access(Inbound& inbound, NodeId opener) const {
    const auto peer = connected_.find(opener);
    const bool is_self = opener == options_.self;
    if (!is_self && peer == connected_.end()) return;
    const auto& access = is_self ? options_.access : peer->second.access;
    bool differs = false;
    for (auto& command : inbound.commands) {
        auto* opening = std::get_if<OpenSession>(&command);
        if (opening == nullptr || opening->node != opener || opening->access == access) continue;
        opening->access = access;
        differs = true;
    }
    if (!differs) return;
    BatchBuilder batch;
    for (const auto& command : inbound.commands)
        batch.add(command);
    inbound.batch = batch.take();
}

// --- the membership -----------------------------------------------------------------------------

bool NodeCore::is_voters_certificate(NodeId peer) const {
    if (peer == options_.self) return options_.access.has(AccessRole::voter);
    const auto found = connected_.find(peer);
    return found != connected_.end() && found->second.access.has(AccessRole::voter);
}

bool NodeCore::is_members_certificate(NodeId peer) const {
    const auto found = connected_.find(peer);
    const bool learns = found != connected_.end() && found->second.access.has(AccessRole::learner);
    return learns || is_voters_certificate(peer);
}

// Only the certificate on its connection shows whether it may vote.
ChangeResult NodeCore::promote(NodeId id, Now now) {
    const bool is_learner = raft_.is_leader() && raft_.configuration().is_learner(id);
    if (is_learner) {
        if (!connected_.contains(id)) return MembershipRefusal::not_connected;
        if (!is_voters_certificate(id)) return MembershipRefusal::not_a_voters_certificate;
    }
    return raft_.promote(id, now.steady);
}

}  // namespace mortise::core
