// What follows the log to disk: the state, in deltas; and which part of the log may be purged then.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/node/node_core.hpp"

namespace mortise::core {

namespace {

// This many rows make a delta early: a delta is one piece of work for the writer, and entries that
// no delta contains cannot be purged.
constexpr std::size_t delta_rows = 512;
constexpr std::uint64_t delta_entries = 1'024;
constexpr std::size_t delta_log_bytes = std::size_t{4} << 20U;
constexpr std::size_t held_for_states = std::size_t{64} << 20U;

}  // namespace

// Only applying changes the state, so an idle node makes no delta.
void NodeCore::hand_over_state(Now now) {
    if (applied_ == handed_over_ || raft_.is_installing()) return;
    if (state_due_ == Instant::never()) state_due_ = now.steady + options_.state_interval;
    const bool much = machine_.changed_rows() >= delta_rows ||
                      applied_.raw() - handed_over_.raw() >= delta_entries ||
                      lag_.log_bytes() >= delta_log_bytes;
    if (!much && now.steady < state_due_) return;
    hand_over_rows();
}

void NodeCore::hand_over_rows() {
    const auto term = raft_.log().term_at(applied_);
    MORTISE_CHECK(term.has_value());
    StateDelta delta{{*term, applied_},
                     raft_.configuration_at(applied_),
                     machine_.take_changed_rows(),
                     lag_.log_bytes()};
    lag_.handed_over(delta);
    effects_.save_state.push_back(std::move(delta));
    handed_over_ = applied_;
    state_due_ = Instant::never();
}

// P11: an overloaded leader rejects acquires. Endings have more capacity; and renewals even more,
// because each rejected acquire causes a cancel: no session expires because of a slow disk.
bool NodeCore::takes_acquires() const {
    return proposer_.has_room() && !lags_by_more_than(4);
}

bool NodeCore::takes_endings() const {
    return !lags_by_more_than(5);
}

bool NodeCore::takes_entries() const {
    return !lags_by_more_than(6);
}

bool NodeCore::lags_by_more_than(std::size_t quarters) const {
    return lag_.bytes() > options_.state_lag_bytes_max / 4 * quarters;
}

// The log is kept until the slowest member has it, within limits: a member that is further behind
// is cut off.
void NodeCore::on(const StateDurable& event, Now /*now*/) {
    lag_.durable(event.index);
    auto target = std::min({event.index, applied_, raft_.durable_index()});
    const auto bytes = raft_.log().bytes();
    if (bytes <= options_.log_bytes_max) target = std::min(target, raft_.replicated_index());
    // Who is being sent a state goes on from there; were that gone it would need another one (S12).
    const auto sent = raft_.oldest_state_sent();
    if (sent && bytes <= options_.log_bytes_max + held_for_states) target = std::min(target, *sent);
    if (target <= raft_.log().base().index) return;
    raft_.purge_to(target);
    effects_.purge_log_to = raft_.base();
}

}  // namespace mortise::core
