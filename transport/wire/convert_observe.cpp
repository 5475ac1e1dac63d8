#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/overloaded.hpp"
#include "transport/wire/checked_reading.hpp"
#include "transport/wire/convert.hpp"
#include "transport/wire/convert_operation.hpp"

namespace mortise::transport {

namespace {

// The enumerators have the same numbers on both sides.
static_assert(static_cast<int>(core::NameChange::Kind::value_consistent) ==
              static_cast<int>(wire::ChangeKind::VALUE_CONSISTENT));
static_assert(static_cast<int>(core::Predecessor::broken) ==
              static_cast<int>(wire::HoldEnd::BROKEN));

constexpr std::uint64_t observe_patience_max =
    std::chrono::nanoseconds{std::chrono::minutes{5}}.count();

void put_position(core::Position position, wire::Position::Builder to) {
    to.setIndex(position.index.raw());
    to.setOrdinal(position.ordinal);
    to.setCluster(position.cluster);
}

core::Position get_position(CheckedReading& reading, wire::Position::Reader from) {
    return {reading.index(from.getIndex(), "Position.index"), from.getOrdinal(), from.getCluster()};
}

std::string get_name(CheckedReading& reading, capnp::Data::Reader from) {
    auto name = reading.text(from, core::name_bytes_max, "Observed.name");
    if (name.empty()) reading.fail(Malformed::bad_number, "Observed.name");
    return name;
}

void put_state(const core::NameState& state, wire::NameState::Builder to) {
    to.setName(data_of(state.name));
    auto holders =
        to.initHolders(static_cast<unsigned>(std::min(state.holders.size(), list_holders_max)));
    for (unsigned i = 0; i < holders.size(); ++i)
        put_hold(state.holders[i], state.holders[i].operation, state.nodes[i], holders[i]);
    put_value(state.value, to);
    const auto is_known = [](const core::Origin& origin) { return origin.is_set(); };
    if (std::ranges::none_of(state.origins, is_known)) return;
    auto origins = to.initOrigins(holders.size());
    for (unsigned i = 0; i < origins.size(); ++i)
        put_origin(state.origins[i], origins[i]);
}

core::NameState get_state(CheckedReading& reading, wire::NameState::Reader from) {
    core::NameState state;
    state.name = get_name(reading, from.getName());
    reading.list(from.getHolders(), list_holders_max, "NameState.holders", [&](auto each) {
        auto& grant = state.holders.emplace_back();
        grant.operation = get_operation(reading, each.getOperation());
        get_hold(reading, each, grant);
        state.nodes.emplace_back(each.getNode());
    });
    state.value = get_value(reading, from);
    reading.list(from.getOrigins(), state.holders.size(), "NameState.origins",
                 [&](auto each) { state.origins.push_back(get_origin(reading, each)); });
    state.origins.resize(state.holders.size());
    return state;
}

void put_change(const core::NameChange& change, wire::NameChange::Builder to) {
    to.setKind(static_cast<wire::ChangeKind>(change.kind));
    to.setName(data_of(change.name));
    put_hold(change, change.hold, change.node, to.initHold());
    to.setHow(static_cast<wire::HoldEnd>(change.how));
    if (!change.bytes.empty()) to.setValue(data_of(change.bytes));
    to.setValueVersion(change.version);
    to.setValueIsDirty(change.dirty);
}

// Node::remove() removes a value without a hold.
core::NameChange get_change(CheckedReading& reading, wire::NameChange::Reader from) {
    core::NameChange change;
    change.kind =
        reading.known(from.getKind(), core::NameChange::Kind::value_consistent, "NameChange.kind");
    change.name = get_name(reading, from.getName());
    const auto hold = from.getHold();
    change.hold = {core::SessionId{hold.getOperation().getSession()},
                   core::Seq{hold.getOperation().getSeq()}};
    change.node = core::NodeId{hold.getNode()};
    get_hold(reading, hold, change);
    change.how = reading.known(from.getHow(), core::Predecessor::broken, "NameChange.how");
    change.bytes = reading.text(from.getValue(), core::value_bytes_max, "NameChange.value");
    change.version = from.getValueVersion();
    change.dirty = from.getValueIsDirty();
    return change;
}

void put_observed(const core::Observed& observed, wire::Observed::Builder to) {
    put_position(observed.position, to.initPosition());
    std::visit(core::Overloaded{
                   [&](const core::Gap&) { to.setGap(); },
                   [&](const core::StateComplete&) { to.setStateComplete(); },
                   [&](const core::NameState& state) { put_state(state, to.initState()); },
                   [&](const core::NameChange& change) {
                       auto told = to.initChange();
                       put_change(change, told);
                       if (observed.origin.is_set()) put_origin(observed.origin, told.initOrigin());
                   },
               },
               observed.what);
}

core::Observed get_observed(CheckedReading& reading, wire::Observed::Reader from) {
    core::Observed observed;
    observed.position = get_position(reading, from.getPosition());
    switch (from.which()) {
        case wire::Observed::GAP: observed.what = core::Gap{}; break;
        case wire::Observed::STATE_COMPLETE: observed.what = core::StateComplete{}; break;
        case wire::Observed::STATE: observed.what = get_state(reading, from.getState()); break;
        case wire::Observed::CHANGE:
            observed.what = get_change(reading, from.getChange());
            observed.origin = get_origin(reading, from.getChange().getOrigin());
            break;
        default: reading.fail(Malformed::unknown_kind, "Observed");
    }
    return observed;
}

void put_events(const ObserveReply& reply, wire::ObserveAnswer::Builder to) {
    auto events = to.initEvents(static_cast<unsigned>(reply.events.size()));
    for (unsigned i = 0; i < events.size(); ++i)
        put_observed(reply.events[i], events[i]);
    put_position(reply.reached, to.initReached());
    to.setMore(reply.more);
    to.setIsReady(reply.is_ready);
}

ObserveReply get_events(CheckedReading& reading, wire::ObserveAnswer::Reader from) {
    ObserveReply reply;
    reading.list(from.getEvents(), observed_max, "ObserveAnswer.events",
                 [&](auto each) { reply.events.push_back(get_observed(reading, each)); });
    reply.reached = get_position(reading, from.getReached());
    reply.more = from.getMore();
    reply.is_ready = from.getIsReady();
    return reply;
}

}  // namespace

void write(const ObserveRequest& request, wire::ObserveRequest::Builder to) {
    to.setPrefix(data_of(request.names.prefix));
    to.setIsOneName(request.names.is_one_name);
    put_position(request.from, to.initFrom());
    to.setContinues(request.continues);
    to.setPatienceNs(
        static_cast<std::uint64_t>(std::max<std::int64_t>(request.patience.count(), 0)));
}

core::Result<ObserveRequest> read(wire::ObserveRequest::Reader from) {
    CheckedReading reading;
    ObserveRequest request;
    request.names.prefix =
        reading.text(from.getPrefix(), core::name_bytes_max, "ObserveRequest.prefix");
    request.names.is_one_name = from.getIsOneName();
    request.from = get_position(reading, from.getFrom());
    request.continues = from.getContinues();
    request.patience = core::Nanoseconds{std::min(from.getPatienceNs(), observe_patience_max)};
    return reading.finish(std::move(request));
}

void write(const ObserveAnswer& answer, wire::ObserveAnswer::Builder to) {
    write_answer(answer, to, put_events);
}

core::Result<ObserveAnswer> read(wire::ObserveAnswer::Reader from) {
    return read_answer(from, wire::ObserveAnswer::EVENTS, "ObserveAnswer", get_events);
}

std::size_t wire_bytes(const core::Observed& observed) {
    constexpr std::size_t event_bytes = 24 * word_bytes;
    constexpr std::size_t hold_bytes = 14 * word_bytes;
    auto bytes = event_bytes;
    const auto add_hold = [&](const auto& hold) {
        bytes +=
            hold_bytes + hold.label.size() + sizeof(core::Slots::value_type) * hold.slots.size();
    };
    if (const auto* change = std::get_if<core::NameChange>(&observed.what)) {
        add_hold(*change);
        if (observed.origin.is_set()) bytes += origin_bytes(observed.origin);
        bytes += change->name.size() + change->bytes.size();
    } else if (const auto* state = std::get_if<core::NameState>(&observed.what)) {
        for (std::size_t i = 0; i < std::min(state->holders.size(), list_holders_max); ++i)
            add_hold(state->holders[i]);
        for (const auto& origin : state->origins)
            bytes += origin_bytes(origin);
        bytes += state->name.size() + (state->value ? state->value->bytes.size() : 0);
    }
    return bytes;
}

}  // namespace mortise::transport
