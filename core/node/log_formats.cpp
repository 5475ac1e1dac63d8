#include "core/node/log_formats.hpp"

#include <algorithm>
#include <string>

#include "core/base/check.hpp"

namespace mortise::core {

LogFormats::LogFormats(const NodeOptions& options, const Raft& raft, const Peers& peers)
    : options_{options}, raft_{raft}, peers_{peers} {
    const auto& log = raft_.log();
    for (auto index = log.first_index(); index <= log.last().index; index = index.next())
        remember(log.at(index));
}

void LogFormats::remember(const Entry& entry) {
    if (!has_commands(entry.kind)) return;
    remember(std::min(format_of(entry.payload), options_.command_format));
}

void LogFormats::remember(std::uint8_t format) {
    in_log_ = std::max(in_log_, format);
}

// Learners read the log as well, and so do removed members until they have learned of their
// removal. A member that has not said hello may have any version.
std::uint8_t LogFormats::common() const {
    auto common = options_.command_format;
    for (const auto incarnation : raft_.followers()) {
        const auto said = peers_.command_format(incarnation);
        common = std::min(common, said.value_or(command_format_oldest));
    }
    return common;
}

// A format that is in the log is readable for every member: a member that has not said hello does
// not change that.
std::uint8_t LogFormats::to_propose() const {
    return std::max(common(), std::min(in_log_, options_.command_format));
}

bool LogFormats::is_too_old(const Hello& hello) const {
    return hello.command_format < in_log_;
}

// Invalid commands in a format that this version reads are invalid for every node that reads that
// format, so all treat the entry as empty. An entry in a newer format has an unknown effect: to
// continue without it would give a different state than the others have (P5).
std::vector<Command> LogFormats::commands_in(const Entry& entry, std::vector<Note>& notes) const {
    auto batch = decode_batch(entry.payload, options_.command_format);
    if (batch) return std::move(*batch);
    const auto format = format_of(entry.payload);
    if (format <= options_.command_format) {
        notes.push_back({Note::Kind::senseless_entry, entry.id.term, {}});
        return {};
    }
    throw InvariantBroken{"the cluster has commands of format " + std::to_string(format) +
                          ", and this version reads format " +
                          std::to_string(options_.command_format) +
                          " at most: it is older than what ran here before"};
}

}  // namespace mortise::core
