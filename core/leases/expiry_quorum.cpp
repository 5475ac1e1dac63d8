#include "core/leases/expiry_quorum.hpp"

namespace mortise::core {

void ExpiryQuorum::forget(SessionId session) {
    quorum_.forget_if([&](const RunOut& one) { return one.session == session; });
}

std::vector<Expire> ExpiryQuorum::decide(const Configuration& configuration, NodeId self,
                                         const std::set<RunOut>& own, const SessionTable& sessions,
                                         const HasRenewal& has_renewal) {
    const auto is_newest = [&](const RunOut& one) {
        const auto* session = sessions.find(one.session);
        return session != nullptr && session->renewed_at == one.renewed_at;
    };
    std::vector<Expire> expired;
    for (const auto& one : quorum_.decide({configuration, self}, own, is_newest,
                                          [&](const auto& of) { return !has_renewal(of.session); }))
        expired.push_back({one.session, one.renewed_at});
    return expired;
}

}  // namespace mortise::core
