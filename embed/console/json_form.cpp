#include "embed/console/json_form.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <mortise/escaped.hpp>

namespace mortise::console {

namespace {

constexpr std::string_view digits = "0123456789abcdef";
// How many slots of one holder are shown.
constexpr std::size_t slots_max = 64;

bool is_utf8(std::string_view bytes) {
    try {
        return !Json(std::string{bytes}).dump().empty();
    } catch (const Json::type_error&) {
        return false;
    }
}

std::string hex(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        text += digits[value >> 4U];
        text += digits[value & 15U];
    }
    return text;
}

std::optional<std::string> bytes_of_hex(const std::string& text) {
    std::string bytes;
    if (text.size() % 2 != 0) return std::nullopt;
    for (std::size_t at = 0; at < text.size(); at += 2) {
        const auto high = digits.find(text[at]);
        const auto low = digits.find(text[at + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
        bytes += static_cast<char>(high << 4U | low);
    }
    return bytes;
}

Json json_of(const HolderInfo& holder) {
    Json json{{"node", holder.node},
              {"session", holder.session},
              {"label", json_text(holder.label)},
              {"mode", to_string(holder.mode)},
              {"token", holder.token.to_string()},
              {"since", holder.since},
              {"cached", holder.cached},
              {"lease_left_ms", json_ms(holder.lease_left)}};
    if (holder.slots.empty()) return json;
    const auto shown = std::min(holder.slots.size(), slots_max);
    json["slots"] = Json(std::vector(holder.slots.begin(),
                                     holder.slots.begin() + static_cast<std::ptrdiff_t>(shown)));
    json["slots_total"] = holder.slots.size();
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

Json json_of(const ClosureInfo& closure) {
    return {{"by", to_string(closure.by)},
            {"token", closure.token.to_string()},
            {"left_ms", json_ms(closure.left)}};
}

// Its bytes are the program's, and not shown.
Json json_of(const LockValue& value) {
    return {{"version", value.version}, {"dirty", value.dirty}};
}

template <class List>
Json list_of(const List& list) {
    auto json = Json::array();
    for (const auto& each : list)
        json.push_back(json_of(each));
    return json;
}

// What the name is used as.
std::string_view kind_of(const LockInfo& lock) {
    if (lock.limit) return "semaphore";
    if (lock.latch) return "latch";
    if (lock.barrier) return "barrier";
    return "lock";
}

}  // namespace

Json json_text(std::string_view bytes) {
    if (is_utf8(bytes)) return std::string{bytes};
    return {{"hex", hex(bytes)}, {"shown", escaped(bytes)}};
}

std::optional<std::string> bytes_of(const Json& text) {
    if (text.is_string()) return text.get<std::string>();
    const auto found = text.is_object() ? text.find("hex") : text.end();
    if (!text.is_object() || found == text.end() || !found->is_string()) return std::nullopt;
    return bytes_of_hex(found->get<std::string>());
}

Json json_ms(Duration time) {
    if (!time.is_set()) return nullptr;
    return std::chrono::ceil<std::chrono::milliseconds>(time.to_nanoseconds()).count();
}

std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json json_of(const LockInfo& lock) {
    Json json{{"name", json_text(lock.name)},
              {"kind", kind_of(lock)},
              {"policy", to_string(lock.policy)},
              {"holders", list_of(lock.holders)},
              {"waiters", list_of(lock.waiters)},
              {"holders_total", lock.holders_total},
              {"waiters_total", lock.waiters_total},
              {"truncated", lock.truncated},
              {"closed", lock.is_closed},
              {"closures", list_of(lock.closures)}};
    if (lock.value) json["value"] = json_of(*lock.value);
    if (lock.limit)
        json["limit"] = {{"permits", lock.limit->permits}, {"version", lock.limit->version}};
    if (lock.latch) json["latch"] = {{"remaining", lock.latch->remaining}};
    if (lock.barrier)
        json["barrier"] = {{"parties", lock.barrier->parties},
                           {"arrived", lock.barrier->arrived},
                           {"phase", lock.barrier->number},
                           {"broken", lock.barrier->is_broken}};
    return json;
}

Json json_of(const Status& status) {
    return {{"id", status.id},
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
            {"uptime_ms", json_ms(status.uptime)},
            {"version", json_text(status.version)},
            {"insecure", status.insecure},
            {"ready", status.ready},
            {"why_not_ready", json_text(status.why_not_ready)},
            {"stopped", status.stopped},
            {"why_stopped", json_text(status.why_stopped)}};
}

Json json_of(const Event& event) {
    Json json{{"kind", to_string(event.kind)}};
    if (event.position.is_set()) json["position"] = event.position.to_string();
    if (!event.name.empty()) json["name"] = json_text(event.name);
    if (event.holder.token.is_set()) json["holder"] = json_of(event.holder);
    if (event.kind == Event::Kind::released) json["how"] = to_string(event.how);
    if (event.value) json["value"] = json_of(*event.value);
    return json;
}

Json json_of(const NodeEvent& event) {
    Json json{{"kind", to_string(event.kind)}};
    if (!event.text.empty()) json["text"] = json_text(event.text);
    if (event.peer != 0) json["peer"] = event.peer;
    if (event.session != 0) json["session"] = event.session;
    if (!event.name.empty()) json["name"] = json_text(event.name);
    if (event.token.is_set()) json["token"] = event.token.to_string();
    if (!event.label.empty()) json["label"] = json_text(event.label);
    if (event.reason != LossReason::none) json["reason"] = to_string(event.reason);
    if (event.took > Duration::zero()) json["took_ms"] = json_ms(event.took);
    if (!event.asked_by.empty()) json["asked_by"] = json_text(event.asked_by);
    return json;
}

}  // namespace mortise::console
