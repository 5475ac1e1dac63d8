// How often each fault was injected and each interesting place was reached. A fault that never
// happens, or a place that is never reached, is a hole in the simulation.
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
    crash_in_step,     // between the effects of one
    power_cut,         // every node at once
    pause,             // nothing of the process runs, its clocks go on
    suspend,           // nothing of the machine runs, its steady clock stands still
    clock_rate,        // within one per cent
    clock_rate_wild,   // beyond what is promised
    clock_frozen,      // shows the same for a while
    clock_jump,        // forward
    clock_near_limit,  // starts close to the end of what the number holds
    disk_stall,
    disk_slow,
    disk_error,
    disk_wiped,        // replaced by an empty one
    disk_damaged,      // likewise, and it is known which cluster it was of
    disk_rolled_back,  // to an image of it that a former life left
    bit_flip,    // in the log or the state at rest; found by a checksum, or never needed again
    write_lost,  // not synced, gone with a crash
    write_kept,  // not synced, there after a crash
    write_torn,  // half of it there, so none of it
    message_lost,
    message_repeated,
    message_overtaken,  // held back, so that later ones arrive before it
    message_late,       // of a connection, or a life, that is over
    cut_split,
    cut_isolate,
    cut_one_way,
    cut_bridge,  // two halves that share one member
    cut_silent,  // nobody is told
    cut_mute,    // hears late, and is not heard
    link_slow,
    connection_reset,
    member_added,  // these are asked for; what comes of it the leader decides
    member_promoted,
    member_removed,
    count,
};

constexpr auto fault_count = static_cast<std::size_t>(Fault::count);

using Faults = std::bitset<fault_count>;

[[nodiscard]] std::string_view name_of(Fault fault);
// As on the command line: "cut: split" is cut-split.
[[nodiscard]] std::string word_of(Fault fault);
[[nodiscard]] std::optional<Fault> fault_named(std::string_view word);

class Tally {
public:
    Tally();

    void fault(Fault fault) { ++faults_[static_cast<std::size_t>(fault)]; }
    // Throws unless the name is in the list of tally.cpp: a place that is not there is not missed.
    void probe(std::string_view name) { ++probes_.at(name); }
    void add(const Tally& other);
    // The faults and probes of which there was none.
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
