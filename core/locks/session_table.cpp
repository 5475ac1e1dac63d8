#include "core/locks/session_table.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

bool SeqSet::contains(Seq seq) const {
    if (!seq.is_set()) return true;  // no number, so no new one
    const auto run = runs_.lower_bound(seq);
    return run != runs_.end() && run->second <= seq;
}

bool SeqSet::insert(Seq seq) {
    if (contains(seq)) return false;
    auto first = seq;
    auto last = seq;
    if (const auto before = runs_.find(seq.previous()); before != runs_.end()) {
        first = before->second;
        runs_.erase(before);
    }
    if (const auto behind = runs_.upper_bound(seq);
        behind != runs_.end() && behind->second == seq.next()) {
        last = behind->first;
        runs_.erase(behind);
    }
    runs_.emplace(last, first);
    return true;
}

bool SeqSet::append(Seq first, Seq last) {
    const bool fits = first.is_set() && first <= last &&
                      (runs_.empty() || runs_.rbegin()->first < first.previous());
    if (fits) runs_.emplace_hint(runs_.end(), last, first);
    return fits;
}

void Session::keep_answer(LogIndex at, Seq seq, Answer answer) {
    const bool first = answers.emplace(seq, std::move(answer)).second;
    MORTISE_CHECK(first);
    answered_.emplace_back(at, seq);
}

void Session::acknowledge(LogIndex received) {
    while (!answered_.empty() && answered_.front().first <= received) {
        answers.erase(answered_.front().second);
        answered_.pop_front();
    }
}

Session& SessionTable::open(const OpenSession& request, LogIndex at) {
    newest_ = newest_.next();
    auto& session = sessions_[newest_];
    session.id = newest_;
    session.opened = request;
    session.renewed_at = at;
    by_nonce_[request.nonce] = newest_;
    changes_.sessions.insert(newest_);
    auto& epoch = newest_epochs_[request.incarnation];
    epoch = std::max(epoch, request.boot_epoch);
    changes_.incarnations.insert(request.incarnation);
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
    by_nonce_.erase(node.mapped().opened.nonce);
    changes_.sessions.insert(id);
    return std::move(node.mapped());
}

BootEpoch SessionTable::newest_epoch(Incarnation incarnation) const {
    const auto found = newest_epochs_.find(incarnation);
    return found == newest_epochs_.end() ? BootEpoch{} : found->second;
}

bool SessionTable::restore(Session session) {
    const auto id = session.id;
    const auto nonce = session.opened.nonce;
    if (sessions_.contains(id) || by_nonce_.contains(nonce)) return false;
    sessions_.emplace(id, std::move(session));
    by_nonce_.emplace(nonce, id);
    return true;
}

bool SessionTable::restore(Incarnation incarnation, BootEpoch epoch) {
    return newest_epochs_.emplace(incarnation, epoch).second;
}

}  // namespace mortise::core
