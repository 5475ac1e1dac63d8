// Installs a snapshot from the leader in place of this node's state, which was too far behind. The
// machine is built and checked as its rows arrive, and put in force when the rows are durable.
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

SavedCountdowns NodeCore::countdowns(Now now) const {
    SavedCountdowns all{leases_.save(now.steady), closures_.save(now.steady)};
    // After a start: leases that were saved for a renewal that is yet to be applied again stay.
    const auto is_ahead = [&](const auto& saved) { return saved.timer.renewed_at > applied_; };
    std::erase_if(all.leases, [&](const auto& one) {
        const auto saved = saved_leases_.find(one.timer.session);
        return saved != saved_leases_.end() && is_ahead(saved->second);
    });
    for (const auto& [session, saved] : saved_leases_) {
        if (is_ahead(saved)) all.leases.push_back(saved);
    }
    return all;
}

void NodeCore::restart_countdowns(const SavedCountdowns& saved, Now now) {
    restart_leases(saved, now);
    restart_closures(saved, now);
}

void NodeCore::restart_leases(const SavedCountdowns& saved, Now now) {
    saved_leases_.clear();
    for (const auto& one : saved.leases)
        saved_leases_[one.timer.session] = one;
    leases_ = {};
    for (const auto& [id, session] : machine_.sessions().all()) {
        leases_.start({id, session.renewed_at}, lease_times(session.opened), saved_elapsed(session),
                      now.steady);
    }
}

// A timer that was not counted here has run at least as long as the renewal that it is about.
void NodeCore::restart_closures(const SavedCountdowns& saved, Now now) {
    std::map<ClosureId, Nanoseconds> known;
    for (const auto& one : saved.closures)
        known[one.timer] = one.elapsed;
    closures_ = {};
    for (const auto& [name, extras] : machine_.table().extras()) {
        for (const auto& closure : extras.closures) {
            const auto found = known.find(closure.id);
            const auto elapsed =
                found != known.end()
                    ? found->second
                    : leases_.elapsed({closure.hold.session, closure.since}, now.steady);
            closures_.start(closure.id, closure_times(closure.time_ms, closure.rho_ppm), elapsed,
                            now.steady);
        }
    }
}

}  // namespace mortise::core
