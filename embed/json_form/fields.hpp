// What the public structs look like as JSON: see json_form.hpp. `Json` is that of nlohmann, or
// Written, which has what is used here.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "embed/json_form/detail.hpp"
#include "embed/json_form/kind_facts.hpp"
#include "embed/json_form/leader_value.hpp"
#include "embed/json_form/plain_text.hpp"
#include <mortise/activity.hpp>
#include <mortise/escaped.hpp>
#include <mortise/event.hpp>
#include <mortise/info.hpp>
#include <mortise/metrics.hpp>
#include <mortise/observe.hpp>
#include <mortise/remote.hpp>

namespace mortise::json_form {

template <class Json>
struct Fields {
    // Text that is valid UTF-8 is a string; other bytes are {"hex": "...", "shown": "..."}.
    static Json text(std::string_view bytes) {
        if (is_utf8(bytes)) return Json(std::string{bytes});
        return {{"hex", hex_of(bytes)}, {"shown", escaped_name(bytes)}};
    }

    // In milliseconds, rounded up; null if it is not set.
    static Json ms(Duration time) {
        if (!time.is_set()) return Json(nullptr);
        return Json(std::chrono::ceil<std::chrono::milliseconds>(time.to_nanoseconds()).count());
    }

    // In microseconds: waits of a fast cluster are shorter than a millisecond.
    static Json us(Duration time) {
        return Json(std::chrono::ceil<std::chrono::microseconds>(time.to_nanoseconds()).count());
    }

    template <class List, class... More>
    static Json list(const List& all, const More&... detail) {
        auto json = Json::array();
        for (const auto& each : all)
            json.push_back(json_of(each, detail...));
        return json;
    }

    template <class Number>
    static Json null_if_zero(Number number) {
        return number == 0 ? Json(nullptr) : Json(number);
    }

    static Json null_if_zero(Duration time) {
        return time == Duration{} ? Json(nullptr) : ms(time);
    }

    // What is known of it.
    static Json json_of(const Origin& origin) {
        auto json = Json::object();
        if (!origin.host.empty()) json["host"] = text(origin.host);
        if (!origin.program.empty()) json["program"] = text(origin.program);
        if (origin.pid != 0) json["pid"] = origin.pid;
        if (!origin.address.empty()) json["address"] = text(origin.address);
        return json;
    }

    // Since when, and from where: what is not known is left out.
    template <class Party>
    static void add_age_and_origin(const Party& party, Json& json) {
        if (party.age.is_set()) json["age_ms"] = ms(party.age);
        if (party.origin != Origin{}) json["origin"] = json_of(party.origin);
    }

    static Json json_of_value(const LockValue& value, const Detail& detail) {
        auto json = Json::object();
        if (detail.value_bytes && value.bytes.size() <= detail.value_bytes_max)
            json["bytes"] = text(value.bytes);
        json["version"] = value.version;
        json["dirty"] = value.dirty;
        return json;
    }

    // What it is besides a lock.
    static Json json_of_kind(const KindFacts& facts) {
        auto json = Json::object();
        for (const auto& [name, value] : facts.values)
            std::visit([&, key = std::string{name}](auto one) { json[key] = one; }, value);
        return json;
    }

    static Json json_of(const HolderInfo& holder, const Detail& detail = {}) {
        Json json{{"node", holder.node},
                  {"session", holder.session},
                  {"label", text(holder.label)},
                  {"mode", to_string(holder.mode)},
                  {"token", holder.token.to_string()},
                  {"since", holder.since},
                  {"cached", holder.cached},
                  {"lease_left_ms", ms(holder.lease_left)}};
        add_age_and_origin(holder, json);
        const auto& slots = holder.slots;
        if (slots.empty()) return json;
        const auto told = static_cast<std::ptrdiff_t>(std::min(slots.size(), detail.slots_max));
        json["slots"] = std::vector(slots.begin(), slots.begin() + told);
        json["slots_total"] = slots.size();
        return json;
    }

    static Json json_of(const WaiterInfo& waiter) {
        Json json{{"node", waiter.node},         {"session", waiter.session},
                  {"label", text(waiter.label)}, {"mode", to_string(waiter.mode)},
                  {"since", waiter.since},       {"upgrades", waiter.upgrades},
                  {"priority", waiter.priority}};
        if (waiter.permits != 0) json["permits"] = waiter.permits;
        add_age_and_origin(waiter, json);
        return json;
    }

    static Json json_of(const ClosureInfo& closure) {
        return {{"by", to_string(closure.by)},
                {"token", closure.token.to_string()},
                {"left_ms", ms(closure.left)}};
    }

    static Json json_of(const BarrierMember& member) {
        return {{"node", member.node},
                {"session", member.session},
                {"parties", member.parties},
                {"arrived", member.arrived}};
    }

    static Json json_of(const LockInfo& lock, const Detail& detail = {}) {
        const auto& under = lock.closed_under;
        Json json{{"name", text(lock.name)},
                  {"kind", to_string(kind_of(lock))},
                  {"policy", to_string(lock.policy)},
                  {"holders", list(lock.holders, detail)},
                  {"waiters", list(lock.waiters)},
                  {"holders_total", lock.holders_total},
                  {"waiters_total", lock.waiters_total},
                  {"closures_total", lock.closures_total},
                  {"truncated", lock.truncated},
                  {"closed", lock.is_closed},
                  {"closed_under", under.is_set() ? Json(under.to_string()) : Json(nullptr)},
                  {"closures", list(lock.closures)}};
        if (lock.value) json["value"] = json_of_value(*lock.value, detail);
        if (const auto leads = leader_value(lock)) json["election"] = {{"value", text(*leads)}};
        for (const auto& facts : facts_of(lock)) {
            auto of_kind = json_of_kind(facts);
            if (facts.kind == NameKind::barrier && detail.barrier_members)
                of_kind["members"] = list(lock.members);
            json[std::string{facts.key}] = std::move(of_kind);
        }
        return json;
    }

    static Json json_of(const SessionInfo& session) {
        Json json{{"session", session.id},
                  {"node", session.node},
                  {"label", text(session.label)},
                  {"ttl_ms", ms(session.ttl)},
                  {"left_ms", ms(session.lease_left)},
                  {"holds", session.holds},
                  {"waits", session.waits}};
        add_age_and_origin(session, json);
        return json;
    }

    static Json json_of(const ContendedName& name) {
        return {{"name", text(name.name)},
                {"kind", to_string(name.kind)},
                {"holders", name.holders},
                {"waiters", name.waiters},
                {"oldest_wait_ms", ms(name.oldest_wait)}};
    }

    static Json json_of(const PrefixActivity& prefix) {
        return {{"prefix", prefix.prefix.empty() ? Json(nullptr) : text(prefix.prefix)},
                {"holders", prefix.holders},
                {"waiters", prefix.waiters},
                {"contended_names", prefix.contended_names},
                {"grants", prefix.grants},
                {"oldest_wait_ms", ms(prefix.oldest_wait)}};
    }

    static Json json_of(const ActivityRates& rates) {
        return {{"length_ms", ms(rates.length)},     {"grants", rates.grants},
                {"releases", rates.releases},        {"losses", rates.losses},
                {"waiters_max", rates.waiters_max},  {"wait_p50_us", us(rates.wait_p50)},
                {"wait_p99_us", us(rates.wait_p99)}, {"hold_p50_us", us(rates.hold_p50)},
                {"hold_p99_us", us(rates.hold_p99)}};
    }

    static Json json_of(const Activity& activity) {
        return {{"node", activity.node},
                {"cluster", text(activity.cluster)},
                {"leader", null_if_zero(activity.leader)},
                {"members", activity.members},
                {"sessions", activity.sessions},
                {"names", activity.names},
                {"waiters", activity.waiters},
                {"contended_names", activity.contended_names},
                {"oldest_wait_ms", ms(activity.oldest_wait)},
                {"hottest", list(activity.hottest)},
                {"prefixes", list(activity.prefixes)},
                {"recent", json_of(activity.recent)},
                {"slots", list(activity.slots)}};
    }

    static Json json_of(const DurationHistogram& times) {
        return {{"counts", std::vector(times.counts.begin(), times.counts.end())},
                {"sum_us", times.sum_us}};
    }

    static Json json_of(const AcquireResults& results) {
        return {{"granted", results.granted},       {"busy", results.busy},
                {"timed_out", results.timed_out},   {"cancelled", results.cancelled},
                {"deadlocked", results.deadlocked}, {"refused", results.refused},
                {"failed", results.failed}};
    }

    static void add_calls(const Metrics& metrics, Json& json) {
        json["acquires"] = metrics.acquires;
        json["granted"] = metrics.granted;
        json["busy"] = metrics.busy;
        json["timed_out"] = metrics.timed_out;
        json["cancelled"] = metrics.cancelled;
        json["failed"] = metrics.failed;
        json["released"] = metrics.released;
        json["holds_lost"] = metrics.holds_lost;
        json["calls_refused"] = metrics.calls_refused;
        json["holds"] = metrics.holds;
        json["waits"] = metrics.waits;
        json["served_from_cache"] = metrics.served_from_cache;
        json["acquire_results"] = json_of(metrics.acquire_results);
        json["handed_over"] = metrics.handed_over;
        json["holds_released"] = metrics.holds_released;
        json["lost_expired"] = metrics.lost_expired;
        json["lost_broken"] = metrics.lost_broken;
        json["lost_node_stopped"] = metrics.lost_node_stopped;
        json["lost_untold"] = metrics.lost_untold;
        json["sessions_opened"] = metrics.sessions_opened;
        json["sessions_expired"] = metrics.sessions_expired;
    }

    static void add_cluster(const Metrics& metrics, Json& json) {
        json["names"] = metrics.names;
        json["sessions"] = metrics.sessions;
        json["leader_changes"] = metrics.leader_changes;
        json["elections_started"] = metrics.elections_started;
        json["entries_applied"] = metrics.entries_applied;
        json["commands_applied"] = metrics.commands_applied;
        json["states_taken_over"] = metrics.states_taken_over;
        json["snapshots_sent"] = metrics.snapshots_sent;
        json["locks_broken"] = metrics.locks_broken;
        json["waiters"] = metrics.waiters;
        json["contended_names"] = metrics.contended_names;
        json["oldest_wait_ms"] = ms(metrics.oldest_wait);
        json["hottest"] = list(metrics.hottest);
        json["prefixes"] = list(metrics.prefixes);
    }

    static void add_internals(const Metrics& metrics, Json& json) {
        json["log_writes"] = metrics.log_writes;
        json["log_bytes"] = metrics.log_bytes;
        json["log_memory_bytes"] = metrics.log_memory_bytes;
        json["unsaved_bytes"] = metrics.unsaved_bytes;
        json["unsynced_writes"] = metrics.unsynced_writes;
        json["background_syncs"] = metrics.background_syncs;
        json["unsynced_age_ms"] = ms(metrics.unsynced_age);
        json["messages_sent"] = metrics.messages_sent;
        json["messages_received"] = metrics.messages_received;
        json["messages_refused"] = metrics.messages_refused;
        json["messages_dropped"] = metrics.messages_dropped;
        json["connections_refused"] = metrics.connections_refused;
        json["handshakes_failed"] = metrics.handshakes_failed;
        json["certificate_left_ms"] = ms(metrics.certificate_left);
        json["loop_overruns"] = metrics.loop_overruns;
        json["late_callbacks"] = metrics.late_callbacks;
        json["slowest_loop_turn_us"] = us(metrics.slowest_loop_turn);
        json["slowest_log_write_us"] = us(metrics.slowest_log_write);
        json["log_lines_left_out"] = metrics.log_lines_left_out;
    }

    static Json json_of(const Metrics& metrics) {
        auto json = Json::object();
        add_calls(metrics, json);
        add_cluster(metrics, json);
        add_internals(metrics, json);
        json["acquire_time"] = json_of(metrics.acquire_time);
        json["hold_time"] = json_of(metrics.hold_time);
        json["commit_time"] = json_of(metrics.commit_time);
        json["log_write_time"] = json_of(metrics.log_write_time);
        json["renewal_slack"] = json_of(metrics.renewal_slack);
        json["hand_over_time"] = json_of(metrics.hand_over_time);
        return json;
    }

    static Json json_of(const MemberInfo& member) {
        return {{"id", member.id},
                {"role", to_string(member.role)},
                {"address", text(member.address)},
                {"connected", member.connected},
                {"leaving", member.leaving},
                {"matching", null_if_zero(member.matching)},
                {"incarnation", hexadecimal(member.incarnation)}};
    }

    static Json json_of(const Status& status) {
        return {{"id", status.id},
                {"cluster", text(status.cluster)},
                {"cluster_id", status.cluster_id},
                {"role", to_string(status.role)},
                {"standing", to_string(status.standing)},
                {"term", status.term},
                {"leader", status.leader ? Json(*status.leader) : Json(nullptr)},
                {"served_by", status.served_by ? Json(*status.served_by) : Json(nullptr)},
                {"commit_index", status.commit_index},
                {"applied_index", status.applied_index},
                {"first_index", status.first_index},
                {"address", text(status.address)},
                {"session", null_if_zero(status.session)},
                {"uptime_ms", ms(status.uptime)},
                {"version", text(status.version)},
                {"insecure", status.insecure},
                {"durability", to_string(status.durability)},
                {"forgetful", status.forgetful},
                {"ready", status.ready},
                {"why_not_ready", text(status.why_not_ready)},
                {"stopped", status.stopped},
                {"why_stopped", text(status.why_stopped)},
                {"members", list(status.members)}};
    }

    static Json json_of(const MemberReport& report) {
        Json json{{"peer", text(report.address)}};
        if (report.error) {
            json["problem"] = text(report.problem);
            return json;
        }
        json["status"] = json_of(report.status);
        json["timing"] = {{"election_timeout_ms", null_if_zero(report.timing.election_timeout)},
                          {"heartbeat_ms", null_if_zero(report.timing.heartbeat)},
                          {"session_ttl_ms", null_if_zero(report.timing.session_ttl)}};
        json["voters"] = report.voters;
        return json;
    }

    static Json json_of(const Event& event, const Detail& detail = {}) {
        Json json{{"event", to_string(event.kind)}};
        if (event.position.is_set()) json["position"] = event.position.to_string();
        if (!event.name.empty()) json["name"] = text(event.name);
        if (event.holder.token.is_set()) json["holder"] = json_of(event.holder, detail);
        if (event.kind == Event::Kind::released) json["how"] = to_string(event.how);
        if (event.kind == Event::Kind::state) json["holders"] = list(event.holders, detail);
        if (event.value) json["value"] = json_of_value(*event.value, detail);
        return json;
    }

    static Json json_of(const NodeEvent& event) {
        Json json{{"event", to_string(event.kind)}};
        if (!event.text.empty()) json["text"] = text(event.text);
        if (event.peer != 0) json["peer"] = event.peer;
        if (event.session != 0) json["session"] = event.session;
        if (!event.name.empty()) json["name"] = text(event.name);
        if (event.token.is_set()) json["token"] = event.token.to_string();
        if (!event.label.empty()) json["label"] = text(event.label);
        if (event.reason != LossReason::none) json["reason"] = to_string(event.reason);
        if (event.error) json["error"] = text(event.error.message());
        if (event.took > Duration::zero()) json["took_ms"] = ms(event.took);
        if (!event.asked_by.empty()) json["asked_by"] = text(event.asked_by);
        return json;
    }
};

}  // namespace mortise::json_form
