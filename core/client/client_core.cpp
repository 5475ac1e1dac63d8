#include "core/client/client_core.hpp"

#include <algorithm>
#include <iterator>

#include "core/agent/call_denial.hpp"
#include "core/base/overloaded.hpp"
#include "core/locks/rows/session_row.hpp"

namespace mortise::core {

namespace {

// A message of a client has to fit into client_message_bytes_max.
constexpr std::size_t client_batch_bytes = std::size_t{16} << 10U;

AgentOptions agent_options(const ClientOptions& options) {
    AgentOptions agent;
    agent.ttl_ms = options.session_ttl_ms;
    agent.rho_ppm = options.clock_rate_bound_ppm;
    agent.call_timeout = options.call_timeout;
    agent.resend_after = options.election_timeout;
    agent.recall_timeout = options.election_timeout;
    agent.access = options.access;
    agent.window = options.window;
    agent.origin = options.origin;
    agent.batch_bytes = client_batch_bytes;
    return agent;
}

// The part of a session that its agent reads. Empty if the row is malformed.
std::optional<Session> session_of(const SessionState& state) {
    auto session = decode_session(state.session, state.row);
    if (!session || session->opened.nonce != state.nonce) return std::nullopt;
    for (const auto seq : state.waiting) {
        const bool is_new = session->operations.find(seq) == nullptr;
        if (!is_new || seq > session->applied) return std::nullopt;
        Operation::More waits;
        session->operations.add(seq, Operation{{}, waits});
    }
    return session;
}

}  // namespace

ClientCore::ClientCore(ClientOptions options, Now now)
    : options_{std::move(options)},
      prng_{options_.seed},
      agent_{agent_options(options_), Prng{prng_.next()}, now},
      choice_{options_.members, Prng{prng_.next()}},
      balance_{options_.members, options_.election_timeout, Prng{prng_.next()}},
      heard_at_{now.steady},
      pinged_at_{now.steady},
      attaching_since_{now.steady} {}

ClientEffects ClientCore::step(ClientEvent event, Now now) {
    // A lease that ran out is noticed before an event or an outcome finds its holds.
    agent_.begin(now);
    std::visit([&](auto& one) { on(one, now); }, event);
    // The session has ended, and another one is to be opened.
    const bool is_other = stage_ == Stage::served && agent_.session_nonce() != nonce_;
    if (is_other && !agent_.is_closed()) attach(now);
    if (const auto why = why_leave(now); !why.empty()) leave(now, why);
    ping_if_silent(now);
    look_around(now);
    collect(now);
    if (stage_ == Stage::apart && !agent_.is_closed()) {
        if (const auto member = choice_.take_due(now.steady)) {
            stage_ = Stage::dialling;
            newest_connection_ = newest_connection_.next();
            connection_ = newest_connection_;
            effects_.dial = {connection_, *member,
                             agent_.has_valid_lease(now) ? cluster_ : ClusterId{}};
        }
    }
    effects_.deadline = deadline();
    return std::exchange(effects_, {});
}

Instant ClientCore::deadline() const {
    return std::min(agent_.deadline(), member_deadline());
}

// --- events -------------------------------------------------------------------------------------

void ClientCore::on(ClientTimer /*event*/, Now now) {
    agent_.on_timer(now);
}

void ClientCore::on(ClientCalls& event, Now now) {
    for (auto& call : event.calls)
        take(call, now);
}

void ClientCore::on(const MemberUp& event, Now now) {
    if (event.connection != connection_ || stage_ != Stage::dialling) return;
    heard_at_ = now.steady;
    member_cluster_ = event.cluster;
    member_format_ = event.command_format;
    if (reads_open_ != 0) unread_since_ = now.steady;  // they are asked of this member now
    attach(now);
}

void ClientCore::on(const MemberDown& event, Now now) {
    if (event.connection != connection_) return;
    leave(now, {});
    effects_.hang_up = {};  // there is nothing to hang up
}

void ClientCore::on(MemberSaid& event, Now now) {
    if (event.connection != connection_ || stage_ == Stage::dialling) return;
    heard_at_ = now.steady;
    unheard_since_ = Instant::never();
    take(event.notice, now);
}

void ClientCore::on(ReadsOpen event, Now now) {
    reads_open_ = event.count;
    if (event.heard || reads_open_ == 0) unread_since_ = Instant::never();
    const bool is_connected = stage_ == Stage::attaching || stage_ == Stage::served;
    if (is_connected && reads_open_ != 0) unread_since_ = std::min(unread_since_, now.steady);
}

void ClientCore::on(const MembersCompared& event, Now now) {
    if (event.connection != connection_ || stage_ != Stage::served) return;
    if (!balance_.is_better(event.own, event.other, now.steady)) return;
    // There is something to lose by now; it is not long until the next look.
    if (!may_move()) return balance_.settled(now.steady);
    part(now, "another member serves fewer clients");
    choice_.go_to(event.member, now.steady);
}

// --- calls --------------------------------------------------------------------------------------

void ClientCore::take(Call& call, Now now) {
    if (auto refused = denial_of(call, options_.access, "this client")) {
        effects_.answers.push_back({tag_of(call), std::move(*refused)});
        return;
    }
    std::visit(Overloaded{[&](DowngradeCall& one) { agent_.on_downgrade(one, now); },
                          [&](UpgradeCall& one) { agent_.on_upgrade(one, now); },
                          [&](WriteCall& one) { agent_.on_write(std::move(one), now); },
                          [&](ConfirmCall& one) { agent_.on_confirm(one, now); },
                          [&](AwaitCall& one) { agent_.on_await(std::move(one), now); },
                          [&](ToldCall& one) { agent_.on_notified(one.hold); },
                          [&](CancelCall& one) { agent_.on_cancel(one, now); },
                          [&](CloseCall& one) { agent_.on_close(one, now); },
                          [&](auto& one) { on_call(one, now); }},
               call);
}

// A member that reports no recalls gets no request for a cached grant.
void ClientCore::on_call(AcquireCall& call, Now now) {
    if (!hears_recalls()) call.request.cached_tokens = 0;
    agent_.on_acquire(std::move(call), now);
}

void ClientCore::on_call(const WatchCall& call, Now now) {
    if (!agent_.has(call.hold)) return;
    watched_.insert(call.hold);
    if (stage_ == Stage::served) tell(WatchHold{call.hold.seq}, now);
    const auto early = asked_early_.extract(call.hold);
    if (!early.empty()) effects_.contended.push_back(early.mapped());
}

// It is an ordinary grant from now on.
void ClientCore::on_call(PublishCall& call, Now /*now*/) {
    cached_.erase(call.hold);
    agent_.on_publish(std::move(call));
}

void ClientCore::on_call(const ReleaseCall& call, Now now) {
    forget_hold(call.hold);
    agent_.on_release(call, now);
}

void ClientCore::on_call(InspectCall& call, Now /*now*/) {
    effects_.reads.push_back(std::move(call));
}

void ClientCore::on_call(const ChangeCall& call, Now /*now*/) {
    effects_.answers.push_back(
        {call.tag,
         Denied{"a client node does not change the members of the cluster: use mortise::Remote, "
                "or the command mortise members"}});
}

void ClientCore::forget_hold(OperationId hold) {
    watched_.erase(hold);
    cached_.erase(hold);
    asked_early_.erase(hold);
}

// --- notices ------------------------------------------------------------------------------------

// Until the state of the present session has come, notices are about a former one.
void ClientCore::take(ClientNotice& notice, Now now) {
    if (!notice.refused.empty()) {
        refused_ = std::move(notice.refused);
        return leave(now, refused_);
    }
    if (!notice.applied.is_set()) return;
    const bool is_state = notice.state && notice.state->nonce == nonce_;
    if (stage_ == Stage::attaching && !is_state) return;
    // It is not known which one: its hello came earlier.
    if (!member_cluster_.is_set()) return leave(now, "it has joined a cluster meanwhile");
    if (is_elsewhere()) {
        return notice.has_leader.value_or(false)
                   ? begin_anew(now)
                   : leave(now, "it belongs to another cluster, and knows no leader");
    }
    // A member that is behind what this client has seen would contradict it.
    if (notice.applied < position_) return leave(now, "it is behind another member");
    if (is_state && !take_state(*notice.state, now))
        return leave(now, "it sent a session that is not valid");
    for (auto& [at, outcome] : notice.outcomes) {
        // Something that this client asked for was applied: its messages get through.
        unanswered_since_ = Instant::never();
        choice_.served();
        agent_.on_outcome(outcome, at, now);
    }
    if (notice.applied > position_) agent_.on_progress(now);
    position_ = notice.applied;
    if (notice.has_leader) {
        has_leader_ = *notice.has_leader;
        leaderless_since_ =
            has_leader_ ? Instant::never() : std::min(leaderless_since_, now.steady);
        agent_.on_leader(has_leader_, now);
    }
    const auto session = agent_.open_session();
    if (notice.gap.is_set() && session) agent_.on_gap(*session, notice.gap);
    for (const auto& one : notice.contended) {
        if (agent_.has(one.hold)) effects_.contended.push_back(one);
    }
    for (const auto& one : notice.asked)
        take_asked(one);
}

bool ClientCore::take_state(const SessionState& state, Now now) {
    SessionTable sessions;
    if (state.session.is_set()) {
        auto session = session_of(state);
        if (!session) return false;
        // The outcome of the opening may have been on its way by another member.
        if (!agent_.open_session())
            agent_.on_outcome(SessionOpened{state.session, state.nonce}, {}, now);
        (void)sessions.restore(std::move(*session));
    }
    recall_cached();
    if (stage_ != Stage::served) balance_.settled(now.steady);
    stage_ = Stage::served;
    cluster_ = member_cluster_;
    refused_.clear();
    unanswered_since_ = Instant::never();
    agent_.on_state_replaced(sessions, now);
    for (const auto hold : watched_)
        tell(WatchHold{hold.seq}, now);
    return true;
}

void ClientCore::take_asked(const Contended& asked) {
    if (!agent_.has(asked.hold)) return;
    if (watched_.contains(asked.hold) || cached_.contains(asked.hold)) {
        effects_.contended.push_back(asked);
    } else {
        asked_early_.insert_or_assign(asked.hold, asked);
    }
}

// --- the member ---------------------------------------------------------------------------------

void ClientCore::attach(Now now) {
    stage_ = Stage::attaching;
    attaching_since_ = now.steady;
    nonce_ = agent_.session_nonce();
    agent_.on_leader(false, now);
    has_leader_ = false;
    tell(Attach{nonce_, is_elsewhere() ? ClientPosition{} : position_}, now);
}

// The member is of another cluster than the session.
bool ClientCore::is_elsewhere() const {
    return cluster_.is_set() && member_cluster_ != cluster_;
}

// The other cluster may know the session, if it was recovered from a member of the first, but less
// of it than this client does. So the session ends here, and there when its TTL is over.
void ClientCore::begin_anew(Now now) {
    cluster_ = member_cluster_;
    position_ = {};
    agent_.on_state_replaced(SessionTable{}, now);
    // This connection has shown the former session, and has only one.
    leave(now, "it belongs to another cluster");
}

void ClientCore::leave(Now now, std::string_view why) {
    part(now, why);
    choice_.failed(now.steady);
}

void ClientCore::part(Now now, std::string_view why) {
    effects_.hang_up = connection_;
    effects_.left_because = why;
    effects_.send.clear();
    stage_ = Stage::apart;
    connection_ = {};
    has_leader_ = false;
    unheard_since_ = Instant::never();
    unanswered_since_ = Instant::never();
    unread_since_ = Instant::never();
    leaderless_since_ = Instant::never();
    agent_.on_leader(false, now);
    balance_.left();
}

// It takes a moment, in which nobody waits for an answer. The session and the holds stay (S49).
bool ClientCore::may_move() const {
    return is_served() && agent_.open_session() && agent_.outstanding() == 0 && reads_open_ == 0;
}

void ClientCore::look_around(Now now) {
    if (now.steady >= balance_.due() && may_move())
        effects_.look = balance_.take_due(choice_.place());
}

// A third of the TTL after a renewal the next one is due. If that has no answer after another
// third, there is still one in which another member can pass it on.
Nanoseconds ClientCore::patience(int election_timeouts) const {
    const Nanoseconds ttl = std::chrono::milliseconds{options_.session_ttl_ms};
    return std::min(election_timeouts * options_.election_timeout, ttl / 3);
}

// Another member may do better. Empty: it stays with this one.
std::string_view ClientCore::why_leave(Now now) const {
    if (stage_ == Stage::apart || stage_ == Stage::dialling) return {};
    const auto is_over = [&](Instant since, int times) {
        return since != Instant::never() && now.steady >= since + patience(times);
    };
    if (is_over(unheard_since_, 2)) return "it does not answer";
    if (is_over(leaderless_since_, 2)) return "it knows no leader";
    if (is_over(unanswered_since_, 4)) return "it does not get through to a leader";
    if (is_over(unread_since_, 4)) return "it does not answer what is read";
    if (stage_ == Stage::attaching && is_over(attaching_since_, 3))
        return "it has not caught up with the other members";
    return {};
}

// When the member has heard nothing for so long that it may take this client for dead.
Instant ClientCore::overdue_at() const {
    const bool is_connected = stage_ == Stage::attaching || stage_ == Stage::served;
    return is_connected ? told_at_ + client_silence_usual : Instant::never();
}

// When it is to be asked for a sign of life: something is expected of it, and it is silent.
Instant ClientCore::silent_at() const {
    const bool expects =
        unheard_since_ != Instant::never() || agent_.outstanding() != 0 || reads_open_ != 0;
    if (!expects || stage_ == Stage::apart || stage_ == Stage::dialling) return Instant::never();
    return std::max(heard_at_, pinged_at_) + options_.election_timeout;
}

void ClientCore::ping_if_silent(Now now) {
    if (now.steady < std::min(silent_at(), overdue_at())) return;
    pinged_at_ = now.steady;
    tell(Ping{}, now);
}

Instant ClientCore::member_deadline() const {
    if (stage_ == Stage::apart) return agent_.is_closed() ? Instant::never() : choice_.due();
    if (stage_ == Stage::dialling) return Instant::never();
    auto next = std::min({silent_at(), overdue_at(), unheard_since_ + patience(2),
                          leaderless_since_ + patience(2), unanswered_since_ + patience(4),
                          unread_since_ + patience(4)});
    if (stage_ == Stage::attaching) next = std::min(next, attaching_since_ + patience(3));
    // Otherwise what ends the wait is a step of its own.
    if (may_move()) next = std::min(next, balance_.due());
    return next;
}

void ClientCore::tell(ClientMessage message, Now now) {
    if (unheard_since_ == Instant::never()) unheard_since_ = now.steady;
    told_at_ = now.steady;
    effects_.send.push_back(std::move(message));
}

// --- what goes out ------------------------------------------------------------------------------

void ClientCore::send_forwards(std::vector<Forward>& forwards, Now now) {
    if (forwards.empty() || stage_ != Stage::served) return;
    if (unanswered_since_ == Instant::never()) unanswered_since_ = now.steady;
    for (auto& forward : forwards) {
        // An older member would close the connection.
        if (format_of(forward.batch) > member_format_) forward.batch = in_format_1(forward.batch);
        tell(std::move(forward), now);
    }
}

void ClientCore::collect(Now now) {
    auto agent = agent_.collect(now);
    send_forwards(agent.forwards, now);
    for (const auto& lost : agent.lost)
        forget_hold(lost.hold);
    for (const auto withdrawn : agent.withdrawn)
        forget_hold(withdrawn);
    std::erase_if(effects_.contended, [&](const Contended& one) { return !agent_.has(one.hold); });
    effects_.lost = std::move(agent.lost);
    effects_.suspended = std::move(agent.suspended);
    effects_.lease = agent.lease;
    std::ranges::move(agent.answers, std::back_inserter(effects_.answers));
    note_cached();
    effects_.send_to = connection_;
}

void ClientCore::note_cached() {
    for (const auto& answer : effects_.answers) {
        const auto* acquired = std::get_if<Acquired>(&answer.result);
        if (acquired == nullptr || acquired->cached_tokens == 0) continue;
        cached_.insert(acquired->hold);
        const auto early = asked_early_.extract(acquired->hold);
        if (!early.empty()) effects_.contended.push_back(early.mapped());
    }
    if (!hears_recalls()) recall_cached();
}

// Recalls come in the order of the renewals: a client whose lease was extended has been told of
// every recall before that (S40). Where that order is interrupted, as between two members, it gives
// all of its cached grants back, as if each had been recalled.
void ClientCore::recall_cached() {
    for (const auto grant : std::exchange(cached_, {}))
        effects_.contended.push_back({grant, LockMode::exclusive, 0, {}});
}

}  // namespace mortise::core
