#include "tools/mortise/json_form.hpp"

#include <chrono>
#include <iostream>
#include <string>

namespace mortise::cli {

namespace {

bool is_utf8(std::string_view bytes) {
    try {
        return !Json(std::string{bytes}).dump().empty();
    } catch (const Json::type_error&) {
        return false;
    }
}

std::string hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        text += digits[value >> 4U];
        text += digits[value & 15U];
    }
    return text;
}

Json json_of(const HolderInfo& holder) {
    Json json{{"node", holder.node},
              {"session", holder.session},
              {"label", json_text(holder.label)},
              {"mode", to_string(holder.mode)},
              {"token", holder.token.to_string()},
              {"since", holder.since},
              {"cached", holder.cached}};
    if (!holder.slots.empty()) json["slots"] = holder.slots;
    return json;
}

Json json_of(const WaiterInfo& waiter) {
    Json json{{"node", waiter.node},
              {"session", waiter.session},
              {"label", json_text(waiter.label)},
              {"mode", to_string(waiter.mode)},
              {"since", waiter.since},
              {"upgrades", waiter.upgrades},
              {"priority", waiter.priority}};
    if (waiter.permits != 0) json["permits"] = waiter.permits;
    return json;
}

// In milliseconds; an unknown time is null.
Json json_of(Duration time) {
    if (!time.is_set()) return nullptr;
    return std::chrono::ceil<std::chrono::milliseconds>(time.to_nanoseconds()).count();
}

Json json_of(const ClosureInfo& closure) {
    return {{"by", to_string(closure.by)},
            {"token", closure.token.to_string()},
            {"left_ms", json_of(closure.left)}};
}

Json json_of(const LockValue& value) {
    return {{"bytes", json_text(value.bytes)}, {"version", value.version}, {"dirty", value.dirty}};
}

bool has_holder(const Event& event) {
    using Kind = Event::Kind;
    const auto kind = event.kind;
    return kind != Kind::gap && kind != Kind::state && kind != Kind::state_complete &&
           event.holder.token.raw() != 0;
}

Json json_of(const MemberInfo& member) {
    return {{"id", member.id},
            {"role", to_string(member.role)},
            {"address", json_text(member.address)},
            {"connected", member.connected},
            {"matching", member.matching}};
}

Json json_of(const Status& status) {
    using std::chrono::duration_cast;
    using std::chrono::milliseconds;
    Json json{{"id", status.id},
              {"cluster", json_text(status.cluster)},
              {"cluster_id", status.cluster_id},
              {"role", to_string(status.role)},
              {"standing", to_string(status.standing)},
              {"term", status.term},
              {"leader", status.leader ? Json(*status.leader) : Json(nullptr)},
              {"commit_index", status.commit_index},
              {"applied_index", status.applied_index},
              {"first_index", status.first_index},
              {"address", json_text(status.address)},
              {"session", status.session == 0 ? Json(nullptr) : Json(status.session)},
              {"uptime_ms", duration_cast<milliseconds>(status.uptime.to_nanoseconds()).count()},
              {"version", json_text(status.version)},
              {"insecure", status.insecure},
              {"ready", status.ready},
              {"why_not_ready", json_text(status.why_not_ready)},
              {"members", Json::array()}};
    for (const auto& member : status.members)
        json["members"].push_back(json_of(member));
    return json;
}

}  // namespace

Json json_text(std::string_view bytes) {
    if (is_utf8(bytes)) return std::string{bytes};
    return {{"hex", hex(bytes)}};
}

Json json_of(const LockInfo& lock) {
    Json json{{"name", json_text(lock.name)},
              {"policy", to_string(lock.policy)},
              {"holders", Json::array()},
              {"waiters", Json::array()},
              {"holders_total", lock.holders_total},
              {"waiters_total", lock.waiters_total},
              {"truncated", lock.truncated},
              {"closed", lock.is_closed},
              {"closures", Json::array()}};
    for (const auto& closure : lock.closures)
        json["closures"].push_back(json_of(closure));
    if (lock.value) json["value"] = json_of(*lock.value);
    if (lock.limit)
        json["limit"] = {{"permits", lock.limit->permits}, {"version", lock.limit->version}};
    if (lock.latch) json["latch"] = {{"remaining", lock.latch->remaining}};
    if (lock.barrier)
        json["barrier"] = {{"parties", lock.barrier->parties},
                           {"arrived", lock.barrier->arrived},
                           {"phase", lock.barrier->number},
                           {"broken", lock.barrier->is_broken},
                           {"members", Json::array()}};
    for (const auto& member : lock.members)
        json["barrier"]["members"].push_back({{"node", member.node},
                                              {"session", member.session},
                                              {"parties", member.parties},
                                              {"arrived", member.arrived}});
    for (const auto& holder : lock.holders)
        json["holders"].push_back(json_of(holder));
    for (const auto& waiter : lock.waiters)
        json["waiters"].push_back(json_of(waiter));
    return json;
}

void print(const Json& json) {
    std::cout << json.dump(2) << '\n';
}

Json json_of(const MemberReport& report) {
    Json json{{"peer", json_text(report.address)}};
    if (report.error)
        json["problem"] = json_text(report.problem);
    else
        json["status"] = json_of(report.status);
    return json;
}

Json json_of(const SessionInfo& session) {
    return {{"session", session.id},
            {"node", session.node == 0 ? Json(nullptr) : Json(session.node)},
            {"label", json_text(session.label)},
            {"age_ms", json_of(session.age)},
            {"ttl_ms", json_of(session.ttl)},
            {"left_ms", json_of(session.lease_left)},
            {"holds", session.holds},
            {"waits", session.waits}};
}

// Only with what its kind has.
Json json_of(const Event& event) {
    Json json{{"event", to_string(event.kind)}};
    if (event.position.is_set()) json["position"] = event.position.to_string();
    if (!event.name.empty()) json["name"] = json_text(event.name);
    if (has_holder(event)) json["holder"] = json_of(event.holder);
    if (event.kind == Event::Kind::released) json["how"] = to_string(event.how);
    if (event.kind == Event::Kind::state) {
        json["holders"] = Json::array();
        for (const auto& holder : event.holders)
            json["holders"].push_back(json_of(holder));
    }
    if (event.value) json["value"] = json_of(*event.value);
    return json;
}

}  // namespace mortise::cli
