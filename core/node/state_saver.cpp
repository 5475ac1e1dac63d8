#include "core/node/state_saver.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

namespace {

// With this many changed names some rows are made although no delta is due, so that few are left
// when it is. With fewer, the row of a busy name would be made several times in the interval.
constexpr std::size_t names_changed_max = 4'096;
// Rows of sessions are made in one step, so a delta is due when so many have changed.
constexpr std::size_t sessions_changed_max = 4'096;
// So many are made in one step: one takes up to five microseconds (P10).
constexpr std::size_t rows_per_step_max = 512;
// Entries that no delta contains cannot be purged, so a delta is made early after that much log.
constexpr std::size_t delta_log_bytes = std::size_t{4} << 20U;
// What deltas take of the disk's bandwidth at most. A row is written whole however little of it has
// changed, and that of a session has all answers that its node has not acknowledged.
constexpr std::size_t bytes_per_second_max = std::size_t{16} << 20U;
// A comparison of the state needs all rows at once. So most are made in the steps before it.
constexpr std::uint64_t entries_before_comparison = 64;

}  // namespace

void StateSaver::replaced(LogIndex applied) {
    handed_over_ = applied;
    gathered_.clear();
    has_more_ = false;
    lag_ = {};
    due_ = Instant::never();
}

// Only applying changes the state, so an idle node makes no delta.
bool StateSaver::is_due(const LockMachine& machine, LogIndex applied, Instant now) {
    if (applied == handed_over_ || raft_.is_installing()) return false;
    if (due_ == Instant::never()) due_ = now + std::max(options_.state_interval, pause_);
    const auto sessions = machine.changed_rows() - machine.changed_names();
    return now >= due_ || lag_.log_bytes() >= delta_log_bytes || sessions >= sessions_changed_max;
}

bool StateSaver::is_compared_soon(LogIndex applied) const {
    const auto every = options_.compare_every;
    return every - applied.raw() % every <= std::min(every / 2, entries_before_comparison);
}

std::optional<StateDelta> StateSaver::hand_over_if_due(LockMachine& machine, LogIndex applied,
                                                       Instant now) {
    const bool due = is_due(machine, applied, now);
    // Rows of sessions are made with the last of the names.
    const bool are_many = machine.changed_names() > rows_per_step_max;
    has_more_ = due && are_many;
    if (due && !are_many) return hand_over(machine, applied);
    const bool is_early = machine.changed_names() >= names_changed_max || is_compared_soon(applied);
    if (are_many && (due || is_early) && !raft_.is_installing())
        gather(machine.take_changed_names(rows_per_step_max));
    return std::nullopt;
}

// What was made later counts.
void StateSaver::gather(std::vector<Row> rows) {
    std::vector<Row> all;
    all.reserve(gathered_.size() + rows.size());
    auto former = gathered_.begin();
    for (auto& row : rows) {
        for (; former != gathered_.end() && former->key < row.key; ++former)
            all.push_back(std::move(*former));
        if (former != gathered_.end() && former->key == row.key) ++former;
        all.push_back(std::move(row));
    }
    std::move(former, gathered_.end(), std::back_inserter(all));
    gathered_ = std::move(all);
}

StateDelta StateSaver::hand_over(LockMachine& machine, LogIndex applied) {
    const auto term = raft_.log().term_at(applied);
    MORTISE_CHECK(term.has_value());
    auto rows = machine.take_changed_rows();
    if (!gathered_.empty()) {
        gather(std::move(rows));
        rows = std::exchange(gathered_, {});
    }
    StateDelta delta{
        {*term, applied}, raft_.configuration_at(applied), std::move(rows), lag_.log_bytes()};
    lag_.handed_over(delta);
    handed_over_ = applied;
    due_ = Instant::never();
    pause_ = Nanoseconds{std::chrono::seconds{1}} * weight(delta) / bytes_per_second_max;
    return delta;
}

// The log is kept until the slowest member has it, within limits: a member that is further behind
// is cut off.
std::optional<LogIndex> StateSaver::durable(LogIndex index, LogIndex applied,
                                            std::size_t log_bytes_max) {
    lag_.durable(index);
    auto target = std::min({index, applied, raft_.durable_index()});
    const auto bytes = raft_.log().bytes();
    const auto kept = std::min(options_.log_bytes_max, log_bytes_max);
    if (bytes <= kept) target = std::min(target, raft_.unwanted_index());
    // A follower that is receiving a snapshot continues from there. If those entries were purged,
    // it would need another snapshot (B-S12).
    const auto sent = raft_.oldest_state_sent();
    const auto bytes_max = kept + std::min(options_.log_bytes_for_states, log_bytes_max);
    if (sent && bytes <= bytes_max) target = std::min(target, *sent);
    if (target <= raft_.log().base().index) return std::nullopt;
    return target;
}

Instant StateSaver::deadline() const {
    return raft_.is_installing() ? Instant::never() : due_;
}

}  // namespace mortise::core
