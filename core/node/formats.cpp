// Members of two versions in one cluster (P12): a newer form of commands is proposed only once
// every member has said that it reads it, and from then on, for whoever cannot read what the log
// has already is not taken in (docs/decisions/0018).
#include <algorithm>
#include <string>

#include "core/base/check.hpp"
#include "core/node/node_core.hpp"

namespace mortise::core {

// Learners read as well, and who leaves until it has heard so. Who was not heard of may be of any
// version.
std::uint8_t NodeCore::common_format() const {
    auto common = options_.command_format;
    for (const auto incarnation : raft_.followers()) {
        const auto said = memory_.command_format(incarnation);
        common = std::min(common, said.value_or(command_format_oldest));
    }
    return common;
}

bool NodeCore::is_too_new_for_a_member(std::uint8_t format) const {
    const auto followers = raft_.followers();
    return format > options_.command_format ||
           std::ranges::any_of(followers, [&](Incarnation incarnation) {
               return memory_.command_format(incarnation).value_or(format) < format;
           });
}

// What is in the log once, everybody reads: nobody who was not heard of takes that back.
std::uint8_t NodeCore::format_to_propose() const {
    return std::max(common_format(), std::min(format_in_log_, options_.command_format));
}

// The agent asks for nothing that the log has no form for: every node that ever leads can read it.
void NodeCore::remember_format(std::uint8_t format) {
    format_in_log_ = std::max(format_in_log_, format);
    agent_.on_format(format_in_log_);
}

void NodeCore::remember_format(const Entry& entry) {
    if (entry.kind != EntryKind::commands) return;
    remember_format(std::min(format_of(entry.payload), options_.command_format));
}

// It would stop at the first entry that it cannot read.
bool NodeCore::is_too_old(const Hello& hello) const {
    return hello.command_format < format_in_log_;
}

// What makes no sense in a form that this version reads makes none to anybody who reads that form,
// so everybody takes it for an entry without commands. Of a newer form nobody here can say what it
// does: to go on without it would be another state than that of the others (P5).
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
