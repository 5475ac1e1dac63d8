#include <utility>

#include "core/base/check.hpp"
#include "core/base/overloaded.hpp"
#include "transport/checked_reading.hpp"
#include "transport/convert.hpp"
#include "transport/convert_operation.hpp"

namespace mortise::transport {

namespace {

// Known by their numbers on both sides.
static_assert(static_cast<int>(core::last_answer_kind) ==
              static_cast<int>(wire::AnswerKind::PERMISSION_DENIED));
static_assert(static_cast<int>(core::Closure::Kind::lock_delay) ==
              static_cast<int>(wire::ClosureKind::LOCK_DELAY));
static_assert(static_cast<int>(core::Predecessor::broken) ==
              static_cast<int>(wire::Predecessor::BROKEN));
static_assert(static_cast<int>(core::OpenRefusal::table_full) ==
              static_cast<int>(wire::OpenRefusal::TABLE_FULL));
static_assert(static_cast<int>(core::SessionEnd::former_life) ==
              static_cast<int>(wire::SessionEnd::FORMER_LIFE));
static_assert(static_cast<int>(StreamEnd::stopping) == static_cast<int>(wire::StreamEnd::STOPPING));

void put_previous(const core::Previous& previous, auto to) {
    to.setPredecessor(static_cast<wire::Predecessor>(previous.how));
    to.setPredecessorToken(previous.token.raw());
    if (!previous.label.empty()) to.setPredecessorLabel(data_of(previous.label));
}

core::Previous get_previous(CheckedReading& reading, auto from) {
    core::Previous previous;
    previous.how = reading.known(from.getPredecessor(), core::Predecessor::broken, "predecessor");
    previous.token = core::FencingToken{from.getPredecessorToken()};
    previous.label =
        reading.text(from.getPredecessorLabel(), core::label_bytes_max, "predecessorLabel");
    return previous;
}

void put(const std::vector<core::CircleStep>& circle, wire::Answered::Builder to) {
    auto steps = to.initCircle(static_cast<unsigned>(circle.size()));
    for (unsigned i = 0; i < steps.size(); ++i) {
        steps[i].setNode(circle[i].node.raw());
        steps[i].setSession(circle[i].session.raw());
        steps[i].setLocker(circle[i].locker);
        steps[i].setLabel(data_of(circle[i].label));
        steps[i].setWaitsFor(data_of(circle[i].waits_for));
    }
}

core::CircleStep get(CheckedReading& reading, wire::CircleStep::Reader from) {
    core::CircleStep step;
    step.node = reading.set<core::NodeId>(from.getNode(), "CircleStep.node");
    step.session = reading.set<core::SessionId>(from.getSession(), "CircleStep.session");
    step.locker = from.getLocker();
    step.label = reading.text(from.getLabel(), core::label_bytes_max, "CircleStep.label");
    step.waits_for = reading.text(from.getWaitsFor(), core::name_bytes_max, "CircleStep.waitsFor");
    if (step.waits_for.empty()) reading.fail(Malformed::bad_number, "CircleStep.waitsFor");
    return step;
}

void put(const core::Answered& answered, wire::Answered::Builder to) {
    const auto& answer = answered.answer;
    put_operation(answered.operation, to.initOperation());
    to.setKind(static_cast<wire::AnswerKind>(answer.kind));
    to.setToken(answer.token.raw());
    put_previous(answer.previous, to);
    if (!answer.circle.empty()) put(answer.circle, to);
    if (answer.names.empty()) return;
    auto names = to.initNames(static_cast<unsigned>(answer.names.size()));
    for (unsigned i = 0; i < names.size(); ++i) {
        names[i].setName(data_of(answer.names[i].name));
        names[i].setToken(answer.names[i].token.raw());
        put_previous(answer.names[i].previous, names[i]);
    }
}

core::NamedGrant get(CheckedReading& reading, wire::NamedGrant::Reader from) {
    core::NamedGrant grant;
    grant.name = reading.text(from.getName(), core::name_bytes_max, "NamedGrant.name");
    if (grant.name.empty()) reading.fail(Malformed::bad_number, "NamedGrant.name");
    grant.token = reading.set<core::FencingToken>(from.getToken(), "NamedGrant.token");
    grant.previous = get_previous(reading, from);
    return grant;
}

core::Outcome get(CheckedReading& reading, wire::Answered::Reader from) {
    core::Answered answered;
    auto& answer = answered.answer;
    answered.operation = get_operation(reading, from.getOperation());
    answer.kind = reading.known(from.getKind(), core::last_answer_kind, "Answered.kind");
    answer.token = core::FencingToken{from.getToken()};
    answer.previous = get_previous(reading, from);
    reading.list(from.getNames(), core::names_at_once_max, "Answered.names",
                 [&](auto each) { answer.names.push_back(get(reading, each)); });
    reading.list(from.getCircle(), core::circle_steps_max, "Answered.circle",
                 [&](auto each) { answer.circle.push_back(get(reading, each)); });
    // One token, or names that have theirs.
    const bool several = answer.kind == core::AnswerKind::granted && !answer.names.empty();
    const bool with_token = core::has_token(answer.kind) && !several;
    const bool has_circle = answer.kind == core::AnswerKind::deadlock;
    const bool fits = (answer.names.empty() || several) && (answer.circle.empty() || has_circle);
    if (!fits || with_token != answer.token.is_set())
        reading.fail(Malformed::bad_number, "Answered.token");
    return answered;
}

std::uint64_t nonce(CheckedReading& reading, std::uint64_t raw) {
    if (raw == 0) reading.fail(Malformed::bad_number, "nonce");
    return raw;
}

core::SessionId session(CheckedReading& reading, std::uint64_t raw) {
    return reading.set<core::SessionId>(raw, "session");
}

void put_operations(const std::vector<core::OperationId>& operations,
                    capnp::List<wire::Operation>::Builder to) {
    for (unsigned i = 0; i < to.size(); ++i)
        put_operation(operations[i], to[i]);
}

void put(const core::ReleaseAsked& asked, wire::ReleaseAsked::Builder to) {
    put_operation(asked.by, to.initBy());
    to.setName(data_of(asked.name));
    put_operations(asked.holds, to.initHolds(static_cast<unsigned>(asked.holds.size())));
    if (!asked.reason.empty()) to.setReason(data_of(asked.reason));
}

core::ReleaseAsked get(CheckedReading& reading, wire::ReleaseAsked::Reader from) {
    core::ReleaseAsked asked;
    asked.by = get_operation(reading, from.getBy());
    asked.name = reading.text(from.getName(), core::name_bytes_max, "ReleaseAsked.name");
    if (asked.name.empty()) reading.fail(Malformed::bad_number, "ReleaseAsked.name");
    reading.list(from.getHolds(), core::holds_max, "ReleaseAsked.holds",
                 [&](auto each) { asked.holds.push_back(get_operation(reading, each)); });
    asked.reason = reading.text(from.getReason(), core::reason_bytes_max, "ReleaseAsked.reason");
    return asked;
}

void put(const core::LockBroken& broken, wire::LockBroken::Builder to) {
    put_operation(broken.by, to.initBy());
    to.setName(data_of(broken.name));
    to.setToken(broken.token.raw());
    put_operations(broken.holds, to.initHolds(static_cast<unsigned>(broken.holds.size())));
    if (!broken.reason.empty()) to.setReason(data_of(broken.reason));
    to.setImmediate(broken.immediate);
    if (!broken.asked_by.empty()) to.setAskedBy(data_of(broken.asked_by));
}

core::LockBroken get(CheckedReading& reading, wire::LockBroken::Reader from) {
    core::LockBroken broken;
    broken.by = get_operation(reading, from.getBy());
    broken.name = reading.text(from.getName(), core::name_bytes_max, "LockBroken.name");
    if (broken.name.empty()) reading.fail(Malformed::bad_number, "LockBroken.name");
    broken.token = reading.set<core::FencingToken>(from.getToken(), "LockBroken.token");
    reading.list(from.getHolds(), core::holds_max, "LockBroken.holds",
                 [&](auto each) { broken.holds.push_back(get_operation(reading, each)); });
    broken.reason = reading.text(from.getReason(), core::reason_bytes_max, "LockBroken.reason");
    broken.immediate = from.getImmediate();
    broken.asked_by =
        reading.text(from.getAskedBy(), core::asked_by_bytes_max, "LockBroken.askedBy");
    return broken;
}

void put(const core::ClosureBegun& begun, wire::ClosureBegun::Builder to) {
    to.setClosure(begun.closure.raw());
    to.setKind(static_cast<wire::ClosureKind>(begun.kind));
    to.setName(data_of(begun.name));
    put_operation(begun.hold, to.initHold());
    to.setSince(begun.since.raw());
    to.setTimeMs(begun.time_ms);
    to.setRhoPpm(begun.rho_ppm);
}

core::ClosureBegun get(CheckedReading& reading, wire::ClosureBegun::Reader from) {
    core::ClosureBegun begun;
    begun.closure = reading.set<core::ClosureId>(from.getClosure(), "ClosureBegun.closure");
    begun.kind =
        reading.known(from.getKind(), core::Closure::Kind::lock_delay, "ClosureBegun.kind");
    begun.name = reading.text(from.getName(), core::name_bytes_max, "ClosureBegun.name");
    if (begun.name.empty()) reading.fail(Malformed::bad_number, "ClosureBegun.name");
    begun.hold = get_operation(reading, from.getHold());
    begun.since = reading.index(from.getSince(), "ClosureBegun.since");
    begun.time_ms = from.getTimeMs();
    begun.rho_ppm = from.getRhoPpm();
    return begun;
}

void put(const core::Outcome& outcome, wire::Outcome::Builder to) {
    std::visit(core::Overloaded{
                   [&](const core::Answered& o) { put(o, to.initAnswered()); },
                   [&](const core::Queued& o) { put_operation(o.operation, to.initQueued()); },
                   [&](const core::SessionOpened& o) {
                       auto opened = to.initSessionOpened();
                       opened.setSession(o.session.raw());
                       opened.setNonce(o.nonce);
                   },
                   [&](const core::OpenRefused& o) {
                       auto refused = to.initOpenRefused();
                       refused.setNonce(o.nonce);
                       refused.setWhy(static_cast<wire::OpenRefusal>(o.why));
                   },
                   [&](const core::SessionRenewed& o) {
                       auto renewed = to.initSessionRenewed();
                       renewed.setSession(o.session.raw());
                       renewed.setNumber(o.number);
                       auto broken = renewed.initBroken(static_cast<unsigned>(o.broken.size()));
                       for (unsigned i = 0; i < broken.size(); ++i)
                           broken.set(i, o.broken[i].raw());
                   },
                   [&](const core::RenewalLost& o) { to.setRenewalLost(o.session.raw()); },
                   [&](const core::SessionEnded& o) {
                       auto ended = to.initSessionEnded();
                       ended.setSession(o.session.raw());
                       ended.setHow(static_cast<wire::SessionEnd>(o.how));
                   },
                   [&](const core::LockBroken& o) { put(o, to.initLockBroken()); },
                   [&](const core::ReleaseAsked& o) { put(o, to.initReleaseAsked()); },
                   [&](const core::ClosureBegun& o) { put(o, to.initClosureBegun()); },
                   [&](const core::ClosureEnded& o) { to.setClosureEnded(o.closure.raw()); },
               },
               outcome);
}

core::Outcome get(CheckedReading& reading, wire::Outcome::Reader from) {
    switch (from.which()) {
        case wire::Outcome::ANSWERED: return get(reading, from.getAnswered());
        case wire::Outcome::QUEUED: return core::Queued{get_operation(reading, from.getQueued())};
        case wire::Outcome::SESSION_OPENED: {
            const auto opened = from.getSessionOpened();
            return core::SessionOpened{session(reading, opened.getSession()),
                                       nonce(reading, opened.getNonce())};
        }
        case wire::Outcome::OPEN_REFUSED: {
            const auto refused = from.getOpenRefused();
            return core::OpenRefused{
                nonce(reading, refused.getNonce()),
                reading.known(refused.getWhy(), core::OpenRefusal::table_full, "OpenRefused.why")};
        }
        case wire::Outcome::SESSION_RENEWED: {
            const auto renewed = from.getSessionRenewed();
            core::SessionRenewed told{session(reading, renewed.getSession()), renewed.getNumber()};
            reading.list(
                renewed.getBroken(), core::session_acquires_max, "SessionRenewed.broken",
                [&](auto each) {
                    told.broken.push_back(reading.set<core::Seq>(each, "SessionRenewed.broken"));
                });
            return told;
        }
        case wire::Outcome::RENEWAL_LOST:
            return core::RenewalLost{session(reading, from.getRenewalLost())};
        case wire::Outcome::SESSION_ENDED: {
            const auto ended = from.getSessionEnded();
            return core::SessionEnded{
                session(reading, ended.getSession()),
                reading.known(ended.getHow(), core::SessionEnd::former_life, "SessionEnded.how")};
        }
        case wire::Outcome::LOCK_BROKEN: return get(reading, from.getLockBroken());
        case wire::Outcome::RELEASE_ASKED: return get(reading, from.getReleaseAsked());
        case wire::Outcome::CLOSURE_BEGUN: return get(reading, from.getClosureBegun());
        case wire::Outcome::CLOSURE_ENDED:
            return core::ClosureEnded{
                reading.set<core::ClosureId>(from.getClosureEnded(), "Outcome.closureEnded")};
    }
    reading.fail(Malformed::unknown_kind, "Outcome");
    return core::Queued{};
}

}  // namespace

void write(const std::vector<OutcomeBatch>& batches, capnp::List<wire::OutcomeBatch>::Builder to) {
    MORTISE_CHECK(batches.size() == to.size());
    for (unsigned i = 0; i < to.size(); ++i) {
        to[i].setIndex(batches[i].index.raw());
        auto outcomes = to[i].initOutcomes(static_cast<unsigned>(batches[i].outcomes.size()));
        for (unsigned j = 0; j < outcomes.size(); ++j)
            put(batches[i].outcomes[j], outcomes[j]);
    }
}

core::Result<std::vector<OutcomeBatch>> read(capnp::List<wire::OutcomeBatch>::Reader from) {
    CheckedReading reading;
    std::vector<OutcomeBatch> batches;
    core::LogIndex before;
    reading.list(from, batch_messages_max, "batches", [&](auto each) {
        OutcomeBatch batch;
        batch.index = reading.index(each.getIndex(), "OutcomeBatch.index");
        const bool follows = batch.index.is_set() && batch.index >= before;
        if (!follows) reading.fail(Malformed::bad_order, "OutcomeBatch.index");
        before = batch.index;
        reading.list(each.getOutcomes(), outcomes_max, "OutcomeBatch.outcomes",
                     [&](auto outcome) { batch.outcomes.push_back(get(reading, outcome)); });
        batches.push_back(std::move(batch));
    });
    return reading.finish(std::move(batches));
}

// --- the request for them, and how they end -----------------------------------------------------

void write(const OutcomesRequest& request, wire::OutcomesRequest::Builder to) {
    to.setAfter(request.after.raw());
    auto sessions = to.initSessions(static_cast<unsigned>(request.sessions.size()));
    for (unsigned i = 0; i < sessions.size(); ++i)
        sessions.set(i, request.sessions[i].raw());
    auto nonces = to.initNonces(static_cast<unsigned>(request.nonces.size()));
    for (unsigned i = 0; i < nonces.size(); ++i)
        nonces.set(i, request.nonces[i]);
}

core::Result<OutcomesRequest> read(wire::OutcomesRequest::Reader from) {
    CheckedReading reading;
    OutcomesRequest request;
    request.after = reading.index(from.getAfter(), "OutcomesRequest.after");
    reading.list(from.getSessions(), watched_max, "OutcomesRequest.sessions",
                 [&](std::uint64_t raw) {
                     request.sessions.push_back(
                         reading.set<core::SessionId>(raw, "OutcomesRequest.sessions"));
                 });
    reading.list(from.getNonces(), watched_max, "OutcomesRequest.nonces", [&](std::uint64_t raw) {
        if (raw == 0) reading.fail(Malformed::bad_number, "OutcomesRequest.nonces");
        request.nonces.push_back(raw);
    });
    return reading.finish(std::move(request));
}

wire::StreamEnd to_wire(StreamEnd reason) {
    return static_cast<wire::StreamEnd>(reason);
}

StreamEnd from_wire(wire::StreamEnd reason) {
    CheckedReading reading;
    return reading.known(reason, StreamEnd::stopping, "StreamEnd");
}

}  // namespace mortise::transport
