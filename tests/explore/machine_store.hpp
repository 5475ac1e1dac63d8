// The known machines, the packets, and the effect of each event on each machine. A known machine is
// not run again: among millions of states of the cluster there are few different ones of a node,
// which makes an exhaustive search of the real code affordable.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/explore/interned.hpp"
#include "tests/explore/machine.hpp"

namespace mortise::explore {

// The data that the invariants examine.
struct EntryMark {
    core::Term term;
    std::uint64_t checksum = 0;
    core::EntryKind kind = core::EntryKind::noop;

    friend bool operator==(const EntryMark&, const EntryMark&) = default;
};

struct Known {
    Machine machine;
    std::vector<EntryMark> log;   // from index 1 on
    std::vector<EntryMark> disk;  // the part that would survive a crash now
};

struct Step {
    Number next = 0;
    std::vector<Number> sent;
    std::optional<core::LogIndex> read_at;
    std::string problem;
};

class MachineStore {
public:
    Number add(Machine machine);
    const Step& step(Number machine, Event event);

    [[nodiscard]] const Known& machine(Number number) const { return machines_[number]; }
    [[nodiscard]] const Packet& packet(Number number) const { return packets_[number]; }
    [[nodiscard]] std::size_t machines() const { return machines_.size(); }
    [[nodiscard]] std::size_t packets() const { return packets_.size(); }
    [[nodiscard]] std::size_t steps() const { return steps_.size(); }

private:
    Step run(Number machine, Event event);

    Interned<Known> machines_;
    Interned<Packet> packets_;
    std::unordered_map<std::uint64_t, Step> steps_;
};

}  // namespace mortise::explore
