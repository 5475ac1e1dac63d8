#include "embed/runtime/driver.hpp"

#include <exception>

namespace mortise {

Driver::Driver(core::NodeOptions options, core::NodeState state, DriverPorts ports, core::Now now)
    : core_{std::move(options), std::move(state), now}, ports_{ports} {}

core::Instant Driver::deadline() const {
    return stopped_ ? core::Instant::never() : core_.deadline();
}

void Driver::handle(core::Event event, core::Now now) {
    if (stepping_) {  // a port called back from within a step: this event comes next
        waiting_.emplace_back(std::move(event), now);
        return;
    }
    stepping_ = true;
    step(std::move(event), now);
    while (!waiting_.empty() && !stopped_) {
        auto next = std::move(waiting_.front());
        waiting_.pop_front();
        step(std::move(next.first), next.second);
    }
    stepping_ = false;
}

void Driver::step(core::Event event, core::Now now) {
    if (stopped_) return;
    try {
        auto effects = core_.step(std::move(event), now);
        if (check_every_step_) core_.check_invariants();
        carry_out(std::move(effects));
    } catch (const std::exception& broken) {
        halt();  // first, since the report may fail as well
        ports_.publisher.stopped(broken.what());
    }
}

void Driver::carry_out(core::Effects effects) {
    if (effects.write) ports_.log.submit(*effects.write);
    if (effects.peers) ports_.peers.set_peers(*effects.peers);
    for (auto& envelope : effects.send)
        ports_.peers.send(envelope.to, std::move(envelope.message));
    for (const auto peer : effects.disconnect)
        ports_.peers.disconnect(peer);
    if (effects.state_replaced) ports_.publisher.state_replaced(*effects.state_replaced);
    for (const auto& applied : effects.applied)
        ports_.publisher.applied(applied);
    for (const auto& lost : effects.lost)
        ports_.publisher.lost(lost);
    for (const auto hold : effects.suspended)
        ports_.publisher.suspended(hold);
    if (effects.lease) ports_.publisher.lease_changed(*effects.lease);
    for (auto& answer : effects.answers)
        ports_.publisher.answered(std::move(answer));
    for (const auto& contended : effects.contended)
        ports_.publisher.contended(contended);
    if (effects.purge_log_to) ports_.log.purge_to(*effects.purge_log_to);
    for (auto& step : effects.install)
        ports_.state.install(std::move(step));
    for (const auto peer : effects.close_snapshots)
        ports_.state.close_snapshot(peer);
    for (auto& read : effects.read_snapshot)
        ports_.state.read_snapshot(std::move(read));
    for (auto& delta : effects.save_state)
        ports_.state.save(std::move(delta));
    if (effects.save_countdowns) ports_.state.save_countdowns(std::move(*effects.save_countdowns));
    for (const auto& note : effects.notes)
        ports_.publisher.noted(note);
    if (!effects.superseded && !effects.copied) return;
    halt();
    if (effects.copied) return ports_.publisher.copied();
    ports_.publisher.superseded();
}

void Driver::fail(const std::string& reason) {
    if (stopped_) return;
    halt();
    ports_.publisher.stopped(reason);
}

void Driver::halt() {
    stopped_ = true;
    waiting_.clear();
}

}  // namespace mortise
