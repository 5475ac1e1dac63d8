#include "core/node/own_memory.hpp"

namespace mortise::core {

namespace {

// No other question of any run of this directory has this id: the ids of calls are smaller
// (CallDesk).
ReadId question_id(BootEpoch epoch, std::uint64_t count) {
    constexpr std::uint64_t of_recovery = std::uint64_t{1} << 39U;
    return ReadId{(epoch.raw() << 40U) + of_recovery + count};
}

}  // namespace

void OwnMemory::recover(Instant now) {
    if (!raft_.is_forgetful()) {
        ask_at_ = Instant::never();
        return;
    }
    const auto leader = raft_.leader();
    const bool is_due = leader != leader_ || now >= ask_at_;
    leader_ = leader;
    if (!leader || !is_due) return;
    question_ = question_id(options_.generation.boot_epoch, ++asked_);
    ask_at_ = now + options_.election_timeout;
    raft_.read(question_, now);
}

bool OwnMemory::granted(ReadId id, LogIndex index) {
    if (!question_.is_set() || id != question_) return false;
    question_ = {};
    raft_.recover_at(index);
    return true;
}

Instant OwnMemory::deadline() const {
    return leader_ ? ask_at_ : Instant::never();
}

}  // namespace mortise::core
