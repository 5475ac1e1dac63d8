#include "embed/runtime/translate_observed.hpp"

#include <cstddef>
#include <utility>

#include "core/base/overloaded.hpp"
#include "embed/values/holder.hpp"
#include "embed/values/lock_mode.hpp"
#include "embed/values/origin.hpp"
#include "embed/values/position.hpp"

namespace mortise::detail {

namespace {

HolderInfo holder_of(const core::NameChange& change, const core::Origin& origin) {
    return {change.node.raw(),
            change.hold.session.raw(),
            change.label,
            from_core(change.mode),
            from_core(change.token),
            change.since.raw(),
            change.cached_tokens != 0,
            change.slots,
            Duration::max(),
            Duration::max(),
            from_core(origin)};
}

// The kinds of changes have the order of those of the core.
Event::Kind kind_of(core::NameChange::Kind kind) {
    return static_cast<Event::Kind>(static_cast<int>(Event::Kind::granted) +
                                    static_cast<int>(kind));
}
static_assert(static_cast<int>(Event::Kind::value_consistent) -
                  static_cast<int>(Event::Kind::granted) ==
              static_cast<int>(core::NameChange::Kind::value_consistent));

void put(core::NameState& state, const core::Origin& /*of_a_change*/, Event& event) {
    event.kind = Event::Kind::state;
    event.name = std::move(state.name);
    for (std::size_t at = 0; at < state.holders.size(); ++at) {
        event.holders.push_back(detail::holder_of(state.holders[at], state.nodes[at]));
        if (at < state.origins.size()) event.holders.back().origin = from_core(state.origins[at]);
    }
    if (state.value)
        event.value =
            LockValue{std::move(state.value->bytes), state.value->version, state.value->dirty};
}

void put(core::NameChange& change, const core::Origin& origin, Event& event) {
    event.kind = kind_of(change.kind);
    event.name = std::move(change.name);
    event.holder = holder_of(change, origin);
    event.how = static_cast<Predecessor>(change.how);
    if (change.kind == core::NameChange::Kind::value_set)
        event.value = LockValue{std::move(change.bytes), change.version, change.dirty};
}

}  // namespace

Event event_of(core::Observed& told) {
    Event event;
    event.position = PositionParts::from_core(told.position);
    std::visit(core::Overloaded{
                   [](core::Gap&) {},
                   [&](core::StateComplete&) { event.kind = Event::Kind::state_complete; },
                   [&](auto& other) { put(other, told.origin, event); },
               },
               told.what);
    return event;
}

}  // namespace mortise::detail
