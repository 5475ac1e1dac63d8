// Executes the effects of the core in their order. It has no thread, no Asio and no clock: its
// owner calls handle() from one thread at a time. The simulator runs this class too.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/node/node_core.hpp"

namespace mortise {

// Writes to disk in the order of the calls. The parts of a `write` are written in their order, the
// reset first. Each write is reported as core::WriteDone, in the same order, once it is synced; the
// report may come from within submit(). A failure is reported by Driver::fail, and nothing after it
// is reported as done.
class LogWriter {
public:
    virtual ~LogWriter() = default;
    virtual void submit(core::Write write) = 0;
    // Entries up to and including `base` are not needed any more; the next start gets `base`
    // instead. It may be done at any time, or not at all if a crash comes first.
    virtual void purge_to(const core::LogBase& base) = 0;
};

// The state on disk, which may be older than the log. What a crash loses is replayed from the log.
class StateWriter {
public:
    virtual ~StateWriter() = default;
    // Takes effect on disk as a whole and in the order of the calls, so that a crash loses the
    // newest deltas only. It is never ahead of the log: it waits for every write that was submitted
    // before it. (It is not enough that the disk has an entry at `delta.applied`: a write in
    // progress may replace that entry.) Reports core::StateDurable{delta.applied.index} for the
    // newest delta that no crash can lose, at any time.
    virtual void save(core::StateDelta delta) = 0;
    // Saves this node's countdowns (S4), without a sync; only the newest ones matter.
    virtual void save_countdowns(core::SavedCountdowns countdowns) = 0;
    // Each read is answered with one core::SnapshotRows, in the order of the calls, from a view
    // that does not change after it was opened. A read that fails is not answered.
    virtual void read_snapshot(core::SnapshotRead read) = 0;
    // The view for that peer is not needed any more; it may not exist.
    virtual void close_snapshot(core::NodeId peer) = 0;
    // Executed in the order of the calls, save() included, and not before every write that was
    // submitted before it is done. Reports core::InstallTaken for each step when its memory is
    // free, and core::StateInstalled when a step that is `done` is durable.
    virtual void install(core::InstallStep step) = 0;
};

// Sends messages without waiting for answers. It may lose, repeat, delay and reorder them, but
// delivers nothing damaged.
class PeerSender {
public:
    virtual ~PeerSender() = default;
    // The message must not leave before the next flush(): the holds whose loss it reports are
    // marked lost before that.
    virtual void send(core::NodeId to, core::PeerMessage message) = 0;
    // What was sent leaves now. Called in every step that has sent something.
    virtual void flush() {}
    // The peers to be connected with from now on, and no others. A network that connects everybody
    // ignores it.
    virtual void set_peers(const std::vector<core::Member>& /*peers*/) {}
    // Closes the connections with that peer, which may open new ones.
    virtual void disconnect(core::NodeId /*peer*/) {}
    // The same for client nodes that are connected to this one.
    virtual void notify(core::ClientId /*client*/, const core::ClientNotice& /*notice*/) {}
    virtual void disconnect(core::ClientId /*client*/) {}
    // Closes a connection in place of which the client has another one.
    virtual void hang_up(core::ClientId /*client*/) {}
    // The client waits before it says more, or may say more again.
    virtual void pace(const core::ClientFlow::Change& /*change*/) {}
};

// Receives what became final, in this order within a step.
class Publisher {
public:
    virtual ~Publisher() = default;
    virtual void applied(const core::Applied& applied) = 0;
    // The log of this node has the entries up to `last` now, and they are on their way to its disk.
    virtual void appended(core::LogIndex /*last*/) {}
    virtual void lost(const core::HoldLost& lost) = 0;
    virtual void suspended(core::OperationId hold) = 0;
    virtual void lease_changed(const core::LeaseChanged& lease) = 0;
    virtual void answered(std::vector<core::CallAnswer> answers) = 0;
    // Contention on holds that are watched (core::WatchCall); the simulator watches them itself.
    virtual void contended(const core::Contended& /*contended*/) {}
    // This node was too far behind: its state is now a snapshot as of `last`, and the outcomes
    // before are not reported.
    virtual void state_replaced(core::LogId last) = 0;
    virtual void noted(const core::Note& note) = 0;
    // Nothing that this node says counts any more, and it sends nothing any more: it has to start
    // with an empty directory (core::Effects).
    virtual void superseded() = 0;
    // Likewise, but the node has to stop: a copy of its directory is in use elsewhere.
    virtual void copied() = 0;
    // The node has stopped for good, with the reason. Every hold is lost, and no call is answered
    // any more.
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

    // Runs one step and executes its effects. Has no effect once stopped.
    void handle(core::Event event, core::Now now);
    // Reports an error that a node cannot survive, such as a disk error: it stops (P5).
    void fail(const std::string& reason);
    // Stops without a report.
    void halt();

    [[nodiscard]] core::Instant deadline() const;
    [[nodiscard]] core::Hello hello() const { return core_.hello(); }
    [[nodiscard]] bool is_stopped() const { return stopped_; }
    // A port called back from within a step: handle() returns before the event is handled.
    [[nodiscard]] bool is_stepping() const { return stepping_; }
    [[nodiscard]] const core::NodeCore& core() const { return core_; }
    // Runs check_invariants() after every step.
    void check_every_step(bool on) { check_every_step_ = on; }

private:
    void step(core::Event event, core::Now now);
    void carry_out(core::Effects effects);
    void submit(core::Write write);
    void publish(core::Effects& effects);
    void save(core::Effects& effects);

    core::NodeCore core_;
    DriverPorts ports_;
    bool stopped_ = false;
    bool check_every_step_ = false;
    bool stepping_ = false;
    std::deque<std::pair<core::Event, core::Now>> waiting_;  // events that arrived within a step
};

}  // namespace mortise
