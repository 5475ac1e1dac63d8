// Everything a node keeps on disk. Opening it detects what is wrong with the directory, before the
// node sends a message.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/node/node_state.hpp"
#include "storage/log/log_store.hpp"
#include "storage/state/state_store.hpp"

namespace mortise::storage {

struct OpenOptions {
    core::NodeId self;
    bool create = true;                     // if it is missing; its parent must exist
    std::array<std::uint64_t, 2> random{};  // random bits for the incarnation of a new directory
    // A damaged directory is moved aside and the node starts empty, as a former member of its
    // cluster, because others have its data. Otherwise the node does not start.
    bool rejoins = false;
    // The cluster found that the directory of this incarnation, if there is one, was rolled back,
    // or is a copy: it is moved aside like a damaged one. This happens once, since its replacement
    // has another incarnation.
    core::Incarnation superseded{};
    // For tools: no run of the node begins, so the boot epoch and the last run stay those on disk.
    bool is_offline = false;
    // Reserved space on the disk for an orderly end, less on a small volume; a start needs twice as
    // much, at its end: opening the log frees what was purged of it.
    std::uint64_t reserve_bytes = 0;
};

struct Opened {
    // The directory stays locked as long as this or the stores live.
    std::shared_ptr<const void> lock;
    // False once the program has closed its descriptors; may be called on any thread. Null in
    // memory.
    std::function<bool()> is_held;
    // Its boot epoch is durable, and one more than in the previous run. The life is yet to be
    // drawn.
    core::Generation generation;
    bool former_life_ended = false;  // known for certain, on this boot of this machine (S10)
    // The previous run wrote elsewhere: the directory was restored or copied, and the original may
    // be in use. Only peers can tell whether it is older than what they have seen of this node.
    bool is_copy = false;
    std::string set_aside;  // why its content was moved aside, if it was; see OpenOptions::rejoins
    // How much of the log may be kept for slow members at present, without filling the volume; may
    // be called on any thread, by one at a time. Null in memory.
    std::function<std::uint64_t()> log_bytes_max;
    core::NodeState state;
    std::unique_ptr<LogStore> log;
    std::unique_ptr<StateStore> state_store;
};

[[nodiscard]] Result<Opened> open_directory(const std::filesystem::path& path,
                                            const OpenOptions& options);

// Opens an empty directory in memory.
[[nodiscard]] Opened open_in_memory(const OpenOptions& options);

}  // namespace mortise::storage
