// Carries out what the core asks for, in its order. No thread, no Asio, no clock: whoever owns the
// driver calls handle() from one thread at a time. The simulator runs this very class.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/node/node_core.hpp"

namespace mortise {

// Writes to disk, in the order of the calls, what `write` says in the order in which it says it:
// the reset first. Each write is reported as core::WriteDone, in the same order, once it is synced;
// from within submit() too, if it can be that fast. A failure is reported by Driver::fail, and
// nothing after it is reported as done.
class LogWriter {
public:
    virtual ~LogWriter() = default;
    virtual void submit(const core::Write& write) = 0;
    // Entries up to and including that of `base` are not needed any more; a start is told of `base`
    // instead. May happen whenever it suits, or, if a crash comes before that, not at all.
    virtual void purge_to(const core::LogBase& base) = 0;
};

// The state on disk, behind the log; what it loses in a crash the log replays.
class StateWriter {
public:
    virtual ~StateWriter() = default;
    // Takes effect on disk whole and in the order of the calls, so that a crash loses the newest
    // ones and nothing else. Never ahead of the log: not before every write that was submitted
    // before it is done. (That the disk has an entry at `delta.applied` is not enough: it may be
    // one that a write under way replaces.) Reports core::StateDurable{delta.applied.index} of the
    // newest one that no crash can take back, whenever it suits.
    virtual void save(core::StateDelta delta) = 0;
    // What this node's countdowns have run (S4). Unsynced, and the newest is enough.
    virtual void save_countdowns(std::vector<core::SavedCountdown> countdowns) = 0;
    // Answered with one core::SnapshotRows each, in the order of the calls, from a view of the
    // state that stays as it was when it was opened. What cannot be read is not answered.
    virtual void read_snapshot(core::SnapshotRead read) = 0;
    // That peer's view is not needed any more; none may be open.
    virtual void close_snapshot(core::NodeId peer) = 0;
    // In the order of the calls, save() included, and not before every write that was submitted
    // before it is done. Reports core::InstallTaken of each, when it is not in memory any more, and
    // core::StateInstalled when a step that is `done` is durable.
    virtual void install(core::InstallStep step) = 0;
};

// One-way; may lose, repeat, delay and reorder, but delivers nothing damaged.
class PeerSender {
public:
    virtual ~PeerSender() = default;
    // Must not leave before the step is carried out: what it tells of is marked lost later in it.
    virtual void send(core::NodeId to, core::PeerMessage message) = 0;
    // Whom to be connected with from now on, and nobody else. A network that connects everybody
    // has nothing to do.
    virtual void set_peers(const std::vector<core::Member>& /*peers*/) {}
    // Closes the connections with that peer, which may make new ones.
    virtual void disconnect(core::NodeId /*peer*/) {}
};

// Told of what became final, in this order within a step.
class Publisher {
public:
    virtual ~Publisher() = default;
    virtual void applied(const core::Applied& applied) = 0;
    virtual void lost(const core::HoldLost& lost) = 0;
    virtual void suspended(core::OperationId hold) = 0;
    virtual void lease_changed(const core::LeaseChanged& lease) = 0;
    virtual void answered(core::CallAnswer answer) = 0;
    // Of holds that are watched (core::WatchCall); the simulator watches them itself.
    virtual void contended(const core::Contended& /*contended*/) {}
    // This node was too far behind: its state is now that of others as of `last`, and what happened
    // in between it will not be told.
    virtual void state_replaced(core::LogId last) = 0;
    virtual void noted(const core::Note& note) = 0;
    // Nothing that this node says counts any more, and it says nothing any more: it is to begin
    // anew (core::Effects).
    virtual void superseded() = 0;
    // Likewise, and it is to stop: a copy of its directory is in use elsewhere.
    virtual void copied() = 0;
    // The node has stopped for good, and why. Every hold is lost, no call is answered any more.
    virtual void stopped(const std::string& reason) = 0;
};

struct DriverPorts {
    LogWriter& log;
    StateWriter& state;
    PeerSender& peers;
    Publisher& publisher;
};

class Driver {
public:
    // References in `ports` outlive the driver.
    Driver(core::NodeOptions options, core::NodeState state, DriverPorts ports, core::Now now);

    // One step and all its effects. Does nothing once stopped.
    void handle(core::Event event, core::Now now);
    // The disk failed, or something else that a node cannot survive: it stops (P5).
    void fail(const std::string& reason);
    // Does nothing any more, and tells nobody.
    void halt();

    [[nodiscard]] core::Instant deadline() const;
    [[nodiscard]] core::Hello hello() const { return core_.hello(); }
    [[nodiscard]] bool is_stopped() const { return stopped_; }
    [[nodiscard]] const core::NodeCore& core() const { return core_; }
    // Runs check_invariants() after every step.
    void check_every_step(bool on) { check_every_step_ = on; }

private:
    void step(core::Event event, core::Now now);
    void carry_out(core::Effects effects);

    core::NodeCore core_;
    DriverPorts ports_;
    bool stopped_ = false;
    bool check_every_step_ = false;
    bool stepping_ = false;
    std::deque<std::pair<core::Event, core::Now>> waiting_;  // arrived from within a step
};

}  // namespace mortise
