// The judge of the cached grants of client nodes (S40, docs/decisions/0093): a client that has
// received everything up to an entry was told of everybody who waits for its cached grants then,
// and without a member that would tell it, all of them were recalled.
#pragma once

#include <map>
#include <set>
#include <string>

#include "core/agent/call.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/violations.hpp"

namespace mortise::sim {

class ClientRecalls {
public:
    ClientRecalls(Violations& violations, Tally& tally) : violations_{violations}, tally_{tally} {}

    void cached(core::NodeId client, core::OperationId grant, std::string name);
    // It goes back, was lost, or became an ordinary grant.
    void ended(core::OperationId grant) { grants_.erase(grant); }
    void client_lost(core::NodeId client);
    void told(const core::Contended& contended);

    // A step of a member has ended, which has applied that much.
    void member_stepped(core::LogIndex applied, const core::LockMachine& machine);
    // A step of a client has ended, which has received everything up to there. `hears`: a member
    // tells it of recalls.
    void client_stepped(core::NodeId client, core::LogIndex position, bool hears);
    // A caller took the grant from the cache.
    void took(core::OperationId grant, bool hears);

private:
    struct Cached {
        core::NodeId client;
        std::string name;
        bool was_told = false;
        std::set<core::LogIndex> wanted_at{};  // others waited for it after these entries
    };

    void report(core::OperationId grant, const Cached& cached, const std::string& what);

    Violations& violations_;
    Tally& tally_;
    std::map<core::OperationId, Cached> grants_;
};

}  // namespace mortise::sim
