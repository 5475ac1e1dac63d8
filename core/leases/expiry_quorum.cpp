#include "core/leases/expiry_quorum.hpp"

#include "core/base/mutant.hpp"
#include "core/raft/quorum.hpp"

namespace mortise::core {

void ExpiryQuorum::report(NodeId from, const std::vector<RunOut>& run_out) {
    for (const auto& one : run_out)
        reported_[one].insert(from);
}

void ExpiryQuorum::clear() {
    reported_.clear();
    decided_.clear();
}

void ExpiryQuorum::forget(SessionId session) {
    const auto of_session = [&](const RunOut& one) { return one.session == session; };
    std::erase_if(reported_, [&](const auto& entry) { return of_session(entry.first); });
    std::erase_if(decided_, of_session);
}

// Answers may be older than the end of what they name. If it is this node that is behind, it is
// told again.
void ExpiryQuorum::drop_void(const SessionTable& sessions) {
    std::erase_if(reported_, [&](const auto& entry) {
        const auto* session = sessions.find(entry.first.session);
        return session == nullptr || session->renewed_at != entry.first.renewed_at;
    });
}

std::vector<Expire> ExpiryQuorum::decide(const Configuration& configuration, NodeId self,
                                         const std::set<RunOut>& own, const SessionTable& sessions,
                                         const HasRenewal& has_renewal) {
    std::vector<Expire> expired;
    for (const auto& candidate : own)
        reported_[candidate];
    drop_void(sessions);
    for (const auto& [run_out, members] : reported_) {
        if (has_renewal(run_out.session)) continue;
        const auto& who = members;
        const auto& what = run_out;
        const bool alone = planted(Mutant::expiry_by_leader_alone) && own.contains(what);
        const bool agreed = alone || has_quorum(configuration, [&](NodeId id) {
                                return id == self ? own.contains(what) : who.contains(id);
                            });
        if (agreed && decided_.insert(run_out).second) {
            expired.push_back({run_out.session, run_out.renewed_at});
        }
    }
    return expired;
}

}  // namespace mortise::core
