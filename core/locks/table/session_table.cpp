#include "core/locks/table/session_table.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

Session& SessionTable::open(const OpenSession& request, LogIndex at) {
    newest_ = newest_.next();
    auto& session = sessions_[newest_];
    session.id = newest_;
    session.opened = request;
    session.renewed_at = at;
    if (session.is_clients()) ++clients_;
    by_nonce_[request.nonce] = newest_;
    changes_.sessions.insert(newest_);
    const auto& opener = request.generation;
    if (!opener.incarnation.is_set()) return session;
    auto& epoch = newest_epochs_[opener.incarnation];
    epoch = std::max(epoch, opener.boot_epoch);
    changes_.incarnations.insert(opener.incarnation);
    return session;
}

Session* SessionTable::change(SessionId id) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return nullptr;
    changes_.sessions.insert(id);
    return &found->second;
}

const Session* SessionTable::find(SessionId id) const {
    const auto found = sessions_.find(id);
    return found == sessions_.end() ? nullptr : &found->second;
}

const Session* SessionTable::find_by_nonce(std::uint64_t nonce) const {
    const auto found = by_nonce_.find(nonce);
    return found == by_nonce_.end() ? nullptr : find(found->second);
}

Session SessionTable::remove(SessionId id) {
    auto node = sessions_.extract(id);
    MORTISE_CHECK(!node.empty());
    if (node.mapped().is_clients()) --clients_;
    by_nonce_.erase(node.mapped().opened.nonce);
    changes_.sessions.insert(id);
    return std::move(node.mapped());
}

bool SessionTable::is_newest_renewal(SessionId id, LogIndex renewed_at) const {
    const auto* session = find(id);
    return session != nullptr && session->renewed_at == renewed_at;
}

Generation SessionTable::newest_start(Incarnation incarnation) const {
    const auto found = newest_epochs_.find(incarnation);
    return {incarnation, found == newest_epochs_.end() ? BootEpoch{} : found->second};
}

bool SessionTable::restore(Session session) {
    const auto id = session.id;
    const auto nonce = session.opened.nonce;
    if (sessions_.contains(id) || by_nonce_.contains(nonce)) return false;
    if (session.is_clients()) ++clients_;
    sessions_.emplace(id, std::move(session));
    by_nonce_.emplace(nonce, id);
    return true;
}

bool SessionTable::restore(Incarnation incarnation, BootEpoch epoch) {
    return newest_epochs_.emplace(incarnation, epoch).second;
}

}  // namespace mortise::core
