#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/overloaded.hpp"
#include "transport/wire/checked_reading.hpp"
#include "transport/wire/convert.hpp"
#include "transport/wire/convert_operation.hpp"

namespace mortise::transport {

namespace {

// The enumerators have the same numbers on both sides.
static_assert(static_cast<int>(core::LockMode::exclusive) ==
              static_cast<int>(wire::LockMode::EXCLUSIVE));
static_assert(static_cast<int>(core::QueuePolicy::prefer_writers) ==
              static_cast<int>(wire::QueuePolicy::PREFER_WRITERS));
static_assert(static_cast<int>(core::Closure::Kind::lock_delay) ==
              static_cast<int>(wire::ClosureKind::LOCK_DELAY));

unsigned size_of(std::size_t size) {
    return static_cast<unsigned>(size);
}

// Holders and waiters have the same fields except the token.
template <class Party>
Party get_party(CheckedReading& reading, auto from, core::LockView& view, const char* what) {
    Party party;
    party.operation = get_operation(reading, from.getOperation());
    view.nodes[party.operation.session] = core::NodeId{from.getNode()};
    party.mode = reading.known(from.getMode(), core::LockMode::exclusive, what);
    party.since = reading.index(from.getSince(), what);
    party.label = reading.text(from.getLabel(), core::label_bytes_max, what);
    return party;
}

void put_party(const auto& party, const core::LockView& view, auto to) {
    put_operation(party.operation, to.initOperation());
    to.setNode(view.nodes.at(party.operation.session).raw());
    to.setMode(static_cast<wire::LockMode>(party.mode));
    to.setSince(party.since.raw());
    if (!party.label.empty()) to.setLabel(data_of(party.label));
}

void put_closings(const core::LockView& view, wire::Lock::Builder to) {
    to.setIsClosed(view.is_closed);
    to.setClosedUnder(view.closed_under.raw());
    to.setClosingsTotal(view.closings_total);
    auto closings = to.initClosings(size_of(std::min(view.closings.size(), list_closings_max)));
    for (unsigned i = 0; i < closings.size(); ++i) {
        const auto& closing = view.closings[i];
        closings[i].setKind(static_cast<wire::ClosureKind>(closing.kind));
        closings[i].setToken(closing.token.raw());
        if (closing.left) closings[i].setLeftNs(closing.left->count());
    }
}

void get_closings(CheckedReading& reading, wire::Lock::Reader from, core::LockView& view) {
    view.is_closed = from.getIsClosed();
    view.closed_under = core::FencingToken{from.getClosedUnder()};
    reading.list(from.getClosings(), list_closings_max, "Lock.closings", [&](auto each) {
        core::LockView::Closing closing;
        closing.kind =
            reading.known(each.getKind(), core::Closure::Kind::lock_delay, "Lock.closings");
        closing.token = reading.set<core::FencingToken>(each.getToken(), "Lock.closings.token");
        if (each.getLeftNs() >= 0) closing.left = core::Nanoseconds{each.getLeftNs()};
        view.closings.push_back(std::move(closing));
    });
    view.closings_total = from.getClosingsTotal();
}

void put_barrier(const core::LockView& view, wire::Lock::Builder to) {
    if (!view.barrier) return;
    to.setIsBarrier(true);
    to.setIsBroken(view.barrier->is_broken);
    to.setParties(view.barrier->parties);
    to.setArrived(view.barrier->arrived);
    to.setPhase(view.barrier->phase);
    auto members = to.initMembers(size_of(std::min(view.members.size(), list_holders_max)));
    for (unsigned i = 0; i < members.size(); ++i) {
        members[i].setSession(view.members[i].session.raw());
        members[i].setNode(view.members[i].node.raw());
        members[i].setParties(view.members[i].parties);
        members[i].setArrived(view.members[i].arrived);
    }
}

void get_barrier(CheckedReading& reading, wire::Lock::Reader from, core::LockView& view) {
    if (!from.getIsBarrier()) return;
    view.barrier = core::LockView::Barrier{from.getParties(), from.getArrived(), from.getPhase(),
                                           from.getIsBroken()};
    reading.list(from.getMembers(), list_holders_max, "Lock.members", [&](auto each) {
        view.members.push_back(
            {reading.set<core::SessionId>(each.getSession(), "Lock.members.session"),
             core::NodeId{each.getNode()}, each.getParties(), each.getArrived()});
    });
}

void put(const core::LockView& view, wire::Lock::Builder to) {
    to.setName(data_of(view.name));
    to.setPolicy(static_cast<wire::QueuePolicy>(view.policy));
    auto holders = to.initHolders(size_of(std::min(view.holders.size(), list_holders_max)));
    for (unsigned i = 0; i < holders.size(); ++i) {
        put_party(view.holders[i], view, holders[i]);
        holders[i].setToken(view.holders[i].token.raw());
        holders[i].setCachedTokens(view.holders[i].cached_tokens);
        put_slots(view.holders[i].slots, holders[i]);
    }
    auto waiters = to.initWaiters(size_of(std::min(view.waiters.size(), list_holders_max)));
    for (unsigned i = 0; i < waiters.size(); ++i) {
        put_party(view.waiters[i], view, waiters[i]);
        waiters[i].setUpgrades(view.waiters[i].upgrades.raw());
        waiters[i].setPriority(view.waiters[i].priority);
        waiters[i].setPermits(view.waiters[i].permits);
    }
    to.setHoldersTotal(view.holders_total);
    to.setWaitersTotal(view.waiters_total);
    put_closings(view, to);
    if (view.limit) {
        to.setLimit(view.limit->permits);
        to.setLimitVersion(view.limit->version);
    }
    if (view.latch) {
        to.setIsLatch(true);
        to.setRemaining(view.latch->remaining);
    }
    put_barrier(view, to);
    if (!view.value) return;
    to.setValue(data_of(view.value->bytes));
    to.setValueVersion(view.value->version);
    to.setValueIsDirty(view.value->dirty);
}

core::LockView get(CheckedReading& reading, wire::Lock::Reader from) {
    core::LockView view;
    view.name = reading.text(from.getName(), core::name_bytes_max, "Lock.name");
    if (view.name.empty()) reading.fail(Malformed::bad_number, "Lock.name");
    view.policy = reading.known(from.getPolicy(), core::QueuePolicy::prefer_writers, "Lock.policy");
    reading.list(from.getHolders(), list_holders_max, "Lock.holders", [&](auto each) {
        view.holders.push_back(get_party<core::Grant>(reading, each, view, "Lock.holders"));
        view.holders.back().token =
            reading.set<core::FencingToken>(each.getToken(), "Lock.holders.token");
        view.holders.back().cached_tokens = each.getCachedTokens();
        view.holders.back().slots = get_slots(reading, each, "Lock.holders.slots");
    });
    reading.list(from.getWaiters(), list_holders_max, "Lock.waiters", [&](auto each) {
        view.waiters.push_back(
            get_party<core::LockView::Waiting>(reading, each, view, "Lock.waiters"));
        view.waiters.back().upgrades = core::Seq{each.getUpgrades()};
        view.waiters.back().priority = each.getPriority();
        view.waiters.back().permits = each.getPermits();
    });
    view.holders_total = from.getHoldersTotal();
    view.waiters_total = from.getWaitersTotal();
    get_closings(reading, from, view);
    if (from.getLimitVersion() != 0)
        view.limit = core::LockView::Limit{from.getLimit(), from.getLimitVersion()};
    if (from.getIsLatch()) view.latch = core::LockView::Latch{from.getRemaining()};
    get_barrier(reading, from, view);
    if (from.getValueVersion() == 0) return view;
    view.value = core::LockValue{reading.text(from.getValue(), core::value_bytes_max, "Lock.value"),
                                 from.getValueVersion(), from.getValueIsDirty()};
    return view;
}

// An upper bound of the bytes that describe a lock.
std::size_t lock_bytes(const core::LockView& view) {
    constexpr std::size_t party_bytes = 13 * word_bytes;
    constexpr std::size_t closing_bytes = 3 * word_bytes;
    constexpr std::size_t member_bytes = 4 * word_bytes;
    std::size_t bytes = view.name.size() + 2 * party_bytes;
    for (const auto& holder : view.holders)
        bytes += sizeof(core::Slots::value_type) * holder.slots.size();
    bytes += closing_bytes * std::min(view.closings.size(), list_closings_max);
    bytes += member_bytes * std::min(view.members.size(), list_holders_max);
    if (view.value) bytes += view.value->bytes.size();
    const auto add = [&](const auto& parties) {
        const auto told = std::min(parties.size(), list_holders_max);
        for (std::size_t i = 0; i < told; ++i)
            bytes += party_bytes + parties[i].label.size();
    };
    add(view.holders);
    add(view.waiters);
    return bytes;
}

std::size_t locks_that_fit(const std::vector<core::LockView>& locks) {
    std::size_t fitting = 0;
    std::size_t bytes = 0;
    for (; fitting < std::min(locks.size(), list_locks_max); ++fitting) {
        bytes += lock_bytes(locks[fitting]);
        if (fitting > 0 && bytes > send_bytes_max) break;
    }
    return fitting;
}

void put(const ListReply& reply, wire::ListAnswer::Builder to) {
    auto locks = to.initLocks(size_of(locks_that_fit(reply.locks)));
    for (unsigned i = 0; i < locks.size(); ++i)
        put(reply.locks[i], locks[i]);
    to.setMore(reply.more || locks.size() < reply.locks.size());
}

ListReply get(CheckedReading& reading, wire::ListAnswer::Reader from) {
    ListReply reply;
    reading.list(from.getLocks(), list_locks_max, "ListAnswer.locks", [&](auto each) {
        auto lock = get(reading, each);
        const bool ascending = reply.locks.empty() || reply.locks.back().name < lock.name;
        if (!ascending) reading.fail(Malformed::bad_order, "ListAnswer.locks");
        reply.locks.push_back(std::move(lock));
    });
    reply.more = from.getMore();
    // The next request would be the same, for ever.
    if (reply.more && reply.locks.empty()) reading.fail(Malformed::bad_order, "ListAnswer.more");
    return reply;
}

}  // namespace

void write(const ListRequest& request, wire::ListRequest::Builder to) {
    MORTISE_CHECK(!request.is_exact);
    to.setPrefix(data_of(request.prefix));
    to.setAfter(data_of(request.after));
    to.setLimit(size_of(std::min(request.limit, list_locks_max)));
    to.setLocal(request.local);
}

core::Result<ListRequest> read(wire::ListRequest::Reader from) {
    CheckedReading reading;
    ListRequest request;
    request.prefix = reading.text(from.getPrefix(), core::name_bytes_max, "ListRequest.prefix");
    request.after = reading.text(from.getAfter(), core::name_bytes_max, "ListRequest.after");
    request.limit = std::clamp<std::size_t>(from.getLimit(), 1, list_locks_max);
    request.local = from.getLocal();
    return reading.finish(std::move(request));
}

void write(const ListAnswer& answer, wire::ListAnswer::Builder to) {
    std::visit(core::Overloaded{[&](const ListReply& reply) { put(reply, to); },
                                [&](core::CallError error) { to.setFailed(failure_of(error)); },
                                [&](const core::Denied& denied) {
                                    to.setDenied(data_of(text_of_denial(denied)));
                                }},
               answer);
}

core::Result<ListAnswer> read(wire::ListAnswer::Reader from) {
    CheckedReading reading;
    ListAnswer answer;
    switch (from.which()) {
        case wire::ListAnswer::LOCKS: answer = get(reading, from); break;
        case wire::ListAnswer::FAILED: answer = get_failure(reading, from.getFailed()); break;
        case wire::ListAnswer::DENIED: answer = get_denied(reading, from.getDenied()); break;
        default: reading.fail(Malformed::unknown_kind, "ListAnswer");
    }
    return reading.finish(std::move(answer));
}

}  // namespace mortise::transport
