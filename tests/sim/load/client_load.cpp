#include "tests/sim/load/client_load.hpp"

#include <algorithm>
#include <utility>

#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

ClientLoad::ClientLoad(World& world, Cluster& cluster, Judges judges, std::uint64_t& next_tag)
    : world_{world},
      cluster_{cluster},
      judges_{judges},
      next_tag_{next_tag},
      prng_{world.prng.next()},
      drawing_{prng_, world.swarm} {
    for (std::uint64_t i = 0; i < world.swarm.clients; ++i) {
        clients_.push_back(
            std::make_unique<SimClient>(core::NodeId{first_client + i}, world, cluster, *this));
    }
}

void ClientLoad::start() {
    for (const auto& client : clients_) {
        const auto wait = prng_.between(0, 2 * world_.swarm.election_timeout.count());
        world_.heap.after(wait, [one = client.get()] { one->start(); });
    }
    call_later();
    fault_later();
}

void ClientLoad::node_lost(core::NodeId node) {
    for (const auto& client : clients_)
        client->member_lost(node);
}

void ClientLoad::notified(core::ClientId client, const core::ClientNotice& notice) {
    of(core::NodeId{client.raw() >> 32U}).notified(client, notice);
}

void ClientLoad::hung_up(core::ClientId client) {
    of(core::NodeId{client.raw() >> 32U}).hung_up(client);
}

// --- faults -------------------------------------------------------------------------------------

void ClientLoad::fault_later() {
    world_.heap.after(prng_.between(1, 4 * world_.swarm.fault_pace), [this] {
        if (stopped_ || is_live_) return;
        fault();
        fault_later();
    });
}

void ClientLoad::fault() {
    auto& client = *clients_[static_cast<std::size_t>(prng_.below(clients_.size()))];
    const auto lasts = prng_.between(1, 2 * world_.swarm.fault_length);
    switch (prng_.below(8)) {
        case 0: return crash(client);
        case 1:
            client.pause();
            world_.heap.after(lasts, [&client] { client.resume(); });
            return;
        case 2: return close(client);
        case 3: return client.cut(true);
        default: return client.cut(false);
    }
}

void ClientLoad::crash(SimClient& client) {
    if (!client.is_running()) return;
    const auto id = client.id();
    client.crash();
    judges_.history.node_lost(id);
    judges_.deadlines.node_lost(id);
    judges_.tellings.node_lost(id);
    std::erase_if(conversions_, [&](const auto& one) {
        return waiting_.contains({id, one.first});
    });
    std::erase_if(waiting_, [&](const auto& one) { return one.first == id; });
    std::erase_if(holds_, [&](const auto& one) { return one.second.client == id; });
    closing_.erase(id);
    const auto wait = prng_.between(1, 2 * world_.swarm.restart_after);
    world_.heap.after(wait, [&client] { client.start(); });
}

// The process ends after a while, whatever the result.
void ClientLoad::close(SimClient& client) {
    if (!client.can_call() || closing_.contains(client.id())) return;
    const core::CallTag tag{++next_tag_};
    const auto id = client.id();
    closing_[id] = tag;
    waiting_.emplace(id, tag);
    core::CloseCall close{tag};
    for (const auto& [hold, held] : holds_) {
        if (held.client == id && !prng_.one_in(4)) close.to_notify.push_back(hold);
    }
    listened_to_ = {close.to_notify.begin(), close.to_notify.end()};
    client.call(std::move(close));
    const auto patience = prng_.between(1, 4 * world_.swarm.election_timeout.count());
    world_.heap.after(patience, [this, &client, id, tag] {
        const auto closing = closing_.find(id);
        if (closing != closing_.end() && closing->second == tag) crash(client);
    });
}

// --- calls --------------------------------------------------------------------------------------

void ClientLoad::call_later() {
    world_.heap.after(prng_.between(1, 4 * world_.swarm.workload.pace), [this] {
        if (stopped_ || is_live_) return;
        call_somewhere();
        call_later();
    });
}

// The specification examines every waiter for each command.
void ClientLoad::call_somewhere() {
    constexpr std::size_t crowd_max = 40;
    auto& client = *clients_[static_cast<std::size_t>(prng_.below(clients_.size()))];
    const bool can = client.can_call() && !closing_.contains(client.id());
    if (!can || waiting_.size() + holds_.size() > crowd_max) return;
    const auto now = client.now().steady;
    const bool several = prng_.below(100) < world_.swarm.workload.several_percent;
    acquire(client, several ? drawing_.acquire_several(now) : drawing_.acquire(now));
}

void ClientLoad::acquire(SimClient& client, core::AcquireCall call) {
    const auto id = client.id();
    const core::CallTag tag{next_tag_ + 1};
    ask(client, std::move(call));
    if (is_live_ || !prng_.one_in(6)) return;
    const auto patience = prng_.between(0, 3 * world_.swarm.election_timeout.count());
    world_.heap.after(patience, [this, &client, id, tag] {
        if (waiting_.contains({id, tag}) && client.can_call() && !is_live_)
            this->call(client, core::CancelCall{tag});
    });
}

template <class AnyCall>
void ClientLoad::ask(SimClient& client, AnyCall call) {
    call.tag = core::CallTag{++next_tag_};
    waiting_.emplace(client.id(), call.tag);
    judges_.history.asked(client.id(), call);
    this->call(client, std::move(call));
}

void ClientLoad::call(SimClient& client, core::Call call) {
    judges_.deadlines.asked(client.id(), call, client.now().steady);
    world_.timeline.say(client.id(), "is called, call {}", tag_of(call).raw());
    client.call(std::move(call));
}

void ClientLoad::hold_for_a_while(SimClient& client, const core::Acquired& acquired) {
    auto& held = holds_[acquired.hold];
    held.client = client.id();
    for (const auto& part : acquired.parts)
        held.names.push_back({part.name, part.mode});
    const auto timeout = world_.swarm.election_timeout.count();
    const auto ttl = world_.swarm.session_ttl_ms * sim_millisecond;
    auto length = prng_.between(0, prng_.one_in(3) ? 2 * ttl : timeout);
    if (is_live_) length = prng_.between(0, timeout / 10);
    const auto id = client.id();
    const auto hold = acquired.hold;
    world_.heap.after(length, [this, id, hold] { release(id, hold); });
    if (prng_.one_in(3))
        world_.heap.after(prng_.between(0, length), [this, id, hold] { convert(id, hold); });
    if (prng_.one_in(6))
        world_.heap.after(prng_.between(0, length), [this, id, hold] { confirm(id, hold); });
}

void ClientLoad::convert(core::NodeId client, core::OperationId hold) {
    const auto held = holds_.find(hold);
    auto& its = of(client);
    if (held == holds_.end() || !its.can_call() || is_live_ || closing_.contains(client)) return;
    if (held->second.names.size() > 1) return;
    auto drawn = drawing_.conversion(hold, held->second.names.front().mode, its.now().steady);
    const core::CallTag tag{next_tag_ + 1};
    if (auto* upgrade = std::get_if<core::UpgradeCall>(&drawn)) {
        conversions_[tag] = {hold, core::LockMode::exclusive};
        ask(its, std::move(*upgrade));
    } else if (auto* downgrade = std::get_if<core::DowngradeCall>(&drawn)) {
        conversions_[tag] = {hold, downgrade->mode};
        ask(its, std::move(*downgrade));
    }
}

void ClientLoad::confirm(core::NodeId client, core::OperationId hold) {
    auto& its = of(client);
    if (!holds_.contains(hold) || !its.can_call() || closing_.contains(client)) return;
    ask(its, drawing_.confirm(hold, its.now().steady));
}

void ClientLoad::release(core::NodeId client, core::OperationId hold) {
    auto& its = of(client);
    if (!holds_.contains(hold)) return;
    if (!its.can_call()) {
        world_.heap.after(world_.swarm.election_timeout.count(),
                          [this, client, hold] { release(client, hold); });
        return;
    }
    if (closing_.contains(client)) return;
    holds_.erase(hold);
    judges_.history.releasing(hold);
    const auto tag = prng_.one_in(2) ? core::CallTag{++next_tag_} : core::CallTag{};
    if (tag.is_set()) waiting_.emplace(client, tag);
    call(its, core::ReleaseCall{tag, hold});
}

// --- what its node reports ----------------------------------------------------------------------

void ClientLoad::client_lost(core::NodeId client, const core::HoldLost& lost) {
    const bool had = holds_.erase(lost.hold) != 0;
    judges_.history.lost(lost);
    world_.timeline.say(client, "loses its hold {}/{}", lost.hold.session.raw(),
                        lost.hold.seq.raw());
    const bool closes = lost.reason == core::HoldLost::Reason::node_stopped;
    if (!had || (closes && !listened_to_.contains(lost.hold))) return;
    world_.tally.probe(closes ? "client closed while it held" : "client lost a hold");
    judges_.tellings.lost(client, lost.hold, closes);
    if (prng_.one_in(8)) return;
    const auto delay = prng_.between(0, (prng_.one_in(4) ? 150 : 20) * sim_millisecond);
    world_.heap.after(delay, [this, client, hold = lost.hold] {
        if (!of(client).can_call()) return;
        judges_.tellings.told(hold);
        call(of(client), core::ToldCall{{}, hold});
    });
}

void ClientLoad::client_suspended(core::NodeId client, core::OperationId hold) {
    judges_.history.suspended(client, hold);
}

void ClientLoad::client_lease_changed(core::NodeId client, const core::LeaseChanged& lease) {
    judges_.history.lease_changed(client, lease);
}

void ClientLoad::client_answered(core::NodeId client, core::CallAnswer answer) {
    const auto tag = answer.tag;
    world_.timeline.say(client, "is answered, call {}, kind {}", tag.raw(), answer.result.index());
    if (waiting_.erase({client, tag}) == 0) {
        world_.violations.report(client, "call " + in_words(tag) + " was answered twice");
        return;
    }
    judges_.history.answered(client, answer, of(client).core().position());
    judges_.deadlines.answered(client, tag);
    const auto conversion = conversions_.extract(tag);
    if (!conversion.empty() && std::holds_alternative<core::Converted>(answer.result)) {
        const auto& [hold, mode] = conversion.mapped();
        const auto held = holds_.find(hold);
        if (held != holds_.end()) held->second.names.front().mode = mode;
    }
    const auto* acquired = std::get_if<core::Acquired>(&answer.result);
    if (acquired != nullptr) {
        world_.tally.probe("client acquired");
        hold_for_a_while(of(client), *acquired);
    }
    if (std::holds_alternative<core::Closed>(answer.result)) {
        world_.tally.probe("client closed");
        world_.heap.after(0, [this, client] { crash(of(client)); });
    }
    const auto owed = owed_by_.extract(tag);
    if (owed.empty()) return;
    if (acquired != nullptr) {
        owed_.erase(client);
    } else {
        world_.heap.after(world_.swarm.election_timeout.count() / 4, [this] { ask_for_owed(); });
    }
}

void ClientLoad::client_stepped(core::NodeId client, core::Instant now, core::Instant next) {
    judges_.deadlines.after_step(client, now, next);
}

// --- liveness -----------------------------------------------------------------------------------

// Members with restricted rights serve no client.
void ClientLoad::begin_liveness(const std::vector<core::NodeId>& core) {
    is_live_ = true;
    std::set<core::NodeId> working;
    for (const auto node : core) {
        if (world_.swarm.access_of(node) == core::Access::all()) working.insert(node);
    }
    for (const auto& client : clients_) {
        client->reach_only(working);
        if (!working.contains(client->member())) client->cut(false);
        client->calm_down();
        for (const auto& [id, tag] : std::set{waiting_}) {
            if (id == client->id() && !closing_.contains(id)) call(*client, core::CancelCall{tag});
        }
        if (!working.empty()) owed_.insert(client->id());
    }
    for (const auto& [hold, held] : std::map{holds_})
        release(held.client, hold);
    if (!owed_.empty()) world_.tally.probe("client owed a name");
    ask_for_owed();
}

void ClientLoad::ask_for_owed() {
    for (const auto id : owed_) {
        auto& client = of(id);
        const bool asks = std::ranges::any_of(owed_by_, [&](const auto& one) {
            return one.second == id && waiting_.contains({id, one.first});
        });
        if (asks || !client.can_call() || closing_.contains(id)) {
            if (asks) continue;
            world_.heap.after(world_.swarm.election_timeout.count() / 4,
                              [this] { ask_for_owed(); });
            return;
        }
        core::AcquireCall call;
        call.request.names.push_back({drawing_.name()});
        owed_by_[core::CallTag{next_tag_ + 1}] = id;
        acquire(client, std::move(call));
    }
}

std::string ClientLoad::still_owed() const {
    if (owed_.empty()) return {};
    return "client " + in_words(*owed_.begin()) + " has not got its name";
}

}  // namespace mortise::sim
