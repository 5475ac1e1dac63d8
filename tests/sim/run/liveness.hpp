// The second half of a run: a majority that can talk is healed, and then has to get somewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/sim/world/cluster.hpp"

namespace mortise::sim {

class Liveness {
public:
    // References outlive it.
    Liveness(World& world, Cluster& cluster);

    // Chooses the core of nodes and ends its faults. False when none could make progress.
    bool begin();
    // A disk that was replaced just before belongs to nobody's voter once the cluster is founded.
    [[nodiscard]] bool is_void() const;
    // The core is led, agrees, and the workload has what it was owed. Else what is missing.
    [[nodiscard]] std::string missing() const;
    [[nodiscard]] SimTime deadline() const { return deadline_; }

    // After each event, until there is one: a leader that commits must not take longer (P7).
    void look_for_a_leader();
    // From the end of the faults; nothing while there was none.
    [[nodiscard]] std::optional<SimTime> led_after() const { return led_after_; }

    // After that nothing is asked, so, once what was under way has arrived, next to nothing is
    // said.
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
    [[nodiscard]] SimTime silence_time() const;
    [[nodiscard]] std::uint64_t renewal_messages(SimTime length) const;
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
    std::optional<SimTime> led_after_;
    SimTime deadline_ = 0;
    SimTime idle_until_ = 0;
    core::NodeId idle_leader_;
    core::Term idle_term_;
    std::uint64_t idle_messages_ = 0;
};

}  // namespace mortise::sim
