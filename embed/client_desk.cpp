#include "embed/client_desk.hpp"

#include <algorithm>
#include <utility>

#include "core/base/overloaded.hpp"
#include "embed/clocks.hpp"
#include "embed/core_loop.hpp"
#include "embed/translate.hpp"
#include "embed/version.hpp"

namespace mortise::detail {

namespace {

constexpr std::size_t streams_max = 1'024;

}  // namespace

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
    status.names = core.machine().table().records().size();
    status.uptime = steady_now() - loop_.began();
    status.version = version;
    status.cluster_name = loop_.config().cluster;
    status.session = core.agent().open_session();
    for (const auto id : raft.configuration().all()) {
        const bool is_self = id == status.self;
        const auto* progress = raft.progress_of(id);
        transport::MemberInfo info;
        info.member = *raft.configuration().find(id);
        info.is_voter = raft.configuration().is_voter(id);
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
    call.limit = request.is_exact ? 1 : limit + 1;  // one more tells whether there are more
    loop_.submit(std::move(call), [limit, answer = std::move(answer)](core::CallAnswer& given) {
        if (auto* viewed = std::get_if<core::Viewed>(&given.result)) {
            transport::ListReply reply;
            reply.more = viewed->locks.size() > limit;
            if (reply.more) viewed->locks.resize(limit);
            reply.locks = std::move(viewed->locks);
            answer(std::move(reply));
            return;
        }
        const auto* error = std::get_if<core::CallError>(&given.result);
        answer(error != nullptr ? *error : core::CallError::outcome_unknown);
    });
}

transport::ForwardReply ClientDesk::forward(core::Forward forward) {
    const auto leader = loop_.driver().core().raft().leader();
    if (leader) loop_.step(core::ClientForward{std::move(forward)});
    return {leader.has_value(), leader};
}

transport::SubscribeAnswer ClientDesk::subscribe(const transport::OutcomesRequest& request,
                                                 transport::OutcomeSink& sink) {
    const auto applied = loop_.driver().core().applied_index();
    // What was applied is not kept: who missed something asks again, and is answered (S17).
    if (request.after.is_set() && request.after < applied) {
        return transport::StreamEnd::position_gone;
    }
    if (streams_.size() >= streams_max) return transport::StreamEnd::too_many;
    newest_ = newest_.next();
    streams_[newest_] = {request, &sink};
    return transport::Subscribed{newest_, applied};
}

void ClientDesk::unsubscribe(transport::SubscriptionId id) {
    streams_.erase(id);
}

// A session that was opened under a nonce of the stream belongs to it from then on.
bool ClientDesk::wants(Stream& stream, const core::Outcome& outcome) {
    auto& sessions = stream.wanted.sessions;
    const auto has = [&](core::SessionId id) { return std::ranges::count(sessions, id) != 0; };
    const auto asked = [&](std::uint64_t nonce) {
        return std::ranges::count(stream.wanted.nonces, nonce) != 0;
    };
    return std::visit(
        core::Overloaded{
            [&](const core::Answered& answered) { return has(answered.operation.session); },
            [&](const core::Queued& queued) { return has(queued.operation.session); },
            [&](const core::SessionOpened& opened) {
                if (!asked(opened.nonce)) return false;
                if (!has(opened.session)) sessions.push_back(opened.session);
                return true;
            },
            [&](const core::OpenRefused& refused) { return asked(refused.nonce); },
            [&](const core::SessionRenewed& renewed) { return has(renewed.session); },
            [&](const core::RenewalLost& lost) { return has(lost.session); },
            [&](const core::SessionEnded& ended) { return has(ended.session); },
        },
        outcome);
}

void ClientDesk::applied(const core::Applied& applied) {
    const auto index = applied.entry.id.index;
    // A sink may end its own stream.
    for (auto next = streams_.begin(); next != streams_.end();) {
        auto& stream = (next++)->second;
        transport::OutcomeBatch batch{index, {}};
        for (const auto& outcome : applied.outcomes) {
            if (wants(stream, outcome)) batch.outcomes.push_back(outcome);
        }
        std::vector<transport::OutcomeBatch> batches;
        if (!batch.outcomes.empty()) batches.push_back(std::move(batch));
        stream.sink->applied(index, std::move(batches));
    }
}

void ClientDesk::end() {
    for (auto& [id, stream] : std::exchange(streams_, {}))
        stream.sink->ended(transport::StreamEnd::stopping);
}

}  // namespace mortise::detail
