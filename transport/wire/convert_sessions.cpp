#include <algorithm>
#include <utility>

#include "transport/wire/checked_reading.hpp"
#include "transport/wire/convert.hpp"
#include "transport/wire/convert_operation.hpp"

namespace mortise::transport {

namespace {

void put_session(const core::SessionView& view, wire::Session::Builder to) {
    to.setId(view.id.raw());
    to.setNode(view.node.raw());
    to.setTtlMs(view.ttl_ms);
    to.setKnownNs(static_cast<std::uint64_t>(std::max<std::int64_t>(view.known.count(), 0)));
    if (view.left) to.setLeftNs(view.left->count());
    to.setHolds(view.holds);
    to.setWaits(view.waits);
    if (!view.label.empty()) to.setLabel(data_of(view.label));
    if (view.origin.is_set()) put_origin(view.origin, to.initOrigin());
    if (view.age) to.setAgeNs(view.age->count());
}

core::SessionView get_session(CheckedReading& reading, wire::Session::Reader from) {
    core::SessionView view;
    view.id = reading.set<core::SessionId>(from.getId(), "Session.id");
    view.node = core::NodeId{from.getNode()};
    view.ttl_ms = from.getTtlMs();
    view.known = core::Nanoseconds{
        std::min<std::uint64_t>(from.getKnownNs(), core::Nanoseconds::max().count())};
    if (from.getLeftNs() >= 0) view.left = core::Nanoseconds{from.getLeftNs()};
    view.holds = from.getHolds();
    view.waits = from.getWaits();
    view.label = reading.text(from.getLabel(), core::label_bytes_max, "Session.label");
    view.origin = get_origin(reading, from.getOrigin());
    view.age = get_age(from.getAgeNs());
    return view;
}

void put_sessions(const SessionsReply& reply, wire::SessionsAnswer::Builder to) {
    auto sessions =
        to.initSessions(static_cast<unsigned>(std::min(reply.sessions.size(), list_sessions_max)));
    for (unsigned i = 0; i < sessions.size(); ++i)
        put_session(reply.sessions[i], sessions[i]);
    to.setMore(reply.more || sessions.size() < reply.sessions.size());
}

SessionsReply get_sessions(CheckedReading& reading, wire::SessionsAnswer::Reader from) {
    SessionsReply reply;
    reading.list(from.getSessions(), list_sessions_max, "SessionsAnswer", [&](auto each) {
        auto view = get_session(reading, each);
        const bool ascends = reply.sessions.empty() || reply.sessions.back().id < view.id;
        if (!ascends) reading.fail(Malformed::bad_order, "SessionsAnswer");
        reply.sessions.push_back(std::move(view));
    });
    reply.more = from.getMore();
    // The next request would be the same, for ever.
    if (reply.more && reply.sessions.empty())
        reading.fail(Malformed::bad_order, "SessionsAnswer.more");
    return reply;
}

}  // namespace

void write(const SessionsRequest& request, wire::SessionsRequest::Builder to) {
    to.setAfter(request.after.raw());
    to.setLimit(static_cast<unsigned>(std::min(request.limit, list_sessions_max)));
    to.setLocal(request.local);
}

core::Result<SessionsRequest> read(wire::SessionsRequest::Reader from) {
    SessionsRequest request;
    request.after = core::SessionId{from.getAfter()};
    request.limit = std::clamp<std::size_t>(from.getLimit(), 1, list_sessions_max);
    request.local = from.getLocal();
    return request;
}

void write(const SessionsAnswer& answer, wire::SessionsAnswer::Builder to) {
    write_answer(answer, to, put_sessions);
}

core::Result<SessionsAnswer> read(wire::SessionsAnswer::Reader from) {
    return read_answer(from, wire::SessionsAnswer::SESSIONS, "SessionsAnswer", get_sessions);
}

}  // namespace mortise::transport
