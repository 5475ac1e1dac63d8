#include "embed/driver.hpp"

#include <exception>

namespace mortise {

Driver::Driver(core::NodeOptions options, core::RaftState state, DriverPorts ports, core::Now now)
    : core_{std::move(options), std::move(state), now}, ports_{ports} {}

core::Instant Driver::deadline() const {
    return stopped_ ? core::Instant::never() : core_.deadline();
}

void Driver::handle(core::Event event, core::Now now) {
    waiting_.emplace_back(std::move(event), now);
    if (stepping_) return;  // a port called back from within a step: its turn comes next
    stepping_ = true;
    while (!waiting_.empty() && !stopped_) {
        auto next = std::move(waiting_.front());
        waiting_.erase(waiting_.begin());
        try {
            auto effects = core_.step(std::move(next.first), next.second);
            if (check_every_step_) core_.check_invariants();
            carry_out(std::move(effects));
        } catch (const std::exception& broken) {
            fail(broken.what());
        }
    }
    stepping_ = false;
}

void Driver::carry_out(core::Effects effects) {
    if (effects.write) ports_.log.submit(*effects.write);
    for (auto& envelope : effects.send)
        ports_.peers.send(envelope.to, std::move(envelope.message));
    for (const auto& entry : effects.committed)
        ports_.publisher.committed(entry);
    for (const auto& proposed : effects.proposed)
        ports_.publisher.proposed(proposed);
    for (const auto& ready : effects.reads)
        ports_.publisher.read_ready(ready);
    if (effects.purge_log_to) ports_.log.purge_to(*effects.purge_log_to);
    for (const auto& note : effects.notes)
        ports_.publisher.noted(note);
}

void Driver::fail(const std::string& reason) {
    if (stopped_) return;
    stopped_ = true;
    waiting_.clear();
    ports_.publisher.stopped(reason);
}

}  // namespace mortise
