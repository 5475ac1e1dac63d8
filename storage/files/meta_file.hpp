// The witness beside the log: a small file that says what the log must at least contain. A log can
// end early without looking damaged (a file cut at a record boundary, a lost directory entry, a
// recovery that stops before a bad record); this file then differs from it.
//
// It has four slots, each in its own page with a sequence number and a checksum; the newest
// complete slot counts. Two are for synced writes, two for writes without a sync. In each pair the
// older slot is overwritten, so one synced slot is always complete, whatever a loss of power does
// to pages in transit.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include "core/base/ids.hpp"
#include "core/raft/configuration.hpp"
#include "core/raft/write.hpp"
#include "storage/base/host.hpp"
#include "storage/files/files.hpp"

namespace mortise::storage {

// Identifies an entry of the log.
struct EntryMark {
    core::LogId id;
    std::uint64_t checksum = 0;

    friend bool operator==(const EntryMark&, const EntryMark&) = default;
};

struct Meta {
    core::NodeId node;
    core::Incarnation incarnation;
    core::BootEpoch boot_epoch;   // of the newest run; not set before the first
    Life life;                    // the newest run
    core::HardState hard_state;   // the log has this hard state or a later one
    EntryMark last;               // the log has this entry, or purged it
    core::ClusterId cluster;      // the cluster of which the node is or was a member, if any
    std::uint64_t set_aside = 0;  // not zero: the content is damaged, and is being moved aside
    // What the log may lack of what was acknowledged (docs/decisions/0095); and the entry up to
    // which it certainly does not, which is `last` unless this mark is set.
    core::Unsynced unsynced = core::Unsynced::nothing;
    EntryMark synced;

    friend bool operator==(const Meta&, const Meta&) = default;
};

// Whether this start may find less than the newest run has written without a sync. The page cache
// survives the death of a process, but neither a boot nor the loss of a network.
[[nodiscard]] bool may_lack_unsynced(const Meta& meta, const Life& now, bool is_local);

class MetaFile {
public:
    static constexpr std::size_t slot_bytes = 4096;
    static constexpr std::size_t slots = 4;

    // Durable when it returns. Replaces an existing file.
    static Result<MetaFile> create(const std::filesystem::path& path, const Meta& meta,
                                   FileProbe* probe);
    static Result<MetaFile> open(const std::filesystem::path& path, FileProbe* probe);

    // Reads the file without opening it for writing.
    static Result<Meta> read(const std::filesystem::path& path, FileProbe* probe);

    [[nodiscard]] const Meta& meta() const { return meta_; }
    // A slot has the newer format only if the mark is set. So when the mark is removed all slots
    // are written, and earlier versions can read the file again.
    Result<void> write(Meta meta, Durable durable);

private:
    using Sequences = std::array<std::uint64_t, slots>;

    MetaFile(File file, Meta meta, const Sequences& sequences);
    static Result<MetaFile> open(const std::filesystem::path& path, int flags, FileProbe* probe);
    Result<void> write_slot(const Meta& meta, Durable durable);

    File file_;
    Meta meta_;
    Sequences sequences_;  // zero: the slot is empty or torn
};

}  // namespace mortise::storage
