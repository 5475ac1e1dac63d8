#include "tools/mortise/lock_text.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace {

std::string more(std::size_t total, std::size_t listed) {
    return "... and " + std::to_string(total - listed) + " more";
}

std::string time_left(const ClosureInfo& closure) {
    if (!closure.left.is_set()) return "for an unknown time";
    return "for at most " + short_time(closure.left);
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

void add_holders(Table& table, const LockInfo& lock) {
    for (const auto& holder : lock.holders)
        table.add({escaped_name(lock.name), holder.cached ? "cached" : "holds", mode_of(holder),
                   id_text(holder.node), std::to_string(holder.session), holder.token.to_string(),
                   std::to_string(holder.since), escaped(holder.label)});
    if (lock.holders_total > lock.holders.size())
        table.add({escaped_name(lock.name), "holds", "-", "-", "-", "-", "-",
                   more(lock.holders_total, lock.holders.size())});
}

void add_waiters(Table& table, const LockInfo& lock) {
    for (const auto& waiter : lock.waiters)
        table.add({escaped_name(lock.name), waiter.upgrades ? "upgrades" : "waits", mode_of(waiter),
                   id_text(waiter.node), std::to_string(waiter.session), "-",
                   std::to_string(waiter.since), escaped(waiter.label)});
    if (lock.waiters_total > lock.waiters.size())
        table.add({escaped_name(lock.name), "waits", "-", "-", "-", "-", "-",
                   more(lock.waiters_total, lock.waiters.size())});
}

void add_closures(Table& table, const LockInfo& lock) {
    for (const auto& closure : lock.closures)
        table.add({escaped_name(lock.name), "closed", "-", "-", "-", closure.token.to_string(), "-",
                   std::string{to_string(closure.by)} + ", " + time_left(closure)});
    if (lock.closures_total > lock.closures.size())
        table.add({escaped_name(lock.name), "closed", "-", "-", "-", "-", "-",
                   more(lock.closures_total, lock.closures.size())});
}

bool is_free(const LockInfo& lock) {
    return lock.holders.empty() && lock.waiters.empty() && !lock.is_closed && !lock.limit &&
           !lock.latch && !lock.barrier;
}

std::string member_text(const BarrierMember& member) {
    const auto who = member.node == 0 ? "a client, or a process that has ended"
                                      : "node " + std::to_string(member.node);
    return "  " + who + ": " + std::to_string(member.arrived) + " of " +
           std::to_string(member.parties) + " have arrived\n";
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

std::string short_time(Duration duration) {
    const auto time = duration.to_nanoseconds();
    const auto whole = std::chrono::ceil<std::chrono::seconds>(time);
    if (time > std::chrono::seconds{10}) return to_string(whole);
    const auto tenths = (std::chrono::ceil<std::chrono::milliseconds>(time).count() + 99) / 100;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "s";
}

Table lock_table() {
    return Table{{"NAME", "DOES", "MODE", "NODE", "SESSION", "TOKEN", "SINCE", "LABEL"}};
}

void add_rows(Table& table, const LockInfo& lock) {
    add_holders(table, lock);
    add_closures(table, lock);
    add_waiters(table, lock);
}

std::string use_of(const LockInfo& lock) {
    if (const auto& phase = lock.barrier)
        return "barrier: " + std::to_string(phase->arrived) + " of " +
               std::to_string(phase->parties) + " have arrived in phase " +
               std::to_string(phase->number) + (phase->is_broken ? ", broken" : "");
    if (lock.latch)
        return "latch: " + std::to_string(lock.latch->remaining) + " remaining to be counted";
    if (!lock.limit) return {};
    return "semaphore: " + std::to_string(lock.limit->permits) + " permits, version " +
           std::to_string(lock.limit->version) + " of the limit";
}

std::string summary_of(const LockValue& value) {
    return std::to_string(value.bytes.size()) + " bytes, version " + std::to_string(value.version) +
           (value.dirty ? ", dirty" : "");
}

std::string text_of(const std::vector<LockInfo>& locks, bool bold) {
    auto table = lock_table();
    for (const auto& lock : locks)
        add_rows(table, lock);
    return table.text(bold);
}

std::string text_of(const LockInfo& lock, bool bold) {
    std::string text = escaped_name(lock.name) + " is free\n";
    if (!is_free(lock)) text = text_of(std::vector{lock}, bold) + kind_text(lock);
    text += closed_text(lock);
    if (lock.truncated)
        text += "in all: " + std::to_string(lock.holders_total) + " holders, " +
                std::to_string(lock.waiters_total) + " waiters\n";
    if (lock.value) text += "value: " + summary_of(*lock.value) + "\n";
    return text;
}

}  // namespace mortise::cli
