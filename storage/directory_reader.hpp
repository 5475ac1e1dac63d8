// A data directory that no node has, as far as it can be read: for those who want to know what
// happened. Nothing in it changes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/locks/lock_machine.hpp"
#include "storage/meta_file.hpp"
#include "storage/open_parts.hpp"

namespace mortise::storage {

struct DirectoryContent {
    // Whose it is, as "meta" says, or else the log.
    core::NodeId node;
    core::Incarnation incarnation;
    core::ClusterId cluster;
    core::BootEpoch boot_epoch;   // of the newest life; not set without "meta"
    core::HardState hard_state;   // as the log has it, or else "meta"
    std::uint64_t set_aside = 0;  // see Meta::set_aside
    bool is_copy = false;         // LOCK is another file than that of the newest life

    core::LogId base;                        // the log begins behind it
    core::Configuration base_configuration;  // in force there
    std::vector<core::Entry> entries;        // rising; what is damaged is left out
    core::LogId applied;                     // up to there `machine` goes
    core::Configuration applied_configuration;
    std::optional<core::LockMachine> machine;  // none: it cannot be read

    // What a start would refuse the directory for, and what else is missing or altered.
    std::vector<Error> damage;
    // The newest write was cut short by a crash: nobody was told of it, and a start leaves it out.
    bool is_torn = false;
};

// Fails when a node has the directory, when it is none, or when the system does not let it be read;
// damage is no failure.
[[nodiscard]] Result<DirectoryContent> read_directory(const std::filesystem::path& path,
                                                      const Seams& seams = {});

}  // namespace mortise::storage
