// Members of two versions in one cluster (P12): a newer format of commands is proposed only once
// every member has reported that it reads it. From then on it is always used, because a node that
// cannot read the log is not added (docs/decisions/0018).
#pragma once

#include "core/codec/command_codec.hpp"
#include "core/node/peers.hpp"

namespace mortise::core {

class LogFormats {
public:
    LogFormats(const NodeOptions& options, const Raft& raft, const Peers& peers);

    // The log contains this entry, or commands in that format.
    void remember(const Entry& entry);
    void remember(std::uint8_t format);
    // For a leader: the format of its next entry.
    [[nodiscard]] std::uint8_t to_propose() const;
    // That node could not read the log: it would stop at the first entry that it cannot read.
    [[nodiscard]] bool is_too_old(const Hello& hello) const;
    // Empty, with a note, if the entry is invalid. Throws if the format is unknown to this version.
    [[nodiscard]] std::vector<Command> commands_in(const Entry& entry,
                                                   std::vector<Note>& notes) const;

private:
    [[nodiscard]] std::uint8_t common() const;

    const NodeOptions& options_;
    const Raft& raft_;
    const Peers& peers_;
    std::uint8_t in_log_ = command_format_oldest;  // the newest format of its commands
};

}  // namespace mortise::core
