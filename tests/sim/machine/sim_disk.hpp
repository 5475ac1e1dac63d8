// The disk of one node. What is on the platter survives everything but a wipe; what is in the queue
// is written in order, one at a time, and of that a crash leaves a prefix. A write is atomic: when
// only half of it got there, recovery drops it whole, as it does with a torn batch. The state lags
// behind the log, in rows; of the deltas that wait a crash leaves a prefix as well.
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
    core::BootEpoch boot_epoch;  // of the newest life
    core::HardState hard_state;
    core::LogId base;
    core::Configuration configuration;  // at base
    std::deque<core::Entry> entries;
    core::LogIndex applied;  // what the state on disk contains
    core::Term applied_term;
    core::Configuration configuration_there;  // in force at `applied`
    std::map<std::string, std::string> rows;  // that state
    // Of those in which a bit flipped: the checksums that they were written with.
    std::map<std::string, std::uint64_t> seals;
    core::SavedCountdowns countdowns;
    core::ClusterId former_cluster;  // known, although log and state are gone
    std::uint64_t founding = 0;      // checksum of entry 1, also once that is purged
    // Beside the state in force; a start drops it.
    std::map<std::string, std::string> unfinished;

    [[nodiscard]] bool knows_cluster() const { return last().index.is_set(); }
    [[nodiscard]] core::LogId applied_id() const { return {applied_term, applied}; }
    // The newest in the log.
    [[nodiscard]] core::Configuration newest_configuration() const;

    [[nodiscard]] core::LogId last() const { return entries.empty() ? base : entries.back().id; }
    // Null when purged or not there.
    [[nodiscard]] const core::Entry* find(core::LogIndex index) const;
    // True when the log has, or had before it purged it, this entry.
    [[nodiscard]] bool has(core::LogId id) const;
};

// Told what became of the writes.
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

    void submit(const core::Write& write) override;
    void purge_to(const core::LogBase& base) override;
    // Waits for flush_state(), and for every write submitted until now.
    void save(core::StateDelta delta);
    // As above, in the order of both.
    void install(core::InstallStep step);
    // A step that is done, if everything before it could get there: it is on the platter then.
    std::optional<core::LogId> finish_install();
    [[nodiscard]] bool has_view(core::NodeId peer) const { return views_.contains(peer); }
    // Requires a view unless it opens one. Empty when a row is damaged.
    std::optional<core::SnapshotRows> read(const core::SnapshotRead& read);
    void close_view(core::NodeId peer) { views_.erase(peer); }
    // Some of the deltas that may get to the platter, the oldest first, are there from now on. How
    // far the state is then, if that is news; nobody else is told.
    std::optional<core::LogIndex> flush_state();
    // Not synced: a crash may bring the ones before back.
    void save_countdowns(core::SavedCountdowns countdowns) {
        earlier_countdowns_ = std::exchange(platter_.countdowns, std::move(countdowns));
    }

    // Nothing completes before.
    void stall_until(SimTime time);
    // The next write to complete does not, and none after it until the next start.
    void fail_next_write() { fails_next_ = true; }
    // No stall and no failure any more.
    void calm_down();
    // A prefix of the queue reached the platter, the rest is lost.
    void crash();
    // An empty disk in its place. Requires that the node is down.
    void wipe(core::Incarnation incarnation, core::ClusterId former = {});
    // Requires that the node is down and that there is a cluster on it. Kept, or not.
    void take_image();
    // To the image of a life before the last one. Null: there is none.
    [[nodiscard]] const Platter* former_image() const;
    // Requires such an image, and that the node is down.
    void roll_back() { platter_ = *image_; }
    // What a start finds, with a new boot epoch; empty when the rows make no machine.
    [[nodiscard]] std::optional<core::NodeState> recover();

    // --- bits that flip (bit_flips.cpp)
    // ----------------------------------------------------------- One of an entry or a row at rest.
    // False when there is nothing to damage.
    bool flip_bit();
    // Until a start has looked.
    [[nodiscard]] bool may_be_damaged() const { return may_be_damaged_; }
    void has_looked() { may_be_damaged_ = false; }
    // An entry or a row is not what its checksum says.
    [[nodiscard]] bool is_damaged() const;

    [[nodiscard]] const Platter& platter() const { return platter_; }
    [[nodiscard]] std::size_t in_flight() const { return queue_.size(); }

private:
    void start_sync();
    void end_sync();
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
    std::optional<Platter> image_;  // of this directory, not of those before it
    std::deque<core::Write> queue_;
    std::size_t syncing_ = 0;  // so many of the queue's front are in the sync under way
    struct Saved {
        std::variant<core::StateDelta, core::InstallStep> what;
        core::WriteId behind;  // not before this one is done
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
    core::WriteId submitted_;  // the newest write of this life
    core::WriteId done_;
    core::SavedCountdowns earlier_countdowns_;
    core::LogBase purge_to_;  // asked for, not done yet
    SimTime stalled_until_ = 0;
    bool may_be_damaged_ = false;
    bool fails_next_ = false;
    bool broken_ = false;
    bool reporting_ = false;     // nothing completes before what is reported just now
    std::uint64_t attempt_ = 0;  // the end of an earlier sync does not count
    std::uint64_t life_ = 0;     // nor is what an earlier life wrote reported
};

}  // namespace mortise::sim
