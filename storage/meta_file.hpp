// The witness beside the log: a small file of ours that says what the log must at least contain. A
// log can end early without looking damaged (a file cut at a record boundary, a lost directory
// entry, a recovery that stops before a bad record); then this file disagrees.
//
// Four slots, each in a page of its own, each with a sequence number and a checksum; the newest
// whole one counts. Two are for writes that are synced, two for those that are not, and in each
// pair the older one is overwritten: so one synced slot is always whole, whatever a loss of power
// does to the pages on their way.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include "core/base/ids.hpp"
#include "core/raft/configuration.hpp"
#include "core/raft/write.hpp"
#include "storage/files.hpp"
#include "storage/host.hpp"

namespace mortise::storage {

// An entry of the log, recognisable.
struct EntryMark {
    core::LogId id;
    std::uint64_t checksum = 0;

    friend bool operator==(const EntryMark&, const EntryMark&) = default;
};

struct Meta {
    core::NodeId node;
    core::Incarnation incarnation;
    core::BootEpoch boot_epoch;   // of the newest life; not set before the first
    Life life;                    // the newest one
    core::HardState hard_state;   // the log's is this one or a later one
    EntryMark last;               // the log has this entry, or purged it
    core::ClusterId cluster;      // of which the node is or was a member, if of any
    std::uint64_t set_aside = 0;  // not zero: what is here is damaged, and on its way there

    friend bool operator==(const Meta&, const Meta&) = default;
};

class MetaFile {
public:
    static constexpr std::size_t slot_bytes = 4096;
    static constexpr std::size_t slots = 4;

    // Durable when it returns. In place of one that there may be.
    static Result<MetaFile> create(const std::filesystem::path& path, const Meta& meta,
                                   FileProbe* probe);
    static Result<MetaFile> open(const std::filesystem::path& path, FileProbe* probe);

    // What is in it, without a way to write to it.
    static Result<Meta> read(const std::filesystem::path& path, FileProbe* probe);

    [[nodiscard]] const Meta& meta() const { return meta_; }
    Result<void> write(Meta meta, Durable durable);

private:
    using Sequences = std::array<std::uint64_t, slots>;

    MetaFile(File file, Meta meta, const Sequences& sequences);
    static Result<MetaFile> open(const std::filesystem::path& path, int flags, FileProbe* probe);

    File file_;
    Meta meta_;
    Sequences sequences_;  // zero: the slot is empty or torn
};

}  // namespace mortise::storage
