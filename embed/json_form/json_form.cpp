#include "embed/json_form/json_form.hpp"

#include <chrono>

#include "embed/json_form/fields.hpp"

namespace mortise::json_form {

namespace {

// Waits of a fast cluster are shorter than a millisecond.
Json json_us(Duration time) {
    return std::chrono::ceil<std::chrono::microseconds>(time.to_nanoseconds()).count();
}

}  // namespace

Json json_of(const HolderInfo& holder, const Detail& detail) {
    return Fields<Json>::json_of(holder, detail);
}

Json json_of(const WaiterInfo& waiter) {
    return Fields<Json>::json_of(waiter);
}

Json json_of(const ClosureInfo& closure) {
    return Fields<Json>::json_of(closure);
}

Json json_of(const BarrierMember& member) {
    return Fields<Json>::json_of(member);
}

Json json_of(const LockInfo& lock, const Detail& detail) {
    return Fields<Json>::json_of(lock, detail);
}

Json json_of(const SessionInfo& session) {
    return Fields<Json>::json_of(session);
}

Json json_of(const ContendedName& name) {
    return {{"name", json_text(name.name)},
            {"kind", to_string(name.kind)},
            {"holders", name.holders},
            {"waiters", name.waiters},
            {"oldest_wait_ms", json_ms(name.oldest_wait)}};
}

Json json_of(const PrefixActivity& prefix) {
    return {{"prefix", prefix.prefix.empty() ? Json(nullptr) : json_text(prefix.prefix)},
            {"holders", prefix.holders},
            {"waiters", prefix.waiters},
            {"contended_names", prefix.contended_names},
            {"grants", prefix.grants},
            {"oldest_wait_ms", json_ms(prefix.oldest_wait)}};
}

Json json_of(const ActivityRates& rates) {
    return {{"length_ms", json_ms(rates.length)},
            {"grants", rates.grants},
            {"releases", rates.releases},
            {"losses", rates.losses},
            {"waiters_max", rates.waiters_max},
            {"wait_p50_us", json_us(rates.wait_p50)},
            {"wait_p99_us", json_us(rates.wait_p99)},
            {"hold_p50_us", json_us(rates.hold_p50)},
            {"hold_p99_us", json_us(rates.hold_p99)}};
}

Json json_of(const Activity& activity) {
    return {{"node", activity.node},
            {"cluster", json_text(activity.cluster)},
            {"leader", Fields<Json>::null_if_zero(activity.leader)},
            {"members", activity.members},
            {"sessions", activity.sessions},
            {"names", activity.names},
            {"waiters", activity.waiters},
            {"contended_names", activity.contended_names},
            {"oldest_wait_ms", json_ms(activity.oldest_wait)},
            {"hottest", json_list(activity.hottest)},
            {"prefixes", json_list(activity.prefixes)},
            {"recent", json_of(activity.recent)},
            {"slots", json_list(activity.slots)}};
}

Json json_of(const MemberInfo& member) {
    return Fields<Json>::json_of(member);
}

Json json_of(const Status& status) {
    return Fields<Json>::json_of(status);
}

Json json_of(const MemberReport& report) {
    return Fields<Json>::json_of(report);
}

Json json_of(const Event& event, const Detail& detail) {
    return Fields<Json>::json_of(event, detail);
}

Json json_of(const NodeEvent& event) {
    return Fields<Json>::json_of(event);
}

}  // namespace mortise::json_form
