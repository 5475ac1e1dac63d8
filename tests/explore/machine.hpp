// One node: the real Raft object, its disk, and the writes in progress between them. It is copied
// for every event, so that every event can be tried from every state.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/raft/raft.hpp"

namespace mortise::explore {

enum class Act : std::uint8_t {
    deliver,     // argument: a message
    write_done,  // the oldest
    time_out,    // its clock passes every deadline
    heartbeat,   // of a leader
    propose,     // argument: its EntryKind
    read,
    transfer,  // argument: to this node
    crash,     // argument: how many of the writes in progress reached the disk; then it restarts
    sync,      // of what was written without a sync
    // The node crashes, and none of the writes in progress reached the disk. Argument: how many of
    // the unsynced entries are left.
    lose_power,
    meet,     // argument: the run of another node that says hello, see run_of()
    recover,  // a node that may have forgotten entries asks its leader what is committed
};

struct Event {
    Act act = Act::deliver;
    std::uint32_t argument = 0;
};

struct Packet {
    core::NodeId from;
    core::NodeId to;
    core::RaftMessage message;
};

struct Machine {
    core::NodeId self;
    core::Raft raft;
    core::RaftState disk;
    std::deque<core::Write> writes;
    core::Instant now;
    core::LogIndex synced{};  // of the entries on disk
    std::uint8_t losses = 0;  // of power
    std::uint8_t asked = 0;   // how often it asked what is committed
    // How often each node had lost power when it said hello here. Until then nothing that it says
    // arrives.
    std::array<std::uint8_t, 3> met{};
};

// Names a run of a node, for a `meet`.
[[nodiscard]] inline std::uint32_t run_of(const Machine& machine) {
    return static_cast<std::uint32_t>(machine.self.raw()) << 8U | machine.losses;
}

// The effects of a step, besides the new state.
struct Effects {
    std::vector<Packet> sent;
    std::optional<core::LogIndex> read_at;  // a read was granted at that index
    std::string problem;                    // an error that this machine alone shows
};

[[nodiscard]] Machine start(core::NodeId self, core::RaftState disk);
// `packet` belongs to deliver. The former state is not needed any more.
[[nodiscard]] Effects apply(Machine& machine, Event event, const Packet* packet);

// The bytes that identify a machine.
[[nodiscard]] std::string identity_of(const Machine& machine);
[[nodiscard]] std::string identity_of(const Packet& packet);

}  // namespace mortise::explore
