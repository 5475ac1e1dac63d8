#include "tools/mortise/lock_text.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "embed/json_form/kind_facts.hpp"
#include "tools/mortise/json_form.hpp"
#include "tools/mortise/short_time.hpp"
#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace {

constexpr std::size_t short_value_bytes = 64;

std::string more(std::size_t total, std::size_t listed) {
    return "... and " + std::to_string(total - listed) + " more";
}

std::string time_left(const ClosureInfo& closure) {
    if (!closure.left.is_set()) return "for an unknown time";
    return "for at most " + short_time(closure.left, Rounded::up);
}

std::string why(ClosedBy by) {
    switch (by) {
        case ClosedBy::broken: return "it was broken, and its holder may not know yet";
        case ClosedBy::min_hold: return "the min_hold of its last holder runs";
        case ClosedBy::lock_delay: return "the lock_delay of its last holder runs";
    }
    return std::string{to_string(by)};
}

// The name as a shell and this program read it.
std::string quoted(const std::string& name) {
    const auto shown = escaped_name(name);
    const std::string option = shown == name ? "" : "--escaped ";
    const bool is_plain = shown.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "._/:@%+,-") == std::string::npos;
    if (is_plain) return option + shown;
    std::string text;
    for (const char c : shown)
        text += c == '\'' ? std::string{"'\\''"} : std::string{c};
    return option + "'" + text + "'";
}

// `mortise break` reopens a closed name as soon as that is safe. While a former holder may rely on
// its hold, that is no sooner than the name opens by itself.
std::string how_to_open(const LockInfo& lock, const ClosureInfo& closure) {
    const auto command = "mortise break " + quoted(lock.name) + " --token " +
                         closure.token.to_string() + " --reason REASON";
    if (closure.by != ClosedBy::broken) return command + " opens it";
    return command + " --now opens it, and two programs may hold it";
}

// The permits of a semaphore stand where a lock has its mode.
std::string mode_of(const HolderInfo& holder) {
    if (holder.slots.empty()) return std::string{to_string(holder.mode)};
    constexpr std::size_t shown_max = 8;
    std::string text = holder.slots.size() == 1 ? "slot " : "slots ";
    for (std::size_t i = 0; i < std::min(holder.slots.size(), shown_max); ++i)
        text += (i == 0 ? "" : ",") + std::to_string(holder.slots[i]);
    return holder.slots.size() > shown_max ? text + ",..." : text;
}

std::string mode_of(const WaiterInfo& waiter) {
    if (waiter.permits == 0) return std::string{to_string(waiter.mode)};
    return std::to_string(waiter.permits) + (waiter.permits == 1 ? " permit" : " permits");
}

// What a row has beside the name and its kind.
struct Row {
    std::string does;
    std::string mode = "-";
    std::string node = "-";
    std::string session = "-";
    std::string token = "-";
    std::string age = "-";
    std::string from = "-";
    std::string label;
};

void add(Table& table, const LockInfo& lock, Row row) {
    table.add({escaped_name(lock.name), std::move(row.does), std::move(row.mode),
               std::move(row.node), std::move(row.session), std::move(row.token),
               std::move(row.age), std::move(row.from), std::string{kind_of(lock)},
               std::move(row.label)});
}

// What a holder and a waiter have in common.
template <class Party>
Row row_of(const Party& party, std::string does, Addresses addresses) {
    return {.does = std::move(does),
            .mode = mode_of(party),
            .node = id_text(party.node),
            .session = std::to_string(party.session),
            .age = age_text(party.age),
            .from = from_text(party.origin, addresses),
            .label = escaped(party.label)};
}

void add_rest(Table& table, const LockInfo& lock, std::string does, std::size_t total,
              std::size_t listed) {
    if (total > listed) add(table, lock, {.does = std::move(does), .label = more(total, listed)});
}

void add_holders(Table& table, const LockInfo& lock, Addresses addresses) {
    for (const auto& holder : lock.holders) {
        auto row = row_of(holder, holder.cached ? "cached" : "holds", addresses);
        row.token = holder.token.to_string();
        add(table, lock, std::move(row));
    }
    add_rest(table, lock, "holds", lock.holders_total, lock.holders.size());
}

void add_waiters(Table& table, const LockInfo& lock, Addresses addresses) {
    for (const auto& waiter : lock.waiters)
        add(table, lock, row_of(waiter, waiter.upgrades ? "upgrades" : "waits", addresses));
    add_rest(table, lock, "waits", lock.waiters_total, lock.waiters.size());
}

void add_closures(Table& table, const LockInfo& lock) {
    for (const auto& closure : lock.closures)
        add(table, lock,
            {.does = "closed",
             .token = closure.token.to_string(),
             .label = std::string{to_string(closure.by)} + ", " + time_left(closure)});
    add_rest(table, lock, "closed", lock.closures_total, lock.closures.size());
}

// What the name is and keeps, also while nobody holds it.
void add_uses(Table& table, const LockInfo& lock) {
    if (auto use = use_of(lock); !use.empty())
        add(table, lock, {.does = "is", .label = std::move(use)});
    if (lock.value) add(table, lock, {.does = "has", .label = value_text(lock)});
}

bool is_free(const LockInfo& lock) {
    return lock.holders.empty() && lock.waiters.empty() && !lock.is_closed &&
           json_form::kind_of(lock) == NameKind::lock;
}

std::string member_text(const BarrierMember& member) {
    const auto who = member.node == 0 ? "a client, or a process that has ended"
                                      : "node " + std::to_string(member.node);
    return "  " + who + ", session " + std::to_string(member.session) + ": " +
           std::to_string(member.arrived) + " of " + std::to_string(member.parties) +
           " have arrived\n";
}

// Only a lock has a policy. Members of a barrier that have never arrived are not known.
std::string kind_text(const LockInfo& lock) {
    const auto use = use_of(lock);
    auto text = (use.empty() ? "policy: " + std::string{to_string(lock.policy)} : use) + "\n";
    for (const auto& member : lock.members)
        text += member_text(member);
    return text;
}

std::string closed_text(const LockInfo& lock) {
    std::string text;
    for (const auto& closure : lock.closures)
        text += "closed: " + why(closure.by) + ", " + time_left(closure) + "; " +
                how_to_open(lock, closure) + "\n";
    return text;
}

}  // namespace

std::string id_text(NodeId node) {
    return node == 0 ? "client" : std::to_string(node);
}

std::string age_text(Duration age) {
    return age.is_set() ? short_time(age) : "-";
}

std::string from_text(const Origin& origin, Addresses addresses) {
    auto text = escaped(shown_label({}, origin));
    if (addresses == Addresses::shown && !origin.address.empty())
        text += (text.empty() ? "" : " ") + escaped('(' + origin.address + ')');
    return text.empty() ? "-" : text;
}

std::string_view kind_of(const LockInfo& lock) {
    const auto kind = json_form::kind_of(lock);
    if (kind != NameKind::lock) return to_string(kind);
    if (leader_value(lock)) return "election";
    const bool is_used = !lock.holders.empty() || !lock.waiters.empty() || lock.is_closed;
    return lock.value && !is_used ? "value" : "lock";
}

Table lock_table() {
    return Table{
        {"NAME", "DOES", "MODE", "NODE", "SESSION", "TOKEN", "FOR", "FROM", "KIND", "LABEL"}};
}

void add_rows(Table& table, const LockInfo& lock, Addresses addresses) {
    add_holders(table, lock, addresses);
    add_closures(table, lock);
    add_waiters(table, lock, addresses);
}

std::string use_of(const LockInfo& lock) {
    const auto facts = json_form::facts_of(lock);
    return facts.empty() ? std::string{} : facts.front().words;
}

std::string summary_of(const LockValue& value) {
    std::string text;
    if (!value.bytes.empty() && value.bytes.size() <= short_value_bytes)
        text = '"' + escaped_name(value.bytes) + "\", ";
    else if (!value.bytes.empty())
        text = std::to_string(value.bytes.size()) + " bytes, ";
    return text + "version " + std::to_string(value.version) + (value.dirty ? ", dirty" : "");
}

std::string value_text(const LockInfo& lock) {
    auto value = *lock.value;
    const auto leads = leader_value(lock);
    if (leads) value.bytes = *leads;
    return (leads ? "the leader's value: " : "value: ") + summary_of(value);
}

std::string text_of(const std::vector<LockInfo>& locks, bool bold) {
    auto table = lock_table();
    for (const auto& lock : locks) {
        add_rows(table, lock);
        add_uses(table, lock);
    }
    return table.text(bold);
}

std::string text_of(const LockInfo& lock, bool bold) {
    std::string text = escaped_name(lock.name) + " is free\n";
    if (!is_free(lock)) {
        auto table = lock_table();
        add_rows(table, lock, Addresses::shown);
        text = table.text(bold) + kind_text(lock);
    }
    text += closed_text(lock);
    if (lock.truncated)
        text += "in all: " + std::to_string(lock.holders_total) + " holders, " +
                std::to_string(lock.waiters_total) + " waiters\n";
    if (lock.value) text += value_text(lock) + "\n";
    return text;
}

}  // namespace mortise::cli
