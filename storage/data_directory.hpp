// Everything a node keeps on disk, as one thing to open. What is wrong with a directory is found
// here, before the node says a word to anybody.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/node/node_core.hpp"
#include "storage/log_store.hpp"
#include "storage/state_store.hpp"

namespace mortise::storage {

struct OpenOptions {
    core::NodeId self;
    bool create = true;                     // when there is none; its parent must exist
    std::array<std::uint64_t, 2> random{};  // true chance: a new directory's incarnation
    // What is damaged others have, so it is put aside and the node begins anew, as a former member
    // of its cluster. Otherwise it does not start.
    bool rejoins = false;
    // Its cluster found that the directory of this incarnation, if of any, was rolled back, or is a
    // copy: it is put aside like a damaged one. Once: what takes its place has another.
    core::Incarnation superseded{};
    // Room on the disk that is kept for the end, less on a small volume; a start needs twice as
    // much.
    std::uint64_t reserve_bytes = 0;
};

struct Opened {
    // The stores keep the directory locked as long as they live, and so does this.
    std::shared_ptr<const void> lock;
    // False once the program closed its descriptors; on any thread. Null in memory.
    std::function<bool()> is_held;
    core::Incarnation incarnation;
    core::BootEpoch boot_epoch;      // one more than that of the life before; durable
    bool former_life_ended = false;  // for certain, on this boot of this machine (S10)
    // It was not here that the former life wrote: restored, or copied, and the original may live.
    // Only the others can tell whether it is older than what they have seen of this node.
    bool is_copy = false;
    std::string set_aside;  // why its content was, if it was; see OpenOptions::rejoins
    core::NodeState state;
    std::unique_ptr<LogStore> log;
    std::unique_ptr<StateStore> state_store;
};

[[nodiscard]] Result<Opened> open_directory(const std::filesystem::path& path,
                                            const OpenOptions& options);

// The size of the file system that has the directory; zero when it does not say.
[[nodiscard]] std::uint64_t volume_bytes(const std::filesystem::path& path);
// What a directory may take on disk besides the lock table, if so many bytes of the log are kept.
[[nodiscard]] std::uint64_t directory_bytes_max(std::uint64_t log_bytes,
                                                std::uint64_t reserve_bytes);

// A first life that leaves nothing behind.
[[nodiscard]] Opened open_in_memory(const OpenOptions& options);

}  // namespace mortise::storage
