// The disk of one node. The platter survives everything but a wipe and a loss of power, which takes
// entries that were not synced; queued writes are written in order, one at a time, and a crash
// keeps a prefix of them. A write is atomic: if only a part of it
// was written, recovery drops it, as it does with a torn batch. The state lags behind the log, in
// rows; of the waiting deltas a crash keeps a prefix as well.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/prng.hpp"
#include "embed/runtime/driver.hpp"
#include "tests/sim/base/event_heap.hpp"
#include "tests/sim/base/swarm.hpp"
#include "tests/sim/base/tally.hpp"

namespace mortise::sim {

struct Platter {
    core::Incarnation incarnation;
    core::BootEpoch boot_epoch;  // of the newest run
    core::HardState hard_state;
    core::Unsynced unsynced = core::Unsynced::nothing;
    core::LogIndex synced;  // a loss of power leaves the entries up to here
    core::LogId base;
    core::Configuration configuration;  // at base
    std::deque<core::Entry> entries;
    core::LogIndex applied;  // what the state on disk contains
    core::Term applied_term;
    core::Configuration configuration_there;  // in force at `applied`
    std::map<std::string, std::string> rows;  // that state
    // The original checksums of rows in which a bit flipped.
    std::map<std::string, std::uint64_t> seals;
    core::SavedCountdowns countdowns;
    core::ClusterId former_cluster;  // known although log and state are gone
    std::uint64_t founding = 0;      // checksum of entry 1, also after it was purged
    // A snapshot being installed beside the state in force; a start drops it.
    std::map<std::string, std::string> unfinished;

    [[nodiscard]] bool knows_cluster() const { return last().index.is_set(); }
    [[nodiscard]] core::LogId applied_id() const { return {applied_term, applied}; }
    // The newest configuration in the log.
    [[nodiscard]] core::Configuration newest_configuration() const;

    [[nodiscard]] core::LogId last() const { return entries.empty() ? base : entries.back().id; }
    // Null if it was purged or does not exist.
    [[nodiscard]] const core::Entry* find(core::LogIndex index) const;
    // True if the log has this entry, or had it before it was purged.
    [[nodiscard]] bool has(core::LogId id) const;
};

// Receives the results of the writes.
class DiskListener {
public:
    virtual ~DiskListener() = default;
    virtual void on_platter(const core::HardState& before, const core::Write& write) = 0;
    virtual void write_done(core::WriteId id) = 0;
    virtual void write_failed() = 0;
};

class SimDisk final : public LogWriter {
public:
    // References outlive the disk.
    SimDisk(EventHeap& heap, Tally& tally, DiskListener& listener, std::uint64_t seed);

    void configure(const DiskOptions& options) { options_ = options; }

    void submit(core::Write write) override;
    void purge_to(const core::LogBase& base) override;
    // Waits for flush_state(), and for every write submitted until now.
    void save(core::StateDelta delta);
    // Likewise, in the order of both.
    void install(core::InstallStep step);
    // The last step of an install, if everything before it could be written: it is on the platter
    // now.
    std::optional<core::LogId> finish_install();
    [[nodiscard]] bool has_view(core::NodeId peer) const { return views_.contains(peer); }
    // Requires an open view, unless it opens one. Empty if a row is damaged.
    std::optional<core::SnapshotRows> read(const core::SnapshotRead& read);
    void close_view(core::NodeId peer) { views_.erase(peer); }
    // Writes some of the deltas that may be written, the oldest first. Returns the index of the
    // state if it has changed; there is no other report.
    std::optional<core::LogIndex> flush_state();
    // Not synced: a crash may restore the previous ones.
    void save_countdowns(core::SavedCountdowns countdowns) {
        earlier_countdowns_ = std::exchange(platter_.countdowns, std::move(countdowns));
    }

    // No write completes before that time.
    void stall_until(SimTime time);
    // The next write fails, and so do all after it until the next start.
    void fail_next_write() { fails_next_ = true; }
    // Ends all stalls and failures.
    void calm_down();
    // A prefix of the queue reached the platter; the rest is lost.
    void crash();
    // The next start does not know what was written. Some of the entries that were not synced may
    // be gone. Requires that the node is down.
    void lose_power(bool of_entries);
    // Replaces it by an empty disk. Requires that the node is down.
    void wipe(core::Incarnation incarnation, core::ClusterId former = {});
    // Requires that the node is down and that there is a cluster on the disk. It may keep the older
    // image.
    void take_image();
    // An image of a run before the last one; null if there is none.
    [[nodiscard]] const Platter* former_image() const;
    // Requires such an image, and that the node is down.
    void roll_back() { platter_ = *image_; }
    // As a snapshot of the volume while the node runs.
    void take_image_in_life();
    // The newest such image, if it is of the present run; else null.
    [[nodiscard]] const Platter* image_in_life() const;
    // Requires such an image, and that the node is down.
    void set_back() { platter_ = *std::exchange(image_in_life_, std::nullopt); }
    // What a start finds, with a new boot epoch; empty if the rows are no valid machine.
    [[nodiscard]] std::optional<core::NodeState> recover();

    // --- bits that flip (bit_flips.cpp)
    // Flips a bit of an entry or a row at rest. Returns false if there is nothing to damage.
    bool flip_bit();
    // Stays true until a start has examined the disk.
    [[nodiscard]] bool may_be_damaged() const { return may_be_damaged_; }
    void has_looked() { may_be_damaged_ = false; }
    // An entry or a row does not have its checksum.
    [[nodiscard]] bool is_damaged() const;

    [[nodiscard]] const Platter& platter() const { return platter_; }
    [[nodiscard]] std::size_t in_flight() const { return queue_.size(); }

private:
    void start_sync();
    void end_sync();
    void sync_in_background();
    void synced();
    void complete(std::size_t writes);
    void put_on_platter(const core::Write& write);
    void purge_platter();
    [[nodiscard]] bool are_rows_sound() const;
    bool flip_bit_of_entry();
    bool flip_bit_of_row();
    [[nodiscard]] std::size_t deltas_ready() const;
    void put_deltas_on_platter(std::size_t count);

    EventHeap& heap_;
    Tally& tally_;
    DiskListener& listener_;
    core::Prng prng_;
    DiskOptions options_;
    Platter platter_;
    std::optional<Platter> image_;  // of this directory, not of earlier ones
    std::optional<Platter> image_in_life_;
    std::deque<core::Write> queue_;
    std::size_t syncing_ = 0;  // how many writes at the front of the queue the current sync covers
    struct Saved {
        std::variant<core::StateDelta, core::InstallStep> what;
        core::WriteId behind;  // not before this write is done
    };
    void put(core::StateDelta& delta);
    void put(core::InstallStep& step);
    std::deque<Saved> deltas_;
    struct View {
        core::LogId last;
        core::Configuration configuration;
        std::map<std::string, std::string> rows;
    };
    std::map<core::NodeId, View> views_;
    core::WriteId submitted_;  // the newest write of this run
    core::WriteId done_;
    core::WriteId synced_;
    bool syncs_in_background_ = false;
    core::SavedCountdowns earlier_countdowns_;
    core::LogBase purge_to_;  // requested, and not done yet
    SimTime stalled_until_ = 0;
    bool may_be_damaged_ = false;
    bool fails_next_ = false;
    bool broken_ = false;
    bool reporting_ = false;     // nothing completes before the current report has returned
    std::uint64_t attempt_ = 0;  // the end of an earlier sync does not count
    std::uint64_t life_ = 0;     // and writes of an earlier run are not reported
};

}  // namespace mortise::sim
