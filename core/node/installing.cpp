// Installs a snapshot from the leader in place of this node's state, which was too far behind. The
// machine is built and checked as its rows arrive, and put in force when the rows are durable.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/base/check.hpp"
#include "core/node/node_core.hpp"

namespace mortise::core {

void NodeCore::install(InstallStep step) {
    if (step.position == 0) loading_.emplace();
    MORTISE_CHECK(loading_.has_value());
    bool sound = true;
    for (const auto& row : step.rows)
        sound = sound && loading_->add(row.key, *row.value);
    if (sound && step.done) {
        loaded_ = std::exchange(loading_, std::nullopt)->finish(step.last.index);
        sound = loaded_.has_value();
    }
    if (sound) {
        install_lag_.handed_over(step);
        raft_.set_room_for_state(install_lag_.bytes() < options_.install_bytes_max);
        effects_.install.push_back(std::move(step));
    } else {
        loading_.reset();
        raft_.refuse_state();
    }
}

void NodeCore::on(const InstallTaken& /*event*/, Now /*now*/) {
    install_lag_.taken();
    raft_.set_room_for_state(install_lag_.bytes() < options_.install_bytes_max);
}

void NodeCore::on(const StateInstalled& event, Now now) {
    if (!raft_.on_state_installed(event.last, now.steady)) return;
    machine_ = std::move(loaded_.value());
    loaded_.reset();
    applied_ = event.last.index;
    handed_over_ = applied_;
    lag_ = {};
    state_due_ = Instant::never();
    sums_.clear();
    restart_countdowns(countdowns(now), now);
    contentions_.on_state_replaced();
    // What was decided in between this node's program has not been told (S15).
    agent_.on_state_replaced(machine_.sessions(), now);
    effects_.state_replaced = event.last;
}

std::vector<SavedCountdown> NodeCore::countdowns(Now now) const {
    auto all = countdowns_.save(now.steady);
    // After a start: countdowns that were saved for a renewal that is yet to be applied again stay.
    const auto is_ahead = [&](const SavedCountdown& saved) { return saved.renewed_at > applied_; };
    std::erase_if(all, [&](const SavedCountdown& one) {
        const auto saved = saved_countdowns_.find(one.session);
        return saved != saved_countdowns_.end() && is_ahead(saved->second);
    });
    for (const auto& [session, saved] : saved_countdowns_) {
        if (is_ahead(saved)) all.push_back(saved);
    }
    std::ranges::move(closures_.save(now.steady), std::back_inserter(all));
    return all;
}

void NodeCore::restart_countdowns(const std::vector<SavedCountdown>& saved, Now now) {
    saved_countdowns_.clear();
    for (const auto& one : saved) {
        if (!one.closure.is_set()) saved_countdowns_[one.session] = one;
    }
    countdowns_ = {};
    for (const auto& [id, session] : machine_.sessions().all()) {
        countdowns_.start(session.opened, id, session.renewed_at, saved_elapsed(session),
                          now.steady);
    }
    restart_closures(saved, now);
}

// A timer that was not counted here has run at least as long as the renewal that it is about.
void NodeCore::restart_closures(const std::vector<SavedCountdown>& saved, Now now) {
    std::map<ClosureId, Nanoseconds> known;
    for (const auto& one : saved)
        known[one.closure] = one.elapsed;  // a session's under zero, which is no closure
    closures_ = {};
    for (const auto& [name, extras] : machine_.table().extras()) {
        for (const auto& closure : extras.closures) {
            const auto found = known.find(closure.id);
            const auto elapsed =
                found != known.end()
                    ? found->second
                    : countdowns_.elapsed(closure.hold.session, closure.since, now.steady);
            closures_.start(closure.id, cluster_patience(closure.time_ms, closure.rho_ppm), elapsed,
                            now.steady);
        }
    }
}

}  // namespace mortise::core
