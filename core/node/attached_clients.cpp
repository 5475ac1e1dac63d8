#include "core/node/attached_clients.hpp"

#include <algorithm>
#include <chrono>

#include "core/base/overloaded.hpp"
#include "core/locks/rows/session_row.hpp"
#include "core/node/decoded_forward.hpp"

namespace mortise::core {

namespace {

// The states that one step tells may cost so much, since encoding them takes the core thread's time
// (P10). The first one may cost more.
constexpr std::size_t states_cost_max = std::size_t{256} << 10U;
constexpr std::size_t state_cost_min = std::size_t{1} << 10U;

// Only a client that may acquire something needs a session.
bool may_have_session(const Access& access) {
    return access.has(AccessRole::client) || access.has(AccessRole::voter) ||
           access.has(AccessRole::learner);
}

// For how long what it says may wait for an answer. It renews its session in the same way, and
// goes to another member if this one is silent for two election timeouts or a third of the TTL.
Nanoseconds pause_of(const NodeOptions& options, const Session* session) {
    const auto most = options.election_timeout / 2;
    if (session == nullptr) return most;
    return std::min(most, Nanoseconds{std::chrono::milliseconds{session->opened.ttl_ms}} / 8);
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

void AttachedClients::said(const ClientSaid& said, Instant now) {
    const auto found = clients_.try_emplace(said.client).first;
    places_.heard(said.client, now);
    for (const auto& message : said.messages) {
        if (found->second.is_closing) return;
        std::visit(
            [&](const auto& one) {
                take(found, one, {said.access, said.certificate, said.address, now});
            },
            message);
    }
}

void AttachedClients::close(Clients::iterator client, std::vector<ClientId>& why) {
    client->second.is_closing = true;
    why.push_back(client->first);
}

void AttachedClients::gone(ClientId client) {
    const auto found = clients_.find(client);
    if (found == clients_.end()) return;
    wait_for_state(found);
    waiting_.erase(client);
    told_.erase(client);
    flow_.forget(client);
    places_.free(found->first);
    forget_nonce(found->second);
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

// A client names another session only after this member has told it that the former session has
// ended. Without this rule a client could make the member encode the state of a large session again
// and again, or open sessions without end.
void AttachedClients::take(Clients::iterator client, const Attach& message, const Way& way) {
    const bool has_session = client->second.session.is_set() || client->second.is_opening;
    if (has_session) return close(client, unfit_);
    if (client->second.is_refused) return;  // looking for a place again and again takes time (P10)
    if (auto refused = why_refused(way.access); !refused.empty())
        return refuse(client, std::move(refused));
    forget_nonce(client->second);
    if (const auto owner = by_nonce_.find(message.nonce); owner != by_nonce_.end())
        take_over(owner->second);
    if (auto full = why_no_place(client->first, message.nonce, way); !full.empty())
        return refuse(client, std::move(full));
    wait_for_state(client);
    by_nonce_[message.nonce] = client->first;
    client->second.nonce = message.nonce;
    client->second.position = message.position;
}

void AttachedClients::take_over(ClientId from) {
    const auto former = clients_.find(from);
    wait_for_state(former);
    waiting_.erase(from);
    forget_nonce(former->second);
    places_.free(from);
    close(former, replaced_);
}

// The connection stays, so that the client can hear why, and is one of those without a place.
void AttachedClients::refuse(Clients::iterator client, std::string why) {
    wait_for_state(client);
    waiting_.erase(client->first);
    forget_nonce(client->second);
    places_.free(client->first);
    client->second.is_refused = true;
    notice_of(client).refused = std::move(why);
}

std::string AttachedClients::why_no_place(ClientId client, std::uint64_t nonce, const Way& way) {
    const auto given =
        places_.give({client, way.certificate, stake_in(nonce)}, way.now,
                     [this](ClientId guest) { return stake_in(clients_.at(guest).nonce); });
    if (!given) return given.error().what;
    if (given->displaced.is_set()) {
        refuse(clients_.find(given->displaced),
               "another client needed its place: this one had no session there, had nothing to "
               "lose, or was silent (limits.clients)");
    }
    return {};
}

// The sessions of members are opened with nonces as well, which only they know.
ClientStake AttachedClients::stake_in(std::uint64_t nonce) const {
    const auto* session = machine_.sessions().find_by_nonce(nonce);
    if (session == nullptr || session->opened.node.is_set()) return ClientStake::nothing;
    return session->operations.size() == 0 ? ClientStake::session : ClientStake::requests;
}

void AttachedClients::forget_nonce(Client& client) {
    by_nonce_.erase(std::exchange(client.nonce, 0));
    client.is_opening = false;
}

// The leader trusts members in this, so it is checked here (docs/decisions/0009). What a client
// asks for before it has the state of its session, or for a session that has just ended, is
// dropped.
void AttachedClients::take(Clients::iterator client, const Forward& message, const Way& way) {
    auto& its = client->second;
    auto decoded = decode(message, options_.command_format);
    if (decoded.is_malformed || !std::ranges::all_of(decoded.commands, is_clients))
        return close(client, unfit_);
    const bool is_its_own = (!decoded.renewal || decoded.renewal->session == its.session) &&
                            std::ranges::all_of(decoded.commands, [&](const Command& command) {
                                return is_about(command, its.nonce, its.session);
                            });
    if (!its.is_served || its.nonce == 0 || !is_its_own) return;
    note_received(its, decoded);
    // The renewal is passed on even if the requests are not, as the leader does.
    if (has_too_many(its, decoded)) {
        flow_.dropped(client->first, pause_of(options_, session_of(its)));
        if (message.renewal) forwards_.push_back({{}, message.renewal});
        return;
    }
    its.is_opening =
        its.is_opening || std::ranges::any_of(decoded.commands, [](const Command& command) {
            return std::holds_alternative<OpenSession>(command);
        });
    its.watched.note(decoded.commands);
    set_access(decoded, NodeId{}, way.access);
    if (const auto* session = decoded.session.is_set() ? session_of(its) : nullptr)
        flow_.asked(client->first, session->applied, decoded.last, pause_of(options_, session));
    if (options_.knows_origins()) set_address(decoded, way.address);
    forwards_.push_back({decoded.batch, message.renewal});
}

const Session* AttachedClients::session_of(const Client& client) const {
    return client.session.is_set() ? machine_.sessions().find(client.session) : nullptr;
}

// Nobody has received what this member has not applied.
void AttachedClients::note_received(Client& client, const DecodedForward& decoded) {
    const auto* session = session_of(client);
    if (session == nullptr) return;
    for (const auto& command : decoded.commands) {
        if (const auto* one = std::get_if<Acknowledge>(&command)) {
            client.received =
                std::max(client.received, std::min(one->received, session->answers.newest()));
        }
    }
}

// What this member has applied is as far as what the client was told, or further. A client
// acknowledges what it was told with its next message; it takes a moment until that is applied.
bool AttachedClients::has_too_many(const Client& client, const DecodedForward& decoded) const {
    if (!decoded.session.is_set()) return false;
    const auto* session = session_of(client);
    if (session == nullptr || decoded.last.raw() > session->applied.raw() + client_requests_max)
        return true;
    const bool are_many = session->answers.size() >= 2 * client_requests_max;
    return are_many && client.received < session->answers.oldest();
}

void AttachedClients::take(Clients::iterator client, const WatchHold& message, const Way& /*way*/) {
    const auto* session = session_of(client->second);
    if (session != nullptr) client->second.watched.add(*session, message.hold, contentions_);
}

void AttachedClients::take(Clients::iterator client, const Ping& /*message*/, const Way& /*way*/) {
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

void AttachedClients::on_outcome(const Outcome& outcome, LogIndex index) {
    if (clients_.empty()) return;
    std::visit(
        Overloaded{[&](const Answered& one) {
                       report(one.operation.session, one, index);
                       on_answered(one);
                   },
                   [&](const Queued& one) {
                       report(one.operation.session, one, index);
                       on_queued(one.operation);
                   },
                   [&](const SessionOpened& one) { on_opened(one, index); },
                   [&](const OpenRefused& one) { on_refused(one, index); },
                   [&](const SessionRenewed& one) {
                       report(one.session, one, index);
                       on_renewed(one.session);
                   },
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
                   [&](const ReleaseAsked& one) { on_asked(one); }, [](const ClosureEnded&) {},
                   [&](const SessionEvicted& one) { on_evicted(one.session, index); }},
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

void AttachedClients::on_refused(const OpenRefused& refused, LogIndex at) {
    const auto found = by_nonce_.find(refused.nonce);
    if (found == by_nonce_.end()) return;
    const auto client = clients_.find(found->second);
    if (!client->second.is_served) return;
    notice_of(client).outcomes.push_back({at, refused});
    forget_nonce(client->second);
}

void AttachedClients::on_ended(SessionId session) {
    const auto found = by_session_.find(session);
    if (found == by_session_.end()) return;
    auto& client = clients_.at(found->second);
    flow_.forget(found->second);
    client.watched.forget_all(client.session, contentions_);
    client.session = {};
    forget_nonce(client);
    by_session_.erase(found);
}

void AttachedClients::on_queued(OperationId request) {
    const auto found = by_session_.find(request.session);
    if (found != by_session_.end()) flow_.applied(found->second, request.seq);
}

void AttachedClients::on_broken(const LockBroken& broken, LogIndex at) {
    std::map<SessionId, LockBroken> theirs;
    for (const auto hold : broken.holds) {
        if (has(hold.session)) theirs[hold.session].holds.push_back(hold);
    }
    for (const auto& [session, holds] : theirs)
        report(session, holds, at);
}

// It is told as the last renewal that has an answer. Clients of earlier versions lose their holds
// by it as well, because such an answer lists what is lost (S24); they use their session to its
// end.
void AttachedClients::on_evicted(SessionId session, LogIndex at) {
    if (!has(session)) return;
    SessionRenewed last{session, last_renewal, {}};
    if (const auto* its = machine_.sessions().find(session)) {
        for (const auto& [seq, operation] : its->operations) {
            if (operation.held()) last.broken.push_back(seq);
        }
    }
    report(session, last, at);
}

void AttachedClients::on_asked(const ReleaseAsked& asked) {
    // Once for all: a name may have thousands of holders.
    std::set<OperationId> theirs;
    for (const auto hold : asked.holds) {
        if (has(hold.session)) theirs.insert(hold);
    }
    if (theirs.empty()) return;
    std::map<OperationId, std::size_t> waiters;
    for (const auto& [hold, found] : machine_.views().contentions(asked.name, theirs))
        waiters[hold] = found.waiters;
    for (const auto hold : theirs)
        notice_of(hold.session)
            ->asked.push_back({hold, LockMode::exclusive, waiters[hold], asked.reason});
}

void AttachedClients::on_gap(const StreamGap& gap) {
    if (auto* notice = notice_of(gap.session)) notice->gap = gap.next;
}

void AttachedClients::on_leader(bool known) {
    has_leader_ = known;
    flow_.forget_all();
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
    if (clients_.empty() || contended.empty()) return;
    // What others ask for is reported by on_asked() already.
    std::set<std::pair<OperationId, std::string>> asked;
    for (const auto id : told_) {
        const auto client = clients_.find(id);
        if (client == clients_.end() || !client->second.next) continue;
        for (const auto& one : client->second.next->asked)
            asked.emplace(one.hold, one.reason);
    }
    std::erase_if(contended, [&](Contended& one) {
        auto* notice = notice_of(one.hold.session);
        if (notice == nullptr) return false;
        if (!asked.contains({one.hold, one.reason})) notice->contended.push_back(std::move(one));
        return true;
    });
}

// --- the state of a session ---------------------------------------------------------------------

// What was to be reported is part of the state.
void AttachedClients::wait_for_state(Clients::iterator client) {
    auto& its = client->second;
    flow_.forget(client->first);
    its.watched.forget_all(its.session, contentions_);
    by_session_.erase(its.session);
    its.session = {};
    its.received = {};
    its.is_served = false;
    its.next.reset();
    waiting_.insert(client->first);
}

void AttachedClients::tell_states(ClientPosition applied) {
    has_more_ = false;
    std::size_t cost = 0;
    for (auto next = waiting_.begin(); next != waiting_.end();) {
        const auto client = clients_.find(*next);
        const bool is_ready = client->second.nonce != 0 && client->second.position <= applied;
        if (!is_ready) {
            ++next;
            continue;
        }
        if (cost >= states_cost_max) {
            has_more_ = true;
            return;
        }
        cost += serve(client, applied);
        next = waiting_.erase(next);
    }
}

std::size_t AttachedClients::serve(Clients::iterator client, ClientPosition applied) {
    auto& its = client->second;
    auto state = state_of(its);
    const auto* session = machine_.sessions().find(state.session);
    const auto operations = session == nullptr ? 0 : session->operations.size();
    const auto cost = state_cost_min + state.row.size() + operations * sizeof(Seq);
    its.is_opening = false;
    its.is_served = true;
    its.session = state.session;
    if (its.session.is_set()) by_session_[its.session] = client->first;
    if (session != nullptr) watch_cached(its, *session);
    auto& notice = notice_of(client);
    notice = {};
    notice.applied = applied;
    notice.state = std::move(state);
    notice.has_leader = has_leader_;
    return cost;
}

// Those that the client has not received yet. It gives back what it had cached before (S40).
void AttachedClients::watch_cached(Client& client, const Session& session) {
    if (!options_.tells_recalls()) return;
    session.answers.each([&](LogIndex, Seq seq, const Answer& answer) {
        if (answer.cached_tokens != 0) client.watched.add_cached(session, seq, contentions_);
    });
}

SessionState AttachedClients::state_of(const Client& client) const {
    const auto* session = machine_.sessions().find_by_nonce(client.nonce);
    // The sessions of members are opened with nonces as well, which only they know.
    SessionState state{client.nonce};
    if (session == nullptr || session->opened.node.is_set()) return state;
    state.session = session->id;
    state.row = encode_session_for_client(*session);
    for (const auto& [seq, operation] : session->operations) {
        if (!operation.held()) state.waiting.push_back(seq);
    }
    return state;
}

AttachedClients::Notices AttachedClients::collect(ClientPosition applied) {
    Notices told;
    told.unfit = std::exchange(unfit_, {});
    told.replaced = std::exchange(replaced_, {});
    told.flow = flow_.take_changes();
    for (const auto id : std::exchange(told_, {})) {
        const auto found = clients_.find(id);
        if (found == clients_.end() || !found->second.next) continue;
        auto& client = found->second;
        if (client.is_served) client.next->applied = applied;
        told.notices.emplace_back(id, std::move(*client.next));
        client.next.reset();
    }
    return told;
}

// --- watched holds ------------------------------------------------------------------------------

void AttachedClients::on_answered(const Answered& answered) {
    const auto found = by_session_.find(answered.operation.session);
    if (found == by_session_.end()) return;
    flow_.applied(found->second, answered.operation.seq);
    auto& client = clients_.at(found->second);
    const auto* session = session_of(client);
    client.watched.answered(answered, session, contentions_);
    const bool is_cached = answered.answer.cached_tokens != 0 && options_.tells_recalls();
    if (is_cached && session != nullptr)
        client.watched.add_cached(*session, answered.operation.seq, contentions_);
}

void AttachedClients::on_renewed(SessionId session) {
    const auto found = by_session_.find(session);
    if (found == by_session_.end()) return;
    auto& client = clients_.at(found->second);
    if (const auto* its = session_of(client)) client.watched.sweep(*its, contentions_);
}

}  // namespace mortise::core
