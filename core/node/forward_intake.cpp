#include "core/node/forward_intake.hpp"

#include <algorithm>

#include "core/base/overloaded.hpp"

namespace mortise::core {

namespace {

constexpr std::size_t early_forwards_max = 32;
constexpr std::size_t early_bytes_max = std::size_t{1} << 20U;

}  // namespace

void ForwardIntake::ended(SessionId session) {
    proposer_.renewal_applied(session, last_renewal);
    streams_.forget(session);
    members_.forget(session);
}

void ForwardIntake::clear() {
    proposer_.clear();
    patient_.clear();
    streams_.clear();
    members_.clear();
    early_forwards_.clear();
}

void ForwardIntake::take(NodeId from, const Forward& forward) {
    if (!raft_.is_leader()) return;  // its sender learns of the new leader and sends again
    auto decoded = decode(forward, options_.command_format);
    if (decoded.is_malformed) ++out_.refused;
    if (from != options_.self) {
        const auto owner = owner_of(decoded, from);
        if (owner == Owner::somebody_else) return refuse_forward(from);
        if (owner == Owner::unknown) return keep_early(from, forward);
    }
    const auto* access = access_of(from);
    if (access != nullptr) set_access(decoded, from, *access);
    note_member(from, decoded);
    // The renewal is taken even if the batch is not, so that no session is lost because of that.
    if (forward.renewal && forward.renewal->session.is_set()) take_renewal(*forward.renewal);
    if (decoded.batch.empty()) return;
    if (is_ahead_of_the_log(decoded)) {
        keep_early(from, forward);
    } else {
        take_requests(from, std::move(decoded));
    }
}

Seq ForwardIntake::next_of(const Session& session) const {
    return streams_.next(session.id, session.applied);
}

// True if the requests before these may be in the log, and are not applied here yet.
bool ForwardIntake::is_ahead_of_the_log(const DecodedForward& decoded) const {
    if (!decoded.session.is_set() || raft_.has_handed_out_own_term()) return false;
    const auto* session = machine_.sessions().find(decoded.session);
    return session != nullptr && decoded.first > next_of(*session);
}

void ForwardIntake::take_requests(NodeId from, DecodedForward decoded) {
    if (!has_capacity()) return hold_up(from, decoded);
    if (decoded.session.is_set()) leave_out_requests(decoded, next_to_take(from, decoded));
    const auto turn = turn_of(decoded);
    if (!takes_acquires(turn)) decline_acquiring(decoded);
    if (decoded.commands.empty()) return;
    if (!proposer_.takes(turn, decoded.batch.size())) return hold_up(from, decoded);
    queue(decoded, turn);
    if (decoded.session.is_set()) streams_.took(decoded.session, decoded.last);
}

// Other commands than requests are few, and their nodes send them again after a time. There is
// never capacity for a batch that is too large.
void ForwardIntake::hold_up(NodeId from, const DecodedForward& decoded) {
    if (decoded.batch.size() > batch_bytes_max) {
        ++out_.refused;
    } else if (decoded.session.is_set()) {
        streams_.hold_up(decoded.session, {from, decoded.batch.size()});
    }
}

void ForwardIntake::queue(const DecodedForward& decoded, SessionId turn) {
    const auto* session = machine_.sessions().find(decoded.session);
    const auto under_way =
        session != nullptr ? streams_.note_names(decoded, *session) : NamesUnderWay{};
    const auto names = names_in(decoded, session, under_way);
    if (is_an_entry(names)) {
        const bool is_patient = !proposer_.is_urgent() && patient_.takes(decoded);
        const bool is_sealed = std::ranges::any_of(decoded.commands, has_to_be_sealed);
        proposer_.add({turn, decoded.batch, decoded.commands.size(), names, is_sealed}, is_patient);
    } else {
        for (auto& part : divided(decoded, session, under_way))
            proposer_.add(std::move(part));
    }
}

// P11: a leader declines the acquires of a session of which too much waits already, and those of
// all sessions while its disk lags.
bool ForwardIntake::takes_acquires(SessionId turn) const {
    return proposer_.has_room(turn) && saver_.takes_acquires();
}

// While nothing is proposed, no more requests are collected than fill the next entry.
bool ForwardIntake::has_capacity() const {
    return saver_.takes_endings() || !proposer_.has_an_entry();
}

// Returns the first of its requests that is to be proposed; not set if there is none. Requests of
// an ended session would have no effect.
Seq ForwardIntake::next_to_take(NodeId from, const DecodedForward& decoded) {
    const auto* session = machine_.sessions().find(decoded.session);
    if (session == nullptr) return {};
    if (session->has_too_many_answers()) {
        streams_.forget(decoded.session);  // requests that are proposed already have no effect
        return {};
    }
    const auto next = next_of(*session);
    if (decoded.first <= next) return next;
    // What is held up is asked for later, and what follows it as well.
    if (!streams_.is_held_up(decoded.session) && streams_.is_gap_to_tell(decoded.session, next))
        out_.gaps.push_back({from, {decoded.session, next}});
    return {};
}

// Requests that were not taken for lack of capacity are asked for when there is some again. No more
// of them are asked for at once than there is room for, since each node resends all that it has.
void ForwardIntake::ask_for_held_up() {
    if (!streams_.is_any_held_up() || !has_capacity()) return;
    std::size_t asked = 0;
    streams_.end_held_up([&](SessionId id, const StreamPositions::HeldUp& one) {
        if (!proposer_.takes(id, asked + one.bytes)) return false;
        asked += one.bytes;
        const auto* session = machine_.sessions().find(id);
        if (session != nullptr) out_.gaps.push_back({one.sender, {id, next_of(*session)}});
        return true;
    });
}

// A late repeat of an applied renewal is dropped. It would never be applied, and as long as it
// waited its session could not expire.
void ForwardIntake::take_renewal(const Renewal& renewal) {
    const auto* session = machine_.sessions().find(renewal.session);
    const bool late = session != nullptr && renewal.number <= session->renewal_number;
    if (!late) proposer_.add_renewal(renewal);
}

// --- whose session it is ------------------------------------------------------------------------

// The member by which the requests of a client came checked that they are its own.
void ForwardIntake::note_member(NodeId from, const DecodedForward& decoded) {
    for (const auto id : {decoded.session, decoded.renewal.value_or(Renewal{}).session}) {
        const auto* session = id.is_set() ? machine_.sessions().find(id) : nullptr;
        if (session != nullptr && !session->opened.node.is_set()) members_.came_by(id, from);
    }
}

// A session that does not exist although a later one was opened has ended: requests for it have no
// effect.
ForwardIntake::Owner ForwardIntake::owner_of(SessionId session, NodeId sender) const {
    const auto* found = machine_.sessions().find(session);
    if (found != nullptr) {
        const auto node = found->opened.node;
        return node == sender || !node.is_set() ? Owner::sender : Owner::somebody_else;
    }
    return session > machine_.sessions().newest() ? Owner::unknown : Owner::sender;
}

// An opening ends the sessions of earlier starts of its directory (S10), so it may name no other
// directory. The opening of a client names none; its member wrote the client's access into it, and
// a member does for others at most what it may do itself.
bool ForwardIntake::opens_for_itself(const OpenSession& opening, NodeId sender) const {
    const auto* found = peers_.find(sender);
    if (!opening.node.is_set()) return found != nullptr && found->access.covers(opening.access);
    return found != nullptr && opening.node == sender &&
           opening.generation.is_same_start(found->generation);
}

// Other commands are made by leaders only.
ForwardIntake::Owner ForwardIntake::owner_of(const Command& command, NodeId sender) const {
    return std::visit(
        Overloaded{[&](const OpenSession& one) {
                       return opens_for_itself(one, sender) ? Owner::sender : Owner::somebody_else;
                   },
                   [&](const Acknowledge& one) { return owner_of(one.session, sender); },
                   [&](const Request& one) { return owner_of(one.session, sender); },
                   [](const auto&) { return Owner::somebody_else; }},
        command);
}

// A node has one session and opens it once. There may be only one opening, because set_access()
// makes it longer by up to the rules of a certificate.
ForwardIntake::Owner ForwardIntake::owner_of(const DecodedForward& decoded, NodeId sender) const {
    auto worst = Owner::sender;
    std::size_t openings = 0;
    if (decoded.renewal) worst = owner_of(decoded.renewal->session, sender);
    for (const auto& command : decoded.commands) {
        worst = std::max(worst, owner_of(command, sender));
        if (std::holds_alternative<OpenSession>(command)) ++openings;
    }
    return openings > 1 ? Owner::somebody_else : worst;
}

void ForwardIntake::refuse_forward(NodeId from) {
    ++out_.refused;
    out_.notes.push_back({Note::Kind::refused_message, raft_.term(), from, "Forward",
                          "it asks for what its sender may not ask for"});
}

// Its sender has applied more than this leader. Waiting for the next attempt would cost an election
// timeout, at each start and each change of the leader. The number kept for each peer is about what
// a session sends at once: more would be a way to fill the memory.
void ForwardIntake::keep_early(NodeId from, const Forward& forward) {
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

void ForwardIntake::take_early_forwards() {
    const bool knows_more = machine_.sessions().newest() != newest_when_early_ ||
                            raft_.has_handed_out_own_term() != knew_log_when_early_;
    if (!knows_more) return;
    for (const auto& [from, forwards] : std::exchange(early_forwards_, {})) {
        for (const auto& forward : forwards)
            take(from, forward);
    }
}

// Null if the peer is not connected any more: then its commands stay as they are.
const Access* ForwardIntake::access_of(NodeId node) const {
    if (node == options_.self) return &options_.access;
    const auto* peer = peers_.find(node);
    return peer != nullptr ? &peer->access : nullptr;
}

}  // namespace mortise::core
