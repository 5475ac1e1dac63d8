// Reads the data directory of a node that is not running, for an analysis afterwards. It changes
// nothing in the directory.
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
    std::uint64_t incarnation = 0;  // of the node's directory
    std::uint64_t boot_epoch = 0;   // of the node
    Duration ttl{};
    std::uint64_t renewed_at = 0;  // log index
    std::size_t holds = 0;         // operations; each is for one name or several
    std::size_t waits = 0;

    friend bool operator==(const StoredSession&, const StoredSession&) = default;
};

struct StoredEntry {
    std::uint64_t index = 0;
    std::uint64_t term = 0;
    std::string kind;                // noop, configuration, commands or state_sum
    std::vector<std::string> words;  // its content, one sentence each; escaped for display

    friend bool operator==(const StoredEntry&, const StoredEntry&) = default;
};

struct DumpOptions {
    bool entries = false;  // include the entries of the log, in words
    // The lock table after this log index; unset: after the last entry.
    std::optional<std::uint64_t> at{};
};

struct DirectoryDump {
    NodeId node = 0;  // 0: no readable file tells it
    std::uint64_t incarnation = 0;
    std::uint64_t boot_epoch = 0;  // the number of the last start
    std::string cluster_id{};      // 32 hexadecimal digits; empty: the node was never a member
    std::uint64_t term = 0;
    std::optional<NodeId> voted_for{};  // in `term`

    // The log on disk. If it has no entry, first_index is last_index + 1.
    std::uint64_t first_index = 0;
    std::uint64_t last_index = 0;
    std::uint64_t last_term = 0;
    std::uint64_t applied_index = 0;  // the log index of the state on disk
    // Everything up to here is certainly committed. There may be more that is.
    std::uint64_t committed_index = 0;

    // What the log may lack of what this node has acknowledged (Durability::replicated): "nothing";
    // "entries": those after synced_index, if the machine loses its power; "forgotten": the machine
    // was started anew, and the node has not recovered since. Empty: no readable file tells it.
    std::string unsynced{};
    std::uint64_t synced_index = 0;

    // The members in the newest configuration of the log, which may not be committed yet.
    std::vector<MemberInfo> members{};

    // The lock table at `locks_index`, if every entry up to there is committed. Empty: it cannot be
    // read.
    std::optional<std::uint64_t> locks_index{};
    FencingToken newest_token{};
    std::vector<LockInfo> locks{};  // ordered by name, with values
    std::vector<StoredSession> sessions{};

    std::vector<StoredEntry> entries{};

    // one sentence each; if there is any, a node does not start from this directory
    std::vector<std::string> damage{};
    bool is_newer = false;             // some damage is a format of a later version
    std::vector<std::string> notes{};  // other findings, one sentence each
};

// Reads the directory. Damage is not an error: it is part of the answer. Throws std::system_error
// with a DirectoryErrc: `locked` when a node uses the directory, `io` when it is not a data
// directory or cannot be read. Blocks on the disk, and needs as much memory as the start of the
// node. No node can open the directory meanwhile.
[[nodiscard]] DirectoryDump dump_directory(const std::filesystem::path& directory,
                                           const DumpOptions& options = {});

}  // namespace mortise
