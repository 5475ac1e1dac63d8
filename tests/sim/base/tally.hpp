// Counts how often each fault was injected and each probe was reached. A fault that never happens,
// or a probe that is never reached, is a gap in the simulation.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::sim {

enum class Fault : std::uint8_t {
    crash,             // between two steps
    crash_in_step,     // between the effects of one step
    power_cut,         // every node at once
    pause,             // the process does not run, its clocks continue
    suspend,           // the machine does not run, its steady clock stands still
    clock_rate,        // within one per cent
    clock_rate_wild,   // beyond the promised bound
    clock_frozen,      // shows the same time for a while
    clock_jump,        // forward
    clock_near_limit,  // starts close to the largest time
    disk_stall,
    disk_slow,
    disk_error,
    disk_wiped,        // replaced by an empty one
    disk_damaged,      // likewise, and the directory still names its cluster
    disk_rolled_back,  // to an image that an earlier run left
    bit_flip,    // in the log or the state at rest; detected by a checksum, or never read again
    write_lost,  // not synced, and lost in a crash
    write_kept,  // not synced, and present after a crash
    write_torn,  // written in part, so recovery drops it
    message_lost,
    message_repeated,
    message_overtaken,  // delayed, so that later ones arrive before it
    message_late,       // of a connection, or a run, that has ended
    cut_split,
    cut_isolate,
    cut_one_way,
    cut_bridge,  // two halves that share one member
    cut_silent,  // neither side is informed
    cut_mute,    // receives late, and nothing that it sends arrives
    link_slow,
    connection_reset,
    member_added,  // these are requested; the leader decides
    member_promoted,
    member_removed,
    member_lies,    // about terms, and who leads or is a member
    disk_set_back,  // to an image that was taken while its node ran, in the same life
    count,
};

constexpr auto fault_count = static_cast<std::size_t>(Fault::count);

using Faults = std::bitset<fault_count>;

[[nodiscard]] std::string_view name_of(Fault fault);
// The name on the command line: "cut: split" is cut-split.
[[nodiscard]] std::string word_of(Fault fault);
[[nodiscard]] std::optional<Fault> fault_named(std::string_view word);

class Tally {
public:
    Tally();

    void fault(Fault fault) { ++faults_[static_cast<std::size_t>(fault)]; }
    // Throws unless the name is in the list of tally.cpp, because an unlisted probe would never be
    // reported as missed.
    void probe(std::string_view name) { ++probes_.at(name); }
    void add(const Tally& other);
    // The faults and probes that did not occur.
    [[nodiscard]] std::vector<std::string_view> missed() const;

    [[nodiscard]] std::uint64_t of(Fault fault) const {
        return faults_[static_cast<std::size_t>(fault)];
    }
    [[nodiscard]] const std::map<std::string_view, std::uint64_t>& probes() const {
        return probes_;
    }

private:
    std::array<std::uint64_t, fault_count> faults_{};
    std::map<std::string_view, std::uint64_t> probes_;
};

}  // namespace mortise::sim
