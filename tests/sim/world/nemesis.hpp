// Injects faults: at intervals one of those that this run has switched on, for a while.
#pragma once

#include "tests/sim/world/cluster.hpp"

namespace mortise::sim {

class Nemesis {
public:
    // References outlive the nemesis.
    Nemesis(World& world, Cluster& cluster);

    void start();
    void stop();

private:
    void strike_later();
    void strike();
    void strike_at_turmoil();
    void inflict(Fault fault);
    [[nodiscard]] Fault draw_fault();
    [[nodiscard]] core::NodeId draw_node();
    [[nodiscard]] core::NodeId draw_running();  // mostly the leader
    [[nodiscard]] SimTime draw_length();

    // nodes
    void crash(Fault kind);
    void power_cut();
    void pause(Fault kind);
    [[nodiscard]] core::NodeId draw_wild();
    void freeze_clock();
    void jump_clock();
    void change_rate(Fault kind);
    void tempt(core::NodeId fast);
    [[nodiscard]] bool is_on_trial() const {
        return world_.swarm.lease_trial && world_.heap.now() < trial_until_;
    }
    void disturb_disk(Fault kind);
    void wipe(Fault kind);
    void roll_back();
    void take_image();
    void set_back_later(core::NodeId node, int tries);
    void wait_for_leader();
    [[nodiscard]] bool has_acknowledged_more(core::NodeId node, core::NodeId leader,
                                             core::LogIndex last) const;
    [[nodiscard]] bool do_others_know(core::NodeId node, core::LogIndex last) const;
    [[nodiscard]] bool may_forget(core::NodeId node, core::NodeId witness) const;
    void flip_bit();
    [[nodiscard]] bool can_be_missed(core::NodeId node) const;
    [[nodiscard]] bool is_known_to_another_first_voter(core::NodeId than) const;
    void change_members(Fault kind);
    void lie();
    void lie(core::NodeId to);
    // links
    void split();
    void isolate();
    void isolate(core::NodeId alone);
    void one_way();
    void bridge();
    void mute();
    void fall_behind(core::NodeId node, SimTime lag);
    void hear_late(core::NodeId node, SimTime by);
    void silence(core::NodeId node, SimTime length);
    void slow_link();
    void reset();
    void cut_between(core::NodeId a, core::NodeId b);
    void heal_later();

    World& world_;
    Cluster& cluster_;
    core::Prng prng_;
    std::uint64_t cuts_ = 0;   // only the newest one is healed by its own timer
    SimTime calm_until_ = 0;   // nothing is inflicted
    SimTime trial_until_ = 0;  // end of the present lease trial; the next one begins after it
    bool stopped_ = false;
};

}  // namespace mortise::sim
