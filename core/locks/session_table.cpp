#include "core/locks/session_table.hpp"

#include <algorithm>

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
    auto& epoch = newest_epochs_[request.incarnation];
    epoch = std::max(epoch, request.boot_epoch);
    return session;
}

Session* SessionTable::find(SessionId id) {
    const auto found = sessions_.find(id);
    return found == sessions_.end() ? nullptr : &found->second;
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
    return std::move(node.mapped());
}

BootEpoch SessionTable::newest_epoch(Incarnation incarnation) const {
    const auto found = newest_epochs_.find(incarnation);
    return found == newest_epochs_.end() ? BootEpoch{} : found->second;
}

}  // namespace mortise::core
