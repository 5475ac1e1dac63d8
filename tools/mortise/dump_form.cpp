#include "tools/mortise/dump_form.hpp"

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/mortise/lock_text.hpp"
#include "tools/mortise/table.hpp"
#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace {

std::int64_t milliseconds(const Duration& time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time.to_nanoseconds()).count();
}

std::string role_of(const MemberInfo& member) {
    return member.leaving ? "leaving" : std::string{to_string(member.role)};
}

// A directory does not know whom its node reaches, and what others have.
Json form_of(const MemberInfo& member) {
    auto json = json_of(member);
    json.erase("connected");
    json.erase("matching");
    return json;
}

Json form_of(const StoredSession& session) {
    return {{"id", session.id},
            {"node", session.node},
            {"incarnation", hexadecimal(session.incarnation)},
            {"boot_epoch", session.boot_epoch},
            {"ttl_ms", milliseconds(session.ttl)},
            {"renewed_at", session.renewed_at},
            {"holds", session.holds},
            {"waits", session.waits}};
}

Json form_of(const StoredEntry& entry) {
    return {
        {"index", entry.index}, {"term", entry.term}, {"kind", entry.kind}, {"words", entry.words}};
}

// Paths and names are bytes, and may not be UTF-8.
Json form_of(const std::string& line) {
    return json_text(line);
}

template <class Item>
Json list_of(const std::vector<Item>& items) {
    auto list = Json::array();
    for (const auto& item : items)
        list.push_back(form_of(item));
    return list;
}

std::string number(std::uint64_t value) {
    return std::to_string(value);
}

std::string whose(const DirectoryDump& dump) {
    const auto node =
        dump.node == 0 ? std::string{"of an unknown node"} : "node " + number(dump.node);
    const auto cluster = dump.cluster_id.empty() ? std::string{", of no cluster yet"}
                                                 : " of cluster " + dump.cluster_id;
    auto text = node + cluster + '\n' + "incarnation " + hexadecimal(dump.incarnation) +
                ", boot epoch " + number(dump.boot_epoch) + '\n' + "term " + number(dump.term);
    text += dump.voted_for ? ", voted for node " + number(*dump.voted_for) : ", no vote";
    return text + '\n';
}

std::string log_of(const DirectoryDump& dump) {
    const bool is_empty = dump.last_index < dump.first_index;
    auto text = is_empty ? "log: no entry after " + number(dump.last_index)
                         : "log: entries " + number(dump.first_index) + " to " +
                               number(dump.last_index) + ", the last one of term " +
                               number(dump.last_term);
    return text + '\n' + "state on disk: index " + number(dump.applied_index) +
           "; committed at least up to " + number(dump.committed_index) + '\n';
}

std::string mark_of(const DirectoryDump& dump) {
    const auto behind = "entries after " + number(dump.synced_index);
    if (dump.unsynced == "entries")
        return "mark: " + behind + " were acknowledged before they were synced\n";
    if (dump.unsynced == "forgotten")
        return "mark: " + behind + " that were acknowledged may be lost; not recovered yet\n";
    return {};
}

Table members_of(const DirectoryDump& dump) {
    Table table{{"ID", "ADDRESS", "ROLE", "INCARNATION"}};
    for (const auto& member : dump.members)
        table.add({number(member.id), escaped(member.address), role_of(member),
                   hexadecimal(member.incarnation)});
    return table;
}

Table sessions_of(const DirectoryDump& dump) {
    Table table{{"SESSION", "NODE", "INCARNATION", "BOOT", "TTL", "RENEWED", "HOLDS", "WAITS"}};
    for (const auto& session : dump.sessions)
        table.add({number(session.id), number(session.node), hexadecimal(session.incarnation),
                   number(session.boot_epoch), std::to_string(milliseconds(session.ttl)) + "ms",
                   number(session.renewed_at), number(session.holds), number(session.waits)});
    return table;
}

std::string value_of(const LockValue& value) {
    return '"' + escaped(value.bytes) + "\", " + std::to_string(value.bytes.size()) +
           " bytes, version " + std::to_string(value.version) + (value.dirty ? ", dirty" : "");
}

void add_row(Table& table, const LockInfo& lock, std::string does, std::string what) {
    table.add({escaped_name(lock.name), std::move(does), "-", "-", "-", "-", "-", "-",
               std::string{kind_of(lock)}, std::move(what)});
}

std::string locks_of(const DirectoryDump& dump, bool bold) {
    if (!dump.locks_index) return "locks: they cannot be read\n";
    auto text = "locks after index " + number(*dump.locks_index) + ", newest token " +
                dump.newest_token.to_string() + ":\n";
    auto table = lock_table();
    for (const auto& lock : dump.locks) {
        add_rows(table, lock);
        if (const auto use = use_of(lock); !use.empty()) add_row(table, lock, "is", use);
        if (lock.value) add_row(table, lock, "value", value_of(*lock.value));
    }
    return text + table.text(bold) + '\n' + sessions_of(dump).text(bold);
}

std::string entries_of(const DirectoryDump& dump) {
    std::string text = "\nentries of the log:\n";
    for (const auto& entry : dump.entries) {
        text += number(entry.index) + ", term " + number(entry.term) + ", " + entry.kind + '\n';
        for (const auto& words : entry.words)
            text += "    " + words + '\n';
    }
    return text;
}

std::string lines_of(std::string_view head, const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines)
        text += std::string{head} + escaped(line) + '\n';
    return text;
}

}  // namespace

Json json_of(const DirectoryDump& dump) {
    return {{"node", dump.node},
            {"incarnation", hexadecimal(dump.incarnation)},
            {"boot_epoch", dump.boot_epoch},
            {"cluster_id", dump.cluster_id},
            {"term", dump.term},
            {"voted_for", dump.voted_for ? Json(*dump.voted_for) : Json(nullptr)},
            {"first_index", dump.first_index},
            {"last_index", dump.last_index},
            {"last_term", dump.last_term},
            {"applied_index", dump.applied_index},
            {"committed_index", dump.committed_index},
            {"unsynced", dump.unsynced},
            {"synced_index", dump.synced_index},
            {"members", list_of(dump.members)},
            {"locks_index", dump.locks_index ? Json(*dump.locks_index) : Json(nullptr)},
            {"newest_token", dump.newest_token.to_string()},
            {"locks", json_list(dump.locks, with_values)},
            {"sessions", list_of(dump.sessions)},
            {"entries", list_of(dump.entries)},
            {"damage", list_of(dump.damage)},
            {"newer_format", dump.is_newer},
            {"notes", list_of(dump.notes)}};
}

std::string text_of(const DirectoryDump& dump, bool with_entries, bool bold) {
    auto text = whose(dump) + log_of(dump) + mark_of(dump);
    text += lines_of("damaged: ", dump.damage) + lines_of("note: ", dump.notes);
    text += '\n' + members_of(dump).text(bold) + '\n' + locks_of(dump, bold);
    return with_entries ? text + entries_of(dump) : text;
}

}  // namespace mortise::cli
