// One node and the process around it: a driver between its ports, a disk, clocks, and ways to die.
// Every effect of the driver passes through here, so a crash may happen between any two effects.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "tests/sim/machine/sim_clock.hpp"
#include "tests/sim/machine/sim_disk.hpp"
#include "tests/sim/world/world.hpp"

namespace mortise::sim {

enum class PowerLoss : std::uint8_t {
    never,       // the cluster could not go on
    of_nothing,  // the node does not know that, so an era may have to begin (docs/decisions/0095)
    of_entries,  // a majority remembers them
};

// The owner of the nodes, and of the network between them.
class NodeOwner {
public:
    virtual ~NodeOwner() = default;
    virtual void carry(core::NodeId from, core::NodeId to, core::PeerMessage&& message) = 0;
    virtual void disconnect(core::NodeId a, core::NodeId b) = 0;
    virtual void notify(core::NodeId from, core::ClientId client, core::ClientNotice&& notice) = 0;
    virtual void hang_up(core::NodeId from, core::ClientId client) = 0;
    virtual void died(core::NodeId node) = 0;
    // The node is down, and has moved its directory aside; its process continues with an empty one.
    virtual void begins_anew(core::NodeId node) = 0;
    // What may be gone if that node's machine loses power, so that the cluster has everything.
    [[nodiscard]] virtual PowerLoss power_loss_of(core::NodeId node) const = 0;
    // A step of the node has ended, and it lives.
    virtual void stepped(core::NodeId node) = 0;
    // The node, which leads, has noted that this peer counts again.
    virtual void counts_again(core::NodeId node, core::NodeId peer) = 0;
};

class SimNode final : public LogWriter,
                      public StateWriter,
                      public PeerSender,
                      public Publisher,
                      public DiskListener {
public:
    // References outlive the node.
    SimNode(core::NodeId id, std::vector<core::Member> voters, World& world, NodeOwner& owner);

    // --- its life -------------------------------------------------------------------------------
    void start();
    void crash();
    // Its machine loses power, if the cluster can go on after that.
    void cut_power();
    // Crashes within the effects of a step: this many of them are still executed.
    void crash_in_step(std::uint64_t effects) { effects_left_ = effects + 1; }
    void pause();
    void suspend(SimTime until);  // the disk stands still as well
    void resume();                // after a pause or a suspend
    // Requires that the node is down. The disk may still name its former cluster.
    void wipe_disk(core::ClusterId former = {});
    // Requires that the node is down and that its disk has an earlier image.
    void roll_back();
    // Likewise, with the image of its last run.
    void set_back();
    // Whether it runs or not, it continues with an empty directory, and knows its former cluster.
    void begin_anew();
    void set_clock_rate(std::int64_t ppm);
    void freeze_clock() { set_clock_rate(SimClock::frozen_ppm); }
    void thaw_clock();  // if it is frozen
    void jump_clock(core::Nanoseconds forward);
    void calm_down();  // the faults have ended: disk and clock work normally

    // The present values of its clocks.
    [[nodiscard]] core::Now now() const { return clock_.at(world_.heap.now()); }
    // The largest deviations of its clocks, slow and fast, in this simulation.
    [[nodiscard]] std::int64_t slowest_ppm() const { return slowest_ppm_; }
    [[nodiscard]] std::int64_t fastest_ppm() const { return fastest_ppm_; }

    // Executes one step, now or when the node is resumed.
    void handle(core::Event event);

    [[nodiscard]] core::NodeId id() const { return id_; }
    [[nodiscard]] bool is_running() const { return driver_ != nullptr; }
    [[nodiscard]] bool is_paused() const { return paused_; }
    // New events wait until it has processed what arrived during a pause.
    [[nodiscard]] bool is_catching_up() const { return catching_up_; }
    [[nodiscard]] const Driver& driver() const { return *driver_; }  // requires is_running()
    [[nodiscard]] const core::Raft& raft() const { return driver_->core().raft(); }
    [[nodiscard]] SimDisk& disk() { return disk_; }
    [[nodiscard]] const SimDisk& disk() const { return disk_; }

    // --- ports ----------------------------------------------------------------------------------
    void submit(core::Write write) override;
    void purge_to(const core::LogBase& base) override;
    void send(core::NodeId to, core::PeerMessage message) override;
    void save(core::StateDelta delta) override;
    void save_countdowns(core::SavedCountdowns countdowns) override;
    void read_snapshot(core::SnapshotRead read) override;
    void close_snapshot(core::NodeId peer) override;
    void install(core::InstallStep step) override;
    void lost(const core::HoldLost& lost) override;
    void suspended(core::OperationId hold) override;
    void contended(const core::Contended& contended) override;
    void lease_changed(const core::LeaseChanged& lease) override;
    void answered(std::vector<core::CallAnswer> answers) override;
    void state_replaced(core::LogId last) override;
    void applied(const core::Applied& applied) override;
    void noted(const core::Note& note) override;
    void superseded() override;
    void copied() override;
    void disconnect(core::NodeId peer) override;
    void notify(core::ClientId client, const core::ClientNotice& notice) override;
    void disconnect(core::ClientId client) override;
    void hang_up(core::ClientId client) override;
    void stopped(const std::string& reason) override;
    void on_platter(const core::HardState& before, const core::Write& write) override;
    void write_done(core::WriteId id) override;
    void write_failed() override;

private:
    void step(core::Event event);
    [[nodiscard]] core::Now read_clocks();
    void judge_times();
    [[nodiscard]] std::size_t unread_from(core::NodeId peer) const;
    void judge_step(std::size_t kind);
    void forget_write(core::WriteId id);
    void change_answered(const core::CallAnswer& answer);
    [[nodiscard]] bool is_dead();  // checked before each effect
    void resume_clock();
    void catch_up();
    void set_timer();
    void timer_fired();
    [[nodiscard]] core::NodeOptions draw_options();
    void reset_clock();
    // False if the cluster could not go on.
    bool restart_machine();
    void look_for_damage();
    void check_recovered_state();
    void schedule_flush();
    [[nodiscard]] bool may_flush() const;
    void flush();
    void take_install();
    void finish_install();
    void set_aside();
    void upgrade_sometimes();
    void tell_format(const core::Entry& entry);
    void say(const char* text, std::uint64_t a = 0, std::uint64_t b = 0);

    core::NodeId id_;
    std::vector<core::Member> voters_;
    World& world_;
    NodeOwner& owner_;
    core::Prng prng_;
    SimDisk disk_;
    SimClock clock_;
    core::Prng walls_;  // of its wall clock, which leaps at any time
    std::uint64_t wall_ahead_ms_ = 0;
    core::ClockMark newest_mark_{};  // of this life
    std::int64_t slowest_ppm_ = 0;
    std::int64_t fastest_ppm_ = 0;
    bool power_was_cut_ = false;
    bool machine_restarted_ = false;  // the state of the former process is unknown (S10)
    std::uint8_t command_format_ = core::command_format_newest;  // by its version
    std::unique_ptr<Driver> driver_;

    std::uint64_t life_ = 0;  // events that an earlier run has scheduled do not happen
    bool stepping_ = false;
    bool begins_anew_ = false;        // when this step has ended
    bool dead_ = false;               // the remaining effects of this step do not happen
    std::uint64_t effects_left_ = 0;  // zero: no crash is planned
    bool paused_ = false;
    bool suspended_ = false;
    bool catching_up_ = false;        // resumed, but parked events come first
    std::deque<core::Event> parked_;  // arrived while paused
    struct Unsynced {
        core::WriteId id;
        core::Instant at;  // the time of submission, by its own clock
    };
    std::deque<Unsynced> unsynced_;  // as far as the core knows
    core::Checksum effects_;         // of the current step

    SimTime read_at_ = 0;   // when the newest read of a view is answered
    SimTime taken_at_ = 0;  // when the newest step of an install is answered

    SimTime timer_at_ = sim_never;
    std::uint64_t timer_ = 0;  // timers that were set earlier do not fire
};

}  // namespace mortise::sim
