// Makes a member that lost the majority of its cluster the only voter of a new one
// (docs/decisions/0054). The new state is installed beside the old one, as a state from another
// node is, so that a crash leaves one or the other.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/base/ids.hpp"
#include "core/raft/configuration.hpp"
#include "storage/directory/open_parts.hpp"

namespace mortise::storage {

// More than the lost members can have granted or appended beyond what this one knows.
constexpr std::uint64_t tokens_raised_by = std::uint64_t{1} << 48U;
constexpr std::uint64_t indexes_raised_by = std::uint64_t{1} << 40U;

struct Recovered {
    core::LogId last;                 // the log begins behind it
    core::FencingToken newest_token;  // the next grant has a greater one
    std::filesystem::path copy;       // of the directory as it was
};

// `former` is the cluster to which the directory must belong, `next` a new random id. Blocks, and
// needs as much space as the directory has once more. Errc::wrong_node if it belongs to another
// cluster, Errc::io if there is nothing to recover (this node is the only voter), Errc::damaged if
// a node would not start from it. After an error the directory is what it was, or, if it fails
// after that was decided, recovered.
[[nodiscard]] Result<Recovered> recover_directory(const std::filesystem::path& path,
                                                  core::ClusterId former, core::ClusterId next,
                                                  const Seams& seams);
[[nodiscard]] Result<Recovered> recover_directory(const std::filesystem::path& path,
                                                  core::ClusterId former, core::ClusterId next);

}  // namespace mortise::storage
