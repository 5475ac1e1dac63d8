// Disaster recovery: continues a cluster that has lost the majority of its data directories from
// the directory of one member that is left (docs/backup.md). `mortise recover` does the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <mortise/fencing_token.hpp>
#include <mortise/node_id.hpp>

namespace mortise {

struct RecoveredDirectory {
    NodeId node = 0;
    std::string cluster_id{};         // the new one, 32 hexadecimal digits
    std::string former_cluster_id{};  // members of this cluster are refused from now on
    std::uint64_t last_index = 0;     // log index of the recovered state
    FencingToken newest_token{};      // all tokens from now on are greater
    std::filesystem::path copy{};     // of the directory as it was, within it
};

// Makes the node of this directory the only voter of a new cluster, which has the locks, values and
// sessions as far as this directory knows them. What only the lost members knew is lost. Sessions
// end when their TTL has passed after the node's next start. Tokens, and the ids of sessions, are
// raised beyond those that the lost members can have used.
//
// The caller must be certain that no other member runs, and that none has run for as long as the
// longest TTL of a session: a program that was granted a lock by the lost members must not believe
// in it any more. The other directories must not be used again; a node of the former cluster is
// refused by members of the new one.
//
// `cluster_id` is that of the directory (DirectoryDump::cluster_id), as a confirmation. Throws
// std::system_error: Errc::invalid_argument if it is another one, or if the node is the only voter
// already; or a DirectoryErrc, for example `locked` while a node uses the directory, and `damaged`
// if its node would not start from it. Then, and if the process dies, the directory is as it was,
// or recovered. Blocks on the disk, and needs the space for a copy.
RecoveredDirectory recover_directory(const std::filesystem::path& directory,
                                     const std::string& cluster_id);

}  // namespace mortise
