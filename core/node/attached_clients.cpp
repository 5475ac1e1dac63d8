#include "core/node/attached_clients.hpp"

#include <algorithm>

#include "core/base/overloaded.hpp"
#include "core/locks/rows/session_row.hpp"
#include "core/node/decoded_forward.hpp"

namespace mortise::core {

namespace {

constexpr std::size_t watched_max = 65'536;  // holds of one client

// Only a client that may acquire something needs a session.
bool may_have_session(const Access& access) {
    return access.has(AccessRole::client) || access.has(AccessRole::voter) ||
           access.has(AccessRole::learner);
}

// Other commands are made by members, or by leaders only.
bool is_clients(const Command& command) {
    const auto* opening = std::get_if<OpenSession>(&command);
    return opening != nullptr ? !opening->node.is_set()
                              : std::holds_alternative<Acknowledge>(command) ||
                                    std::holds_alternative<Request>(command);
}

// Whether it opens the session of that nonce, or is about that session.
bool is_about(const Command& command, std::uint64_t nonce, SessionId session) {
    return std::visit(Overloaded{[&](const OpenSession& one) { return one.nonce == nonce; },
                                 [&](const Acknowledge& one) { return one.session == session; },
                                 [&](const Request& one) { return one.session == session; },
                                 [](const auto&) { return false; }},
                      command);
}

}  // namespace

// --- what clients say ---------------------------------------------------------------------------

void AttachedClients::said(ClientId client, ClientMessage message, const Access& access) {
    const auto found = clients_.try_emplace(client).first;
    std::visit([&](const auto& one) { take(found, one, access); }, message);
}

void AttachedClients::gone(ClientId client) {
    const auto found = clients_.find(client);
    if (found == clients_.end()) return;
    wait_for_state(found);
    waiting_.erase(client);
    told_.erase(client);
    if (const auto named = by_nonce_.find(found->second.nonce);
        named != by_nonce_.end() && named->second == client)
        by_nonce_.erase(named);
    clients_.erase(found);
}

std::string AttachedClients::why_refused(const Access& access) const {
    if (!may_have_session(access))
        return "its certificate does not allow to acquire locks: a client needs the role client";
    if (!options_.access.covers(access)) {
        return "node " + std::to_string(options_.self.raw()) +
               " may do less than the client: its certificate has narrower rules";
    }
    return {};
}

// The session may have been used over another connection, which the client has left.
void AttachedClients::take(Clients::iterator client, const Attach& message, const Access& access) {
    wait_for_state(client);
    auto refused = why_refused(access);
    if (!refused.empty()) {
        waiting_.erase(client->first);
        notice_of(client).refused = std::move(refused);
        return;
    }
    auto& owner = by_nonce_[message.nonce];
    if (const auto former = clients_.find(owner); former != clients_.end() && former != client) {
        wait_for_state(former);
        waiting_.erase(owner);
        former->second.nonce = 0;
    }
    if (client->second.nonce != message.nonce) by_nonce_.erase(client->second.nonce);
    by_nonce_[message.nonce] = client->first;
    client->second.nonce = message.nonce;
    client->second.position = message.position;
}

// The leader trusts members in this, so it is checked here (docs/decisions/0009). What a client
// asks for before it has the state of its session, or for a session that has just ended, is
// dropped.
void AttachedClients::take(Clients::iterator client, const Forward& message, const Access& access) {
    const auto& its = client->second;
    auto decoded = decode(message, options_.command_format);
    if (decoded.is_malformed || !std::ranges::all_of(decoded.commands, is_clients)) {
        unfit_.push_back(client->first);
        return;
    }
    const bool is_its_own = (!decoded.renewal || decoded.renewal->session == its.session) &&
                            std::ranges::all_of(decoded.commands, [&](const Command& command) {
                                return is_about(command, its.nonce, its.session);
                            });
    if (!its.is_served || !is_its_own) return;
    set_access(decoded, NodeId{}, access);
    forwards_.push_back({decoded.batch, message.renewal});
}

void AttachedClients::take(Clients::iterator client, const WatchHold& message,
                           const Access& /*access*/) {
    auto& its = client->second;
    const auto* session = its.session.is_set() ? machine_.sessions().find(its.session) : nullptr;
    const auto* operation = session != nullptr ? session->operations.find(message.hold) : nullptr;
    const bool is_known = std::ranges::find(its.watched, message.hold) != its.watched.end();
    if (operation == nullptr || !operation->held() || is_known || its.watched.size() >= watched_max)
        return;
    Names names;
    for (const auto& record : operation->names())
        names.push_back(std::string{record->name()});
    its.watched.push_back(message.hold);
    contentions_.watch({its.session, message.hold}, names);
}

void AttachedClients::take(Clients::iterator client, const Ping& /*message*/,
                           const Access& /*access*/) {
    (void)notice_of(client);
}

// --- what is reported to them -------------------------------------------------------------------

ClientNotice& AttachedClients::notice_of(Clients::iterator client) {
    told_.insert(client->first);
    auto& next = client->second.next;
    if (!next) next = std::make_unique<ClientNotice>();
    return *next;
}

ClientNotice* AttachedClients::notice_of(SessionId session) {
    const auto found = by_session_.find(session);
    return found == by_session_.end() ? nullptr : &notice_of(clients_.find(found->second));
}

template <class AnyOutcome>
void AttachedClients::report(SessionId session, const AnyOutcome& outcome, LogIndex at) {
    if (auto* notice = notice_of(session)) notice->outcomes.push_back({at, outcome});
}

template <class AnyOutcome>
void AttachedClients::report_by_nonce(std::uint64_t nonce, const AnyOutcome& outcome, LogIndex at) {
    const auto found = by_nonce_.find(nonce);
    if (found == by_nonce_.end()) return;
    const auto client = clients_.find(found->second);
    if (client->second.is_served) notice_of(client).outcomes.push_back({at, outcome});
}

void AttachedClients::on_outcome(const Outcome& outcome, LogIndex index) {
    if (clients_.empty()) return;
    std::visit(
        Overloaded{[&](const Answered& one) {
                       report(one.operation.session, one, index);
                       if (one.answer.kind != AnswerKind::converted) return;
                       const auto found = by_session_.find(one.operation.session);
                       if (found == by_session_.end()) return;
                       // One of its holds has another mode.
                       for (const auto hold : clients_.at(found->second).watched)
                           contentions_.converted({one.operation.session, hold});
                   },
                   [&](const Queued& one) { report(one.operation.session, one, index); },
                   [&](const SessionOpened& one) { on_opened(one, index); },
                   [&](const OpenRefused& one) { report_by_nonce(one.nonce, one, index); },
                   [&](const SessionRenewed& one) { report(one.session, one, index); },
                   [&](const RenewalLost& one) {
                       report(one.session, one, index);
                       on_ended(one.session);
                   },
                   [&](const SessionEnded& one) {
                       report(one.session, one, index);
                       on_ended(one.session);
                   },
                   [&](const LockBroken& one) { on_broken(one, index); },
                   [&](const ClosureBegun& one) {
                       if (one.kind == Closure::Kind::max_hold)
                           report(one.hold.session, one, index);
                   },
                   [&](const ReleaseAsked& one) { on_asked(one); }, [](const ClosureEnded&) {}},
        outcome);
}

void AttachedClients::on_opened(const SessionOpened& opened, LogIndex at) {
    const auto found = by_nonce_.find(opened.nonce);
    if (found == by_nonce_.end()) return;
    const auto client = clients_.find(found->second);
    if (!client->second.is_served) return;
    client->second.session = opened.session;
    by_session_[opened.session] = client->first;
    notice_of(client).outcomes.push_back({at, opened});
}

void AttachedClients::on_ended(SessionId session) {
    const auto found = by_session_.find(session);
    if (found == by_session_.end()) return;
    auto& client = clients_.at(found->second);
    unwatch_all(client);
    client.session = {};
    by_session_.erase(found);
}

void AttachedClients::on_broken(const LockBroken& broken, LogIndex at) {
    std::map<SessionId, LockBroken> theirs;
    for (const auto hold : broken.holds) {
        if (has(hold.session)) theirs[hold.session].holds.push_back(hold);
    }
    for (const auto& [session, holds] : theirs)
        report(session, holds, at);
}

void AttachedClients::on_asked(const ReleaseAsked& asked) {
    for (const auto hold : asked.holds) {
        auto* notice = notice_of(hold.session);
        if (notice == nullptr) continue;
        Contended told{hold, LockMode::exclusive, 0, asked.reason};
        for (const auto& [_, found] : machine_.views().contentions(asked.name, {hold}))
            told.waiters = found.waiters;
        notice->asked.push_back(std::move(told));
    }
}

void AttachedClients::on_gap(const StreamGap& gap) {
    if (auto* notice = notice_of(gap.session)) notice->gap = gap.next;
}

void AttachedClients::on_leader(bool known) {
    has_leader_ = known;
    for (auto client = clients_.begin(); client != clients_.end(); ++client) {
        if (client->second.is_served) notice_of(client).has_leader = known;
    }
}

void AttachedClients::on_state_replaced() {
    for (auto client = clients_.begin(); client != clients_.end(); ++client) {
        if (client->second.nonce != 0) wait_for_state(client);
    }
}

void AttachedClients::take_theirs(std::vector<Contended>& contended) {
    if (clients_.empty()) return;
    std::erase_if(contended, [&](Contended& one) {
        auto* notice = notice_of(one.hold.session);
        if (notice == nullptr) return false;
        // What others ask for is reported by on_asked() already.
        const bool is_asked = std::ranges::any_of(notice->asked, [&](const Contended& asked) {
            return asked.hold == one.hold && asked.reason == one.reason;
        });
        if (!is_asked) notice->contended.push_back(std::move(one));
        return true;
    });
}

// --- the state of a session ---------------------------------------------------------------------

// What was to be reported is part of the state.
void AttachedClients::wait_for_state(Clients::iterator client) {
    auto& its = client->second;
    unwatch_all(its);
    by_session_.erase(its.session);
    its.session = {};
    its.is_served = false;
    its.next.reset();
    waiting_.insert(client->first);
}

void AttachedClients::serve(Clients::iterator client, LogIndex applied) {
    auto& its = client->second;
    auto state = state_of(its);
    its.is_served = true;
    its.session = state.session;
    if (its.session.is_set()) by_session_[its.session] = client->first;
    auto& notice = notice_of(client);
    notice = {};
    notice.applied = applied;
    notice.state = std::move(state);
    notice.has_leader = has_leader_;
}

SessionState AttachedClients::state_of(const Client& client) const {
    const auto* session = machine_.sessions().find_by_nonce(client.nonce);
    // The sessions of members are opened with nonces as well, which only they know.
    SessionState state{client.nonce};
    if (session == nullptr || session->opened.node.is_set()) return state;
    state.session = session->id;
    state.row = encode_session(*session);
    for (const auto& [seq, operation] : session->operations) {
        if (!operation.held()) state.waiting.push_back(seq);
    }
    return state;
}

AttachedClients::Notices AttachedClients::collect(LogIndex applied) {
    Notices told;
    told.unfit = std::exchange(unfit_, {});
    std::erase_if(waiting_, [&](ClientId id) {
        const auto client = clients_.find(id);
        const bool is_ready = client->second.nonce != 0 && client->second.position <= applied;
        if (is_ready) serve(client, applied);
        return is_ready;
    });
    for (const auto id : std::exchange(told_, {})) {
        const auto found = clients_.find(id);
        if (found == clients_.end() || !found->second.next) continue;
        auto& client = found->second;
        unwatch_ended(client);
        if (client.is_served) client.next->applied = applied;
        told.notices.emplace_back(id, std::move(*client.next));
        client.next.reset();
    }
    return told;
}

// --- watched holds ------------------------------------------------------------------------------

void AttachedClients::unwatch_all(Client& client) {
    for (const auto hold : std::exchange(client.watched, {}))
        contentions_.forget({client.session, hold});
}

void AttachedClients::unwatch_ended(Client& client) {
    if (client.watched.empty()) return;
    const auto* session = machine_.sessions().find(client.session);
    std::erase_if(client.watched, [&](Seq hold) {
        const bool is_held = session != nullptr && session->operations.holds(hold);
        if (!is_held) contentions_.forget({client.session, hold});
        return !is_held;
    });
}

}  // namespace mortise::core
