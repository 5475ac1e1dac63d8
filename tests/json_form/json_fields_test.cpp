// Every field of every public struct is in its JSON. A field that is added to a struct does not
// compile here, as its names are bound one by one, and fails until its JSON has it.
#include "embed/json_form/fields.hpp"
#include "embed/json_form/json_form.hpp"
#include "embed/json_form/written.hpp"
#include "tests/support/shown_fields.hpp"

namespace mortise::json_form {
namespace {

using tests::expect_each_shown;

constexpr Detail whole{.value_bytes = true};

template <class Object, class... More>
auto json_of_it(const Object& object, const More&... more) {
    return [&object, more...] {
        auto text = json_of(object, more...).dump();
        EXPECT_EQ(Fields<Written>::json_of(object, more...).text(), text);
        return text;
    };
}

TEST(JsonFields, OfAHolder) {
    HolderInfo holder;
    auto& [node, session, label, mode, token, since, cached, slots, lease_left, age, origin] =
        holder;
    mode = LockMode::shared;
    expect_each_shown(json_of_it(holder), node, session, label, mode, token, since, cached, slots,
                      lease_left, age, origin);
}

TEST(JsonFields, OfAWaiter) {
    WaiterInfo waiter;
    auto& [node, session, label, mode, since, upgrades, priority, permits, age, origin] = waiter;
    mode = LockMode::shared;
    expect_each_shown(json_of_it(waiter), node, session, label, mode, since, upgrades, priority,
                      permits, age, origin);
}

TEST(JsonFields, OfAnOrigin) {
    SessionInfo session;
    auto& [host, program, pid, address] = session.origin;
    expect_each_shown(json_of_it(session), host, program, pid, address);
}

TEST(JsonFields, OfAClosure) {
    ClosureInfo closure;
    auto& [by, token, left] = closure;
    expect_each_shown(json_of_it(closure), by, token, left);
}

TEST(JsonFields, OfAMemberOfABarrier) {
    BarrierMember member;
    auto& [node, session, parties, arrived] = member;
    expect_each_shown(json_of_it(member), node, session, parties, arrived);
}

TEST(JsonFields, OfALock) {
    LockInfo lock;
    auto& [name, policy, holders, waiters, value, is_closed, closed_under, closures, holders_total,
           waiters_total, closures_total, truncated, limit, latch, barrier, members] = lock;
    expect_each_shown(json_of_it(lock, whole), name, policy, holders, waiters, value, is_closed,
                      closed_under, closures, holders_total, waiters_total, closures_total,
                      truncated, limit, latch, barrier, members);
}

TEST(JsonFields, OfAValue) {
    LockInfo lock;
    auto& [bytes, version, dirty] = lock.value.emplace();
    expect_each_shown(json_of_it(lock, whole), bytes, version, dirty);
}

TEST(JsonFields, OfWhatALockIsUsedAs) {
    LockInfo lock;
    const auto shown = json_of_it(lock);
    auto& [permits, version] = lock.limit.emplace();
    expect_each_shown(shown, permits, version);
    auto& [remaining] = lock.latch.emplace();
    expect_each_shown(shown, remaining);
    auto& [parties, arrived, number, is_broken] = lock.barrier.emplace();
    expect_each_shown(shown, parties, arrived, number, is_broken);
}

TEST(JsonFields, OfASession) {
    SessionInfo session;
    auto& [id, node, label, age, ttl, lease_left, holds, waits, origin] = session;
    expect_each_shown(json_of_it(session), id, node, label, age, ttl, lease_left, holds, waits,
                      origin);
}

TEST(JsonFields, OfAContendedName) {
    ContendedName contended;
    auto& [name, kind, holders, waiters, oldest_wait] = contended;
    expect_each_shown(json_of_it(contended), name, kind, holders, waiters, oldest_wait);
}

TEST(JsonFields, OfAPrefix) {
    PrefixActivity activity;
    auto& [prefix, holders, waiters, contended_names, grants, oldest_wait] = activity;
    expect_each_shown(json_of_it(activity), prefix, holders, waiters, contended_names, grants,
                      oldest_wait);
}

TEST(JsonFields, OfRates) {
    ActivityRates rates;
    auto& [length, grants, releases, losses, waiters_max, wait_p50, wait_p99, hold_p50, hold_p99] =
        rates;
    expect_each_shown(json_of_it(rates), length, grants, releases, losses, waiters_max, wait_p50,
                      wait_p99, hold_p50, hold_p99);
}

TEST(JsonFields, OfTheActivity) {
    Activity activity;
    auto& [node, cluster, leader, members, sessions, names, waiters, contended_names, oldest_wait,
           hottest, prefixes, recent, slots] = activity;
    expect_each_shown(json_of_it(activity), node, cluster, leader, members, sessions, names,
                      waiters, contended_names, oldest_wait);
    const auto shown = json_of_it(activity);
    EXPECT_EQ(shown().find("\"kind\""), std::string::npos);
    hottest.emplace_back();
    prefixes.emplace_back();
    slots.emplace_back();
    recent.grants = 4711;
    for (const auto* part : {"\"kind\"", "\"prefix\"", "4711", "\"slots\":[{"})
        EXPECT_NE(shown().find(part), std::string::npos) << part;
}

TEST(JsonFields, OfAMember) {
    MemberInfo member;
    auto& [id, role, address, connected, matching, leaving, incarnation] = member;
    expect_each_shown(json_of_it(member), id, role, address, connected, matching, leaving,
                      incarnation);
}

TEST(JsonFields, OfAStatus) {
    Status status;
    auto& [id, cluster, cluster_id, role, standing, term, leader, commit_index, applied_index,
           first_index, members, session, address, uptime, version, ready, why_not_ready, stopped,
           why_stopped, insecure, durability, forgetful, served_by] = status;
    expect_each_shown(json_of_it(status), id, cluster, cluster_id, role, standing, term, leader,
                      commit_index, applied_index, first_index, members, session, address, uptime,
                      version, ready, why_not_ready, stopped, why_stopped, insecure, durability,
                      forgetful, served_by);
}

TEST(JsonFields, OfAReport) {
    MemberReport report;
    auto& [address, error, problem, status, timing, voters] = report;
    expect_each_shown(json_of_it(report), address, status, timing, voters, error, problem);
}

TEST(JsonFields, OfTheTimesOfAMember) {
    MemberReport report;
    auto& [election_timeout, heartbeat, session_ttl] = report.timing;
    expect_each_shown(json_of_it(report), election_timeout, heartbeat, session_ttl);
}

TEST(JsonFields, OfAChange) {
    Event event;
    auto& [kind, position, name, holder, how, holders, value] = event;
    kind = Event::Kind::converted;
    const auto shown = json_of_it(event, whole);
    expect_each_shown(shown, position, name, holder, kind);
    kind = Event::Kind::released;
    expect_each_shown(shown, how, value);
    kind = Event::Kind::state;
    expect_each_shown(shown, holders);
}

TEST(JsonFields, OfAnEventOfTheNode) {
    NodeEvent event;
    auto& [kind, text, peer, session, name, token, reason, error, took, asked_by, label] = event;
    expect_each_shown(json_of_it(event), kind, text, peer, session, name, token, reason, error,
                      took, asked_by, label);
}

}  // namespace
}  // namespace mortise::json_form
