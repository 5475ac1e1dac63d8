// Members of two versions in one cluster (P12): a newer format of commands is proposed only once
// every member has reported that it reads it. From then on it is always used, because a node that
// cannot read the log is not added (docs/decisions/0018).
#include <algorithm>
#include <string>

#include "core/base/check.hpp"
#include "core/node/node_core.hpp"

namespace mortise::core {

// Learners read the log as well, and so do removed members until they have learned of their
// removal. A member that was not heard of may have any version.
std::uint8_t NodeCore::common_format() const {
    auto common = options_.command_format;
    for (const auto incarnation : raft_.followers()) {
        const auto said = memory_.command_format(incarnation);
        common = std::min(common, said.value_or(command_format_oldest));
    }
    return common;
}

// What is in the log once, everybody reads: nobody who was not heard of takes that back.
std::uint8_t NodeCore::format_to_propose() const {
    return std::max(common_format(), std::min(format_in_log_, options_.command_format));
}

void NodeCore::remember_format(std::uint8_t format) {
    format_in_log_ = std::max(format_in_log_, format);
}

void NodeCore::remember_format(const Entry& entry) {
    if (entry.kind != EntryKind::commands) return;
    remember_format(std::min(format_of(entry.payload), options_.command_format));
}

// It would stop at the first entry that it cannot read.
bool NodeCore::is_too_old(const Hello& hello) const {
    return hello.command_format < format_in_log_;
}

// Invalid commands in a format that this version reads are invalid for every node that reads that
// format, so all treat the entry as empty. An entry in a newer format has an unknown effect: to
// continue without it would give a different state than the others have (P5).
std::vector<Command> NodeCore::commands_in(const Entry& entry) {
    auto batch = decode_batch(entry.payload, options_.command_format);
    if (batch) return std::move(*batch);
    const auto format = format_of(entry.payload);
    if (format <= options_.command_format) {
        effects_.notes.push_back(
            {Note::Kind::senseless_entry, entry.id.term, {}, nullptr, nullptr});
        return {};
    }
    throw InvariantBroken{"the cluster has commands of format " + std::to_string(format) +
                          ", and this version reads format " +
                          std::to_string(options_.command_format) +
                          " at most: it is older than what ran here before"};
}

}  // namespace mortise::core
