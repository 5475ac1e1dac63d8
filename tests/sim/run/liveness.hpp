// The second half of a run: a majority that can communicate is healed, and then has to make
// progress.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/world/cluster.hpp"

namespace mortise::sim {

class Liveness {
public:
    // References outlive it.
    Liveness(World& world, Cluster& cluster);

    // Chooses the core of nodes and ends its faults. False if no core could make progress.
    bool begin();
    // A disk that was replaced just before belongs to no voter once the cluster is formed.
    [[nodiscard]] bool is_void() const;
    // Empty if the core has a leader and agrees, and the workload has its answers. Otherwise says
    // what is missing.
    [[nodiscard]] std::string missing() const;
    [[nodiscard]] SimTime deadline() const { return deadline_; }

    // Called after each event, until there is one: a leader that commits must not take longer (P7).
    void look_for_a_leader();
    // Counts from the end of the faults; empty while there was none.
    [[nodiscard]] std::optional<SimTime> led_after() const { return led_after_; }

    // After that time no calls are made, so next to no messages are sent once those in transit have
    // arrived.
    [[nodiscard]] SimTime settle_until() const;
    void begin_idle();
    [[nodiscard]] SimTime idle_until() const { return idle_until_; }
    void end_idle();

private:
    [[nodiscard]] std::vector<core::NodeId> able() const;
    [[nodiscard]] bool is_in_core(core::NodeId node) const;
    void leave_out_whose_state_stands();
    [[nodiscard]] bool is_running_core() const;
    [[nodiscard]] bool is_led() const;
    [[nodiscard]] bool can_be_founded() const;
    [[nodiscard]] SimTime transfer_time() const;
    [[nodiscard]] SimTime closed_time() const;
    [[nodiscard]] SimTime silence_time() const;
    [[nodiscard]] SimTime meeting_time() const;
    [[nodiscard]] std::uint64_t renewal_messages(SimTime length) const;
    [[nodiscard]] bool can_go_on(const std::set<core::NodeId>& nodes) const;
    void choose_core(std::vector<core::NodeId> nodes);
    void calm_network();
    void cut_off_the_others();
    void let_the_others_talk();
    void cut_off_one();
    void wake_core();

    World& world_;
    Cluster& cluster_;
    core::Prng prng_;
    std::vector<core::NodeId> core_;
    SimTime began_ = 0;
    SimTime led_by_ = 0;
    std::optional<SimTime> led_after_;
    SimTime deadline_ = 0;
    SimTime idle_until_ = 0;
    core::NodeId idle_leader_;
    core::Term idle_term_;
    std::uint64_t idle_messages_ = 0;
};

}  // namespace mortise::sim
