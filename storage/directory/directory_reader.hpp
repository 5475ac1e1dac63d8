// Reads a data directory that no node uses, as far as it can be read, for an analysis. It changes
// nothing in the directory.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/locks/machine/lock_machine.hpp"
#include "storage/directory/open_parts.hpp"
#include "storage/files/meta_file.hpp"

namespace mortise::storage {

struct DirectoryContent {
    // The owner according to "meta", or else to the log.
    core::NodeId node;
    core::Incarnation incarnation;
    core::ClusterId cluster;
    core::BootEpoch boot_epoch;   // of the newest run; not set without "meta"
    core::HardState hard_state;   // from the log, or else from "meta"
    std::uint64_t set_aside = 0;  // see Meta::set_aside
    // The mark in "meta", and the entry up to which the log certainly has everything.
    core::Unsynced unsynced = core::Unsynced::nothing;
    core::LogIndex synced;
    bool lost_power = false;  // a start here and now would say that it may lack entries
    bool is_copy = false;     // LOCK is another file than that of the newest run

    core::LogId base;                        // the log begins after it
    core::Configuration base_configuration;  // in force at `base`
    std::vector<core::Entry> entries;        // ascending; damaged ones are left out
    core::LogId applied;                     // the index of `machine`
    core::Configuration applied_configuration;
    std::optional<core::LockMachine> machine;  // none: it cannot be read

    // Why a start would refuse the directory, and what else is missing or altered.
    std::vector<Error> damage;
    // The newest write was cut short by a crash: it was not acknowledged, and a start leaves it
    // out.
    bool is_torn = false;
};

// Fails if a node has the directory, if it is not a data directory, or if the system does not allow
// to read it. Damage is not a failure.
[[nodiscard]] Result<DirectoryContent> read_directory(const std::filesystem::path& path,
                                                      const Seams& seams = {});

}  // namespace mortise::storage
