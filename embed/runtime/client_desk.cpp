#include "embed/runtime/client_desk.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "core/access/denial.hpp"
#include "core/observe/activity.hpp"
#include "embed/runtime/core_loop.hpp"
#include "embed/runtime/membership_change.hpp"
#include "embed/runtime/translate.hpp"
#include "embed/values/clocks.hpp"
#include "embed/values/version.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::detail {

namespace {

// The limit of holders and waiters. One more is requested, to learn whether there are more.
constexpr std::size_t parties_max = transport::list_holders_max + 1;

std::size_t parties_of(const std::vector<core::LockView>& locks) {
    std::size_t parties = 0;
    for (const auto& lock : locks)
        parties += lock.holders.size() + lock.waiters.size();
    return parties;
}

bool is_leaving(const core::Configuration& present, core::NodeId id) {
    return core::without_outgoing(present).find(id) == nullptr;
}

// Why the call has no result.
template <class Answer>
Answer failure_in(const core::CallAnswer& given) {
    if (const auto* denied = std::get_if<core::Denied>(&given.result)) return *denied;
    const auto* error = std::get_if<core::CallError>(&given.result);
    return error != nullptr ? *error : core::CallError::outcome_unknown;
}

transport::ChangeAnswer change_answer_of(const core::CallAnswer& given) {
    const bool is_done = std::holds_alternative<core::Changed>(given.result) ||
                         std::holds_alternative<core::Written>(given.result);
    if (is_done) return core::Changed{};
    if (const auto* why = std::get_if<core::MembershipRefusal>(&given.result)) return *why;
    return failure_in<transport::ChangeAnswer>(given);
}

}  // namespace

ClientDesk::ClientDesk(CoreLoop& loop, asio::io_context& io)
    : loop_{loop},
      observers_{{io, [this]() -> const core::NodeCore& { return loop_.driver().core(); },
                  [this] { return loop_.is_ready(); }, loop.ahead()}} {}

transport::MemberStatus ClientDesk::status() const {
    const auto& core = loop_.driver().core();
    const auto& raft = core.raft();
    transport::MemberStatus status;
    status.self = loop_.self();
    status.cluster = raft.configuration().cluster;
    status.role = raft.role();
    status.ready = loop_.is_ready();
    status.term = raft.term();
    status.leader = raft.leader();
    status.commit = raft.commit_index();
    status.applied = core.applied_index();
    status.log_first = raft.log().first_index();
    status.log_last = raft.log().last().index;
    status.sessions = core.machine().sessions().all().size();
    status.names = core.machine().table().size();
    status.uptime = steady_now() - loop_.began();
    status.version = version;
    status.cluster_name = loop_.config().cluster;
    status.session = core.agent().open_session();
    status.insecure = loop_.is_insecure();
    status.why_not_ready = loop_.why_not_ready();
    status.removed = raft.is_removed();
    status.durability = raft.configuration().durability;
    status.is_forgetful = raft.is_forgetful();
    if (status.ready) status.load = loop_.client_load();
    for (const auto id : raft.configuration().all()) {
        const bool is_self = id == status.self;
        const auto* progress = raft.progress_of(id);
        transport::MemberInfo info;
        info.member = *raft.configuration().find(id);
        info.is_leaving = is_leaving(raft.configuration(), id);
        // Until its promotion is done, the others cannot do without the old configuration.
        info.is_voter = info.is_leaving || raft.configuration().is_lasting_voter(id);
        info.is_connected = is_self || loop_.is_connected(id);
        if (progress != nullptr) info.match = progress->match;
        if (is_self) info.match = raft.durable_index();
        status.members.push_back(std::move(info));
    }
    return status;
}

void ClientDesk::list(transport::ListRequest request,
                      std::function<void(transport::ListAnswer)> answer) {
    const auto limit = std::clamp<std::size_t>(request.limit, 1, list_page_max);
    core::InspectCall call;
    call.name = std::move(request.prefix);
    call.is_prefix = !request.is_exact;
    call.local = request.local;
    call.after = std::move(request.after);
    call.limit = request.is_exact ? 1 : limit + 1;  // one more, to learn whether there are more
    call.parties_max = parties_max;
    loop_.submit(std::move(call), [limit, is_exact = request.is_exact,
                                   answer = std::move(answer)](core::CallAnswer& given) {
        auto* viewed = std::get_if<core::Viewed>(&given.result);
        if (viewed == nullptr) return answer(failure_in<transport::ListAnswer>(given));
        transport::ListReply reply;
        const bool too_many = viewed->locks.size() > limit;
        if (too_many) viewed->locks.resize(limit);
        reply.more = too_many || (!is_exact && parties_of(viewed->locks) >= parties_max);
        reply.locks = std::move(viewed->locks);
        answer(std::move(reply));
    });
}

void ClientDesk::change(core::MembershipGoal goal, core::Nanoseconds patience,
                        std::function<void(transport::ChangeAnswer)> answer) {
    if (check_goal(goal).error) return answer(core::MembershipRefusal::invalid_address);
    const core::Nanoseconds longest = loop_.config().timing.call_timeout.to_nanoseconds();
    const auto deadline = steady_now() + std::min(patience, longest);
    loop_.submit(
        core::ChangeCall{{}, std::move(goal), deadline},
        [answer = std::move(answer)](core::CallAnswer& given) { answer(change_answer_of(given)); });
}

void ClientDesk::break_lock(core::BreakLock request,
                            std::function<void(transport::ChangeAnswer)> answer) {
    loop_.submit(
        core::WriteCall{{}, {}, std::move(request)},
        [answer = std::move(answer)](core::CallAnswer& given) { answer(change_answer_of(given)); });
}

void ClientDesk::evict(core::EvictSession request,
                       std::function<void(transport::ChangeAnswer)> answer) {
    loop_.submit(
        core::WriteCall{{}, {}, std::move(request)},
        [answer = std::move(answer)](core::CallAnswer& given) { answer(change_answer_of(given)); });
}

// --- client nodes

core::Result<core::ClientId> ClientDesk::admit(
    std::shared_ptr<transport::ClientConnection> connection) {
    if (is_closed_)
        return core::Error{std::make_error_code(std::errc::resource_unavailable_try_again),
                           "it serves nobody at present"};
    newest_ = newest_.next();
    connections_.emplace(newest_, std::move(connection));
    return newest_;
}

void ClientDesk::said(core::ClientId client, std::vector<core::ClientMessage> messages,
                      const transport::Speaker& speaker) {
    if (is_closed_) return;
    core::ClientSaid said{client, std::move(messages)};
    said.address = speaker.address;
    // Without TLS every caller may do everything.
    if (speaker.identity != nullptr) {
        said.access = speaker.identity->access;
        said.certificate = speaker.identity->name();
    }
    loop_.step(std::move(said));
}

bool ClientDesk::has_place(core::ClientId client) const {
    return !is_closed_ && loop_.driver().core().clients().places().has(client);
}

// A client that the core never hears the end of would keep its session to itself. So without memory
// the node stops, as it does when a step fails on its own.
void ClientDesk::gone(core::ClientId client) noexcept {
    if (connections_.erase(client) == 0 || is_closed_) return;
    try {
        loop_.step(core::ClientGone{client});
        return;
    } catch (const std::exception&) {  // there may be no memory for a report of what it was
    }
    try {
        loop_.fail("no memory");
    } catch (const std::exception&) {  // everything that could be reported was reported
    }
}

std::shared_ptr<transport::ClientConnection> ClientDesk::connection_of(
    core::ClientId client) const {
    const auto found = connections_.find(client);
    return found == connections_.end() ? nullptr : found->second;
}

void ClientDesk::close() {
    is_closed_ = true;
    connections_.clear();
}

// A member does for its clients at most what its own certificate allows (docs/decisions/0031). What
// becomes a call of this node is checked as one; this is for what does not.
std::optional<core::Denied> ClientDesk::denial_of_observing(std::string_view prefix) const {
    const auto& access = loop_.access();
    if (access.may_all(core::Right::observe, prefix)) return std::nullopt;
    return core::denial("node " + std::to_string(loop_.self().raw()), access, core::Right::observe,
                        prefix);
}

transport::ClientObserver ClientDesk::observe(core::ObservedNames names, core::Position from) {
    if (const auto why = denial_of_observing(names.prefix))
        return [why](core::Nanoseconds /*patience*/, const auto& answer) { answer(*why); };
    return observers_.add(std::move(names), from);
}

void ClientDesk::sessions(transport::SessionsRequest request,
                          std::function<void(transport::SessionsAnswer)> answer) {
    if (request.local) {
        if (auto why = denial_of_observing({})) return answer(std::move(*why));
        return answer(sessions_now(request));
    }
    loop_.catch_up([this, request, answer = std::move(answer)](core::CallAnswer& given) {
        const bool is_read = std::holds_alternative<core::Viewed>(given.result);
        answer(is_read ? sessions_now(request) : failure_in<transport::SessionsAnswer>(given));
    });
}

transport::ActivityAnswer ClientDesk::activity(const std::string& prefix) const {
    if (auto why = denial_of_observing({})) return std::move(*why);
    return activity_now(prefix);
}

core::ActivityView ClientDesk::activity_now(std::string_view prefix) const {
    const auto& core = loop_.driver().core();
    auto view = core.activity().view(core.machine().table(), steady_now(), prefix);
    view.node = loop_.self();
    view.cluster = loop_.config().cluster;
    view.leader = core.raft().leader().value_or(core::NodeId{});
    view.members = core.raft().configuration().all().size();
    view.sessions = core.machine().sessions().all().size();
    return view;
}

transport::SessionsReply ClientDesk::sessions_now(const transport::SessionsRequest& request) const {
    constexpr std::size_t looks_max = 50'000;  // about a millisecond
    const auto& core = loop_.driver().core();
    transport::SessionsReply reply;
    reply.sessions = core.machine().views().sessions(request.after, request.limit, looks_max);
    reply.more = !reply.sessions.empty() &&
                 reply.sessions.back().id < core.machine().sessions().all().rbegin()->first;
    for (auto& session : reply.sessions) {
        session.left = core.timers().left(session.id, steady_now());
        session.known = core.timers().known(session.id, steady_now());
        session.age = core.clock().age_of(session.opened_at, read_clocks());
    }
    return reply;
}

std::vector<SessionInfo> ClientDesk::sessions_after(SessionId after) const {
    transport::SessionsRequest page;
    page.after = core::SessionId{after};
    page.limit = transport::list_sessions_max;
    std::vector<SessionInfo> sessions;
    for (const auto& session : sessions_now(page).sessions)
        sessions.push_back(session_of(session));
    return sessions;
}

}  // namespace mortise::detail
