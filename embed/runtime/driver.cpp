#include "embed/runtime/driver.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <variant>

namespace mortise {

namespace {

bool is_news_of_a_commit(const core::PeerMessage& message) {
    const auto* raft = std::get_if<core::RaftMessage>(&message);
    const auto* append = raft == nullptr ? nullptr : std::get_if<core::AppendRequest>(raft);
    return append != nullptr && append->quiet;
}

// Something that is worth the time of the callers, and reports no loss that is not marked yet.
bool may_leave_early(const core::Effects& effects) {
    const bool marks = !effects.lost.empty() || !effects.suspended.empty() || effects.lease ||
                       effects.state_replaced;
    return !marks && std::ranges::any_of(effects.send, [](const core::Envelope& envelope) {
        return !is_news_of_a_commit(envelope.message);
    });
}

}  // namespace

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

// The peers have the longest way to their disks, so a new entry goes to them first, then to this
// node's disk, and then the callers are woken. The news of a commit follow the callers: others wait
// for them only now and then.
void Driver::carry_out(core::Effects effects) {
    const bool early = may_leave_early(effects);
    const bool sends = !effects.send.empty();
    if (effects.peers) ports_.peers.set_peers(*effects.peers);
    for (auto& envelope : effects.send)
        ports_.peers.send(envelope.to, std::move(envelope.message));
    if (early) ports_.peers.flush();
    if (effects.write) submit(std::move(*effects.write));
    for (const auto peer : effects.disconnect)
        ports_.peers.disconnect(peer);
    publish(effects);
    for (auto& [client, notice] : effects.notices)
        ports_.peers.notify(client, notice);
    for (const auto client : effects.unfit_clients)
        ports_.peers.disconnect(client);
    for (const auto client : effects.replaced_clients)
        ports_.peers.hang_up(client);
    for (const auto& change : effects.client_flow)
        ports_.peers.pace(change);
    if (sends && !early) ports_.peers.flush();
    save(effects);
    for (const auto& note : effects.notes)
        ports_.publisher.noted(note);
    if (!effects.superseded && !effects.copied) return;
    halt();
    if (effects.copied) return ports_.publisher.copied();
    ports_.publisher.superseded();
}

void Driver::submit(core::Write write) {
    const auto last = write.append.empty() ? core::LogIndex{} : write.append.back().id.index;
    ports_.log.submit(std::move(write));
    if (last != core::LogIndex{}) ports_.publisher.appended(last);
}

void Driver::publish(core::Effects& effects) {
    auto& publisher = ports_.publisher;
    if (effects.state_replaced) publisher.state_replaced(*effects.state_replaced);
    for (const auto& applied : effects.applied)
        publisher.applied(applied);
    for (const auto& lost : effects.lost)
        publisher.lost(lost);
    for (const auto hold : effects.suspended)
        publisher.suspended(hold);
    if (effects.lease) publisher.lease_changed(*effects.lease);
    if (!effects.answers.empty()) publisher.answered(std::move(effects.answers));
    for (const auto& contended : effects.contended)
        publisher.contended(contended);
}

void Driver::save(core::Effects& effects) {
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
