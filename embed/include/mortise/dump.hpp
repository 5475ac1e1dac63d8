// What the data directory of a node that does not run says: for those who want to know afterwards
// what happened. Reads, and changes nothing in there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <mortise/duration.hpp>
#include <mortise/event.hpp>
#include <mortise/fencing_token.hpp>
#include <mortise/info.hpp>
#include <mortise/node_id.hpp>

namespace mortise {

struct StoredSession {
    SessionId id = 0;
    NodeId node = 0;
    std::uint64_t incarnation = 0;  // of its node's directory
    std::uint64_t boot_epoch = 0;   // of its node
    Duration ttl{};
    std::uint64_t renewed_at = 0;  // log index
    std::size_t holds = 0;         // operations, each of one name or several
    std::size_t waits = 0;

    friend bool operator==(const StoredSession&, const StoredSession&) = default;
};

struct StoredEntry {
    std::uint64_t index = 0;
    std::uint64_t term = 0;
    std::string kind;                // noop, configuration, commands or state_sum
    std::vector<std::string> words;  // what is in it, a sentence each; fit for showing

    friend bool operator==(const StoredEntry&, const StoredEntry&) = default;
};

struct DumpOptions {
    bool entries = false;  // those of the log, in words
    // The locks as they were after this log index; unset: after the last entry.
    std::optional<std::uint64_t> at{};
};

struct DirectoryDump {
    NodeId node = 0;  // 0: nothing that can be read says so
    std::uint64_t incarnation = 0;
    std::uint64_t boot_epoch = 0;  // the number of its newest start
    std::string cluster_id{};      // 32 hexadecimal digits; empty: it never was a member
    std::uint64_t term = 0;
    std::optional<NodeId> voted_for{};  // in that term

    // The log that is kept: first_index is one more than last_index when it has no entry.
    std::uint64_t first_index = 0;
    std::uint64_t last_index = 0;
    std::uint64_t last_term = 0;
    // The state on disk goes up to here. What is committed beyond the log itself does not say;
    // up to here it is for certain.
    std::uint64_t applied_index = 0;
    std::uint64_t committed_index = 0;

    // Of the newest configuration in the log, which may not be committed.
    std::vector<MemberInfo> members{};

    // As they are at `locks_index`, if every entry up to there is committed. Empty: they cannot be
    // read.
    std::optional<std::uint64_t> locks_index{};
    FencingToken newest_token{};
    std::vector<LockInfo> locks{};  // by name, with their values
    std::vector<StoredSession> sessions{};

    std::vector<StoredEntry> entries{};

    std::vector<std::string> damage{};  // a sentence each; with any, a node does not start from it
    bool is_newer = false;              // some of that is the format of a later version
    std::vector<std::string> notes{};   // what else is to be known, a sentence each
};

// Throws std::system_error with a DirectoryErrc: `locked` when a node has the directory, `io` when
// it is no data directory or cannot be read. Damage is no error: it is told in the answer. Blocks
// on the disk, and takes as much memory as a start of the node. No node gets the directory
// meanwhile.
[[nodiscard]] DirectoryDump dump_directory(const std::filesystem::path& directory,
                                           const DumpOptions& options = {});

}  // namespace mortise
