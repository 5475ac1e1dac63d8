// Programs on client nodes: they acquire, hold, convert and release like those on members, and the
// same judges see their holds. Clients crash, pause, are cut off and are closed. At the end each
// must get a name once more, by the members that work.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/base/client_ids.hpp"
#include "tests/sim/judges/call_deadlines.hpp"
#include "tests/sim/judges/client_recalls.hpp"
#include "tests/sim/judges/lock_history.hpp"
#include "tests/sim/judges/tellings.hpp"
#include "tests/sim/load/cached_grants.hpp"
#include "tests/sim/load/call_drawing.hpp"
#include "tests/sim/world/sim_client.hpp"

namespace mortise::sim {

class ClientLoad final : public ClientProgram, private CachingPrograms {
public:
    struct Judges {
        LockHistory& history;
        CallDeadlines& deadlines;
        Tellings& tellings;
    };
    // References outlive it. `next_tag` numbers the calls of all programs.
    ClientLoad(World& world, Cluster& cluster, Judges judges, std::uint64_t& next_tag);

    [[nodiscard]] core::Now now(core::NodeId client) const override { return of(client).now(); }

    void start();
    void stop() { stopped_ = true; }
    void node_lost(core::NodeId node);
    // A step of a member has ended, which has applied that much.
    void member_stepped(core::LogIndex applied, const core::LockMachine& machine) {
        recalls_.member_stepped(applied, machine);
    }
    void notified(core::ClientId client, const core::ClientNotice& notice);
    void hung_up(core::ClientId client);
    void begin_liveness(const std::vector<core::NodeId>& core);
    [[nodiscard]] std::string still_owed() const;

    void client_lost(core::NodeId client, const core::HoldLost& lost) override;
    void client_suspended(core::NodeId client, core::OperationId hold) override;
    void client_lease_changed(core::NodeId client, const core::LeaseChanged& lease) override;
    void client_answered(core::NodeId client, core::CallAnswer answer) override;
    void client_contended(core::NodeId client, const core::Contended& contended) override;
    void client_stepped(core::NodeId client, core::Instant now, core::Instant next) override;

private:
    struct Held {
        core::NodeId client;
        std::vector<core::NamedMode> names;
    };

    [[nodiscard]] SimClient& of(core::NodeId client) const {
        return *clients_[static_cast<std::size_t>(client.raw() - first_client)];
    }
    void call_later();
    void call_somewhere();
    void fault_later();
    void fault();
    template <class AnyCall>
    void ask(core::NodeId client, AnyCall call);
    template <class AnyCall>
    void begin_waiting(core::NodeId client, AnyCall call);
    void cancel_sometimes(core::NodeId client, core::CallTag tag);
    void hold_for_a_while(core::NodeId client, core::OperationId hold);
    void convert(core::NodeId client, core::OperationId hold);
    void confirm(core::NodeId client, core::OperationId hold);
    void release(core::NodeId client, core::OperationId hold);
    void crash(SimClient& client);
    void close(SimClient& client);
    void ask_for_owed();
    // --- CachingPrograms
    [[nodiscard]] bool can_call(core::NodeId client) const override;
    [[nodiscard]] bool is_stopped() const override { return stopped_ || is_live_; }
    [[nodiscard]] bool is_crowded() const override;
    void call(core::NodeId client, core::Call call) override;
    void begin(core::NodeId client, core::AcquireCall call) override;
    [[nodiscard]] core::AcquireCall draw(core::NodeId client) override;
    void got_cached(core::NodeId client, core::OperationId grant, const std::string& name) override;
    void took_cached(core::NodeId client, core::OperationId grant) override;
    void publishes(core::OperationId grant) override { recalls_.ended(grant); }
    void gives_back(core::OperationId grant) override { recalls_.ended(grant); }

    World& world_;
    Cluster& cluster_;
    Judges judges_;
    std::uint64_t& next_tag_;
    core::Prng prng_;
    CallDrawing drawing_;
    ClientRecalls recalls_;
    CachedGrants cached_;
    std::vector<std::unique_ptr<SimClient>> clients_;
    bool stopped_ = false;
    bool is_live_ = false;  // the liveness phase has begun
    std::set<std::pair<core::NodeId, core::CallTag>> waiting_;
    std::map<core::OperationId, Held> holds_;
    std::map<core::CallTag, std::pair<core::OperationId, core::LockMode>> conversions_;
    std::map<core::NodeId, core::CallTag> closing_;
    std::set<core::OperationId> listened_to_;        // of the client that was last closed
    std::set<core::NodeId> owed_;                    // clients that have not got their name yet
    std::map<core::CallTag, core::NodeId> owed_by_;  // the calls for these names
};

}  // namespace mortise::sim
