// What certificates allow, and where that is looked at (S50): at the call of this node's program,
// at the leader when a peer forwards commands to it, and in apply (locks/requests.cpp), which alone
// decides. docs/decisions/0031 says why in three places.
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

NodeCore::Inbound NodeCore::look_into(const Forward& forward) {
    const auto lane = [](const Bytes& batch) {
        Inbound::Lane decoded{batch, {}};
        if (!batch.empty()) decoded.commands = decode_batch(batch);
        return decoded;
    };
    return {lane(forward.urgent), lane(forward.acquires), forward.renewal};
}

// One that is not there although a later one was opened has ended: what is asked of it has no
// effect.
NodeCore::Owner NodeCore::owner_of(SessionId session, NodeId sender) const {
    const auto* found = machine_.sessions().find(session);
    if (found != nullptr)
        return found->opened.node == sender ? Owner::sender : Owner::somebody_else;
    return session > machine_.sessions().newest() ? Owner::unknown : Owner::sender;
}

// An opening ends the sessions of earlier starts of that directory (S10), so it may name no other.
bool NodeCore::opens_for_itself(const OpenSession& opening, NodeId sender) const {
    const auto found = connected_.find(sender);
    return found != connected_.end() && opening.node == sender &&
           opening.incarnation == found->second.incarnation &&
           opening.boot_epoch == found->second.boot_epoch;
}

// The others are a leader's own.
NodeCore::Owner NodeCore::owner_of(const Command& command, NodeId sender) const {
    return std::visit(
        Overloaded{[&](const OpenSession& one) {
                       return opens_for_itself(one, sender) ? Owner::sender : Owner::somebody_else;
                   },
                   [&](const CloseSession& one) { return owner_of(one.session, sender); },
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
    for (const auto* lane : {&inbound.urgent, &inbound.acquires}) {
        if (!lane->commands) continue;
        for (const auto& command : *lane->commands) {
            worst = std::max(worst, owner_of(command, sender));
            if (std::holds_alternative<OpenSession>(command)) ++openings;
        }
    }
    const bool opens_late = inbound.acquires.commands &&
                            std::ranges::any_of(*inbound.acquires.commands, [](const auto& one) {
                                return std::holds_alternative<OpenSession>(one);
                            });
    return openings > 1 || opens_late ? Owner::somebody_else : worst;
}

void NodeCore::refuse_forward(NodeId from) {
    ++refused_messages_;
    raft_.note_refused(from);
}

// Its sender has applied more than this leader has. To let it wait for its next attempt would cost
// it an election timeout, at each start and each change of the leader. About as much of each peer
// is kept as a session sends at once: more would be a way to fill the memory.
void NodeCore::keep_early(NodeId from, const Forward& forward) {
    if (early_forwards_.empty()) newest_when_early_ = machine_.sessions().newest();
    auto& kept = early_forwards_[from];
    std::size_t bytes = 0;
    for (const auto& one : kept)
        bytes += one.urgent.size() + one.acquires.size();
    if (kept.size() < early_forwards_max && bytes < early_bytes_max) kept.push_back(forward);
}

void NodeCore::take_early_forwards() {
    if (machine_.sessions().newest() == newest_when_early_) return;
    for (const auto& [from, forwards] : std::exchange(early_forwards_, {})) {
        for (const auto& forward : forwards)
            take_forward(from, forward);
    }
}

// What the opener wrote about itself does not count, and need not: its certificate does. What a
// member says that it reads does not count either, or a member could lift the rules for all by
// claiming to be old: every version that knows certificates reads such commands.
void NodeCore::set_access(Inbound::Lane& lane, NodeId opener) const {
    if (!lane.commands) return;
    const auto peer = connected_.find(opener);
    const bool is_self = opener == options_.self;
    if (!is_self && peer == connected_.end()) return;
    const auto& access = is_self ? options_.access : peer->second.access;
    bool differs = false;
    for (auto& command : *lane.commands) {
        auto* opening = std::get_if<OpenSession>(&command);
        if (opening == nullptr || opening->node != opener || opening->access == access) continue;
        opening->access = access;
        differs = true;
    }
    if (!differs) return;
    BatchBuilder batch;
    for (const auto& command : *lane.commands)
        batch.add(command);
    lane.batch = batch.take();
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
