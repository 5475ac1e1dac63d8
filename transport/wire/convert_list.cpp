#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/check.hpp"
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

core::NodeId node_of(const core::LockView& view, core::OperationId operation) {
    return view.nodes.at(operation.session);
}

core::OperationId get_owner(CheckedReading& reading, auto from, core::LockView& view) {
    const auto operation = get_operation(reading, from.getOperation());
    view.nodes[operation.session] = core::NodeId{from.getNode()};
    return operation;
}

void put_age(const core::LockView& view, core::LogIndex since, auto to) {
    if (const auto age = view.age_of(since)) to.setAgeNs(age->count());
}

void note_age(core::LogIndex since, std::int64_t age_ns, core::LockView& view) {
    if (const auto age = get_age(age_ns)) view.ages.insert_or_assign(since, *age);
}

// Of the sessions of holders and waiters that are told.
void put_origins(const core::LockView& view, wire::Lock::Builder to) {
    if (view.origins.empty()) return;
    auto origins = to.initOrigins(size_of(std::min(view.origins.size(), list_origins_max)));
    auto next = view.origins.begin();
    for (unsigned i = 0; i < origins.size(); ++i, ++next) {
        origins[i].setSession(next->first.raw());
        put_origin(next->second, origins[i].initOrigin());
    }
}

void get_origins(CheckedReading& reading, wire::Lock::Reader from, core::LockView& view) {
    reading.list(from.getOrigins(), list_origins_max, "Lock.origins", [&](auto each) {
        const auto session =
            reading.set<core::SessionId>(each.getSession(), "Lock.origins.session");
        view.origins.insert_or_assign(session, get_origin(reading, each.getOrigin()));
    });
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

void put(const core::Semaphore::View& semaphore, wire::Lock::Builder to) {
    to.setLimit(semaphore.permits);
    to.setLimitVersion(semaphore.version);
}

void put(const core::Latch::View& latch, wire::Lock::Builder to) {
    to.setIsLatch(true);
    to.setRemaining(latch.remaining);
}

void put(const core::Barrier::View& barrier, wire::Lock::Builder to) {
    to.setIsBarrier(true);
    to.setIsBroken(barrier.is_broken);
    to.setParties(barrier.parties);
    to.setArrived(barrier.arrived);
    to.setPhase(barrier.phase);
    auto members = to.initMembers(size_of(std::min(barrier.members.size(), list_holders_max)));
    for (unsigned i = 0; i < members.size(); ++i) {
        members[i].setSession(barrier.members[i].session.raw());
        members[i].setNode(barrier.members[i].node.raw());
        members[i].setParties(barrier.members[i].parties);
        members[i].setArrived(barrier.members[i].arrived);
    }
}

void get_kinds(CheckedReading& reading, wire::Lock::Reader from, core::LockView& view) {
    if (from.getLimitVersion() != 0)
        view.become(core::Semaphore::View{from.getLimit(), from.getLimitVersion()});
    if (from.getIsLatch()) view.become(core::Latch::View{from.getRemaining()});
    if (!from.getIsBarrier()) return;
    core::Barrier::View barrier{from.getParties(), from.getArrived(), from.getPhase(),
                                from.getIsBroken()};
    reading.list(from.getMembers(), list_holders_max, "Lock.members", [&](auto each) {
        barrier.members.push_back(
            {reading.set<core::SessionId>(each.getSession(), "Lock.members.session"),
             core::NodeId{each.getNode()}, each.getParties(), each.getArrived()});
    });
    view.become(std::move(barrier));
}

void put(const core::LockView& view, wire::Lock::Builder to) {
    to.setName(data_of(view.name));
    to.setPolicy(static_cast<wire::QueuePolicy>(view.policy));
    auto holders = to.initHolders(size_of(std::min(view.holders.size(), list_holders_max)));
    for (unsigned i = 0; i < holders.size(); ++i) {
        const auto& hold = view.holders[i];
        put_hold(hold, hold.operation, node_of(view, hold.operation), holders[i]);
        put_age(view, hold.since, holders[i]);
    }
    auto waiters = to.initWaiters(size_of(std::min(view.waiters.size(), list_holders_max)));
    for (unsigned i = 0; i < waiters.size(); ++i) {
        const auto& waiting = view.waiters[i];
        put_party(waiting, waiting.operation, node_of(view, waiting.operation), waiters[i]);
        waiters[i].setUpgrades(waiting.upgrades.raw());
        waiters[i].setPriority(waiting.priority);
        waiters[i].setPermits(waiting.permits);
        put_age(view, waiting.since, waiters[i]);
    }
    put_origins(view, to);
    to.setHoldersTotal(view.holders_total);
    to.setWaitersTotal(view.waiters_total);
    put_closings(view, to);
    std::apply([&](const auto&... kind) { ((kind ? put(*kind, to) : void()), ...); }, view.kinds);
    put_value(view.value, to);
}

core::LockView get(CheckedReading& reading, wire::Lock::Reader from) {
    core::LockView view;
    view.name = reading.text(from.getName(), core::name_bytes_max, "Lock.name");
    if (view.name.empty()) reading.fail(Malformed::bad_number, "Lock.name");
    view.policy = reading.known(from.getPolicy(), core::QueuePolicy::prefer_writers, "Lock.policy");
    reading.list(from.getHolders(), list_holders_max, "Lock.holders", [&](auto each) {
        auto& hold = view.holders.emplace_back();
        hold.operation = get_owner(reading, each, view);
        get_hold(reading, each, hold);
        note_age(hold.since, each.getAgeNs(), view);
        if (!hold.token.is_set()) reading.fail(Malformed::bad_number, "Lock.holders.token");
    });
    reading.list(from.getWaiters(), list_holders_max, "Lock.waiters", [&](auto each) {
        auto& waiting = view.waiters.emplace_back();
        waiting.operation = get_owner(reading, each, view);
        get_party(reading, each, waiting, "Lock.waiters");
        waiting.upgrades = core::Seq{each.getUpgrades()};
        waiting.priority = each.getPriority();
        waiting.permits = each.getPermits();
        note_age(waiting.since, each.getAgeNs(), view);
    });
    get_origins(reading, from, view);
    view.holders_total = from.getHoldersTotal();
    view.waiters_total = from.getWaitersTotal();
    get_closings(reading, from, view);
    get_kinds(reading, from, view);
    view.value = get_value(reading, from);
    return view;
}

// An upper bound of the bytes that describe a lock.
std::size_t lock_bytes(const core::LockView& view) {
    constexpr std::size_t party_bytes = 14 * word_bytes;
    constexpr std::size_t closing_bytes = 3 * word_bytes;
    constexpr std::size_t member_bytes = 4 * word_bytes;
    std::size_t bytes = view.name.size() + 2 * party_bytes;
    for (const auto& holder : view.holders)
        bytes += sizeof(core::Slots::value_type) * holder.slots.size();
    bytes += closing_bytes * std::min(view.closings.size(), list_closings_max);
    if (const auto* barrier = view.as<core::Barrier>())
        bytes += member_bytes * std::min(barrier->members.size(), list_holders_max);
    if (view.value) bytes += view.value->bytes.size();
    for (const auto& [session, origin] : view.origins)
        bytes += origin_bytes(origin);
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

void put_list(const ListReply& reply, wire::ListAnswer::Builder to) {
    auto locks = to.initLocks(size_of(locks_that_fit(reply.locks)));
    for (unsigned i = 0; i < locks.size(); ++i)
        put(reply.locks[i], locks[i]);
    to.setMore(reply.more || locks.size() < reply.locks.size());
}

ListReply get_list(CheckedReading& reading, wire::ListAnswer::Reader from) {
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
    write_answer(answer, to, put_list);
}

core::Result<ListAnswer> read(wire::ListAnswer::Reader from) {
    return read_answer(from, wire::ListAnswer::LOCKS, "ListAnswer", get_list);
}

}  // namespace mortise::transport
