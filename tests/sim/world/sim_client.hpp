// One client node and its connection to a member. The connection delivers in order, or breaks; a
// message may take as long as between members, so what was sent over a former connection may arrive
// after the first messages of the next one. A cut that neither side notices loses everything that
// is sent from then on.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "core/client/client_core.hpp"
#include "tests/sim/machine/sim_clock.hpp"
#include "tests/sim/world/cluster.hpp"

namespace mortise::sim {

// The program of a client, to which its effects are reported in their order.
class ClientProgram {
public:
    virtual ~ClientProgram() = default;
    virtual void client_lost(core::NodeId client, const core::HoldLost& lost) = 0;
    virtual void client_suspended(core::NodeId client, core::OperationId hold) = 0;
    virtual void client_lease_changed(core::NodeId client, const core::LeaseChanged& lease) = 0;
    virtual void client_answered(core::NodeId client, core::CallAnswer answer) = 0;
    virtual void client_contended(core::NodeId client, const core::Contended& contended) = 0;
    virtual void client_stepped(core::NodeId client, core::Instant now, core::Instant next) = 0;
};

class SimClient {
public:
    // The judges know the client under that id, which no member has. References outlive it.
    SimClient(core::NodeId id, World& world, Cluster& cluster, ClientProgram& program);

    void start();
    void crash();
    // What arrives meanwhile waits.
    void pause();
    void resume();
    void call(core::Call call);
    // Breaks the connection; if it is silent, neither side learns of it.
    void cut(bool silent);
    // From now on it can be connected with these members only.
    void reach_only(std::set<core::NodeId> members) { reachable_ = std::move(members); }
    // From now on nothing breaks.
    void calm_down();

    // The process of that member has ended.
    void member_lost(core::NodeId member);
    // A message of a member on that connection.
    void notified(core::ClientId connection, const core::ClientNotice& notice);
    // The member closes that connection.
    void hung_up(core::ClientId connection);

    [[nodiscard]] core::NodeId id() const { return id_; }
    [[nodiscard]] bool is_running() const { return core_ != nullptr; }
    [[nodiscard]] bool can_call() const { return is_running() && !paused_; }
    [[nodiscard]] const core::ClientCore& core() const { return *core_; }
    [[nodiscard]] core::Now now() const { return clock_.at(world_.heap.now()); }
    // Its present connection, for faults; not set if there is none.
    [[nodiscard]] core::NodeId member() const { return link_.member; }

private:
    struct Link {
        core::MemberConnectionId id;  // as the client numbers it
        core::ClientId connection;    // as the member does; not set: there is none
        core::NodeId member;
        SimTime out_at = 0;  // when the newest message arrives there
        SimTime in_at = 0;
    };

    void handle(core::ClientEvent event);
    void step(core::ClientEvent event);
    void carry_out(core::ClientEffects effects);
    void dial(const core::ClientEffects::Dial& dial);
    void send(core::ClientMessage&& message);
    void hang_up(bool member_hears);
    void tell_down(core::MemberConnectionId id);
    [[nodiscard]] SimTime delay();
    void set_timer();

    core::NodeId id_;
    World& world_;
    Cluster& cluster_;
    ClientProgram& program_;
    core::Prng prng_;
    SimClock clock_;
    std::unique_ptr<core::ClientCore> core_;
    std::set<core::NodeId> reachable_;
    bool is_calm_ = false;
    std::uint64_t life_ = 0;  // events of an earlier process do not happen
    bool paused_ = false;
    std::deque<core::ClientEvent> parked_;
    Link link_;
    // Former connections: what was sent over them still arrives.
    std::map<core::ClientId, core::NodeId> late_;
    std::uint64_t connections_ = 0;
    SimTime timer_at_ = sim_never;
    std::uint64_t timer_ = 0;
};

}  // namespace mortise::sim
