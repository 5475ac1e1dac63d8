#include "tests/sim/load/client_load.hpp"

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

ClientLoad::ClientLoad(World& world, Cluster& cluster, Judges judges, std::uint64_t& next_tag)
    : world_{world},
      cluster_{cluster},
      judges_{judges},
      next_tag_{next_tag},
      prng_{world.prng.next()},
      drawing_{prng_, world.swarm},
      recalls_{world.violations, world.tally},
      cached_{world,
              *this,
              world.swarm.workload.caches ? draw_cache_options(prng_, world.swarm)
                                          : core::CacheOptions{},
              judges.history,
              prng_,
              next_tag} {
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
            world_.heap.after(lasts, [this, &client] {
                if (client.is_running()) cached_.wakes(client.id());
                client.resume();
            });
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
    cached_.node_lost(id);
    recalls_.client_lost(id);
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

void ClientLoad::call_somewhere() {
    auto& client = *clients_[static_cast<std::size_t>(prng_.below(clients_.size()))];
    const auto id = client.id();
    if (!can_call(id) || is_crowded()) return;
    if (prng_.below(100) < world_.swarm.workload.several_percent)
        return ask(id, drawing_.acquire_several(client.now().steady));
    auto call = draw(id);
    // A name that nobody else wants stays cached for a while, also unused.
    const auto own_percent = world_.swarm.workload.own_percent;
    if (own_percent != 0 && prng_.below(100) < own_percent)
        call.request.names = {{"own" + in_words(id)}};
    cached_.acquire(id, std::move(call));
}

// The specification examines every waiter for each command.
bool ClientLoad::is_crowded() const {
    constexpr std::size_t crowd_max = 40;
    return waiting_.size() + holds_.size() > crowd_max;
}

bool ClientLoad::can_call(core::NodeId client) const {
    return of(client).can_call() && !closing_.contains(client);
}

core::AcquireCall ClientLoad::draw(core::NodeId client) {
    return drawing_.acquire(now(client).steady);
}

void ClientLoad::begin(core::NodeId client, core::AcquireCall call) {
    begin_waiting(client, std::move(call));
}

void ClientLoad::cancel_sometimes(core::NodeId client, core::CallTag tag) {
    if (is_live_ || !prng_.one_in(6)) return;
    const auto patience = prng_.between(0, 3 * world_.swarm.election_timeout.count());
    world_.heap.after(patience, [this, client, tag] {
        if (waiting_.contains({client, tag}) && of(client).can_call() && !is_live_)
            call(client, core::CancelCall{tag});
    });
}

template <class AnyCall>
void ClientLoad::ask(core::NodeId client, AnyCall call) {
    call.tag = core::CallTag{++next_tag_};
    begin_waiting(client, std::move(call));
}

template <class AnyCall>
void ClientLoad::begin_waiting(core::NodeId client, AnyCall call) {
    const auto tag = call.tag;
    waiting_.emplace(client, tag);
    judges_.history.asked(client, call);
    this->call(client, std::move(call));
    if constexpr (std::is_same_v<AnyCall, core::AcquireCall>) cancel_sometimes(client, tag);
}

void ClientLoad::call(core::NodeId client, core::Call call) {
    judges_.deadlines.asked(client, call, now(client).steady);
    world_.timeline.say(client, "is called, call {}", tag_of(call).raw());
    of(client).call(std::move(call));
}

void ClientLoad::got_cached(core::NodeId client, core::OperationId grant, const std::string& name) {
    world_.tally.probe("client got a cached grant");
    recalls_.cached(client, grant, name);
}

void ClientLoad::took_cached(core::NodeId client, core::OperationId grant) {
    world_.tally.probe("client took a lock from its cache");
    recalls_.took(grant, of(client).core().hears_recalls());
    hold_for_a_while(client, grant);
}

void ClientLoad::hold_for_a_while(core::NodeId client, core::OperationId hold) {
    const auto* given = judges_.history.book().find(hold);
    if (given == nullptr) return;  // the judge has reported that
    auto& held = holds_[hold];
    held.client = client;
    for (const auto& one : given->names)
        held.names.push_back({one.name, one.mode});
    const auto timeout = world_.swarm.election_timeout.count();
    const auto ttl = world_.swarm.session_ttl_ms * sim_millisecond;
    auto length = prng_.between(0, prng_.one_in(3) ? 2 * ttl : timeout);
    if (is_live_) length = prng_.between(0, timeout / 10);
    world_.heap.after(length, [this, client, hold] { release(client, hold); });
    if (prng_.one_in(3))
        world_.heap.after(prng_.between(0, length),
                          [this, client, hold] { convert(client, hold); });
    if (prng_.one_in(6))
        world_.heap.after(prng_.between(0, length),
                          [this, client, hold] { confirm(client, hold); });
}

void ClientLoad::convert(core::NodeId client, core::OperationId hold) {
    const auto held = holds_.find(hold);
    if (held == holds_.end() || !can_call(client) || is_live_) return;
    if (held->second.names.size() > 1) return;
    const auto mode = held->second.names.front().mode;
    auto drawn = drawing_.conversion(hold, mode, now(client).steady);
    cached_.make_ordinary(client, hold);
    if (!can_call(client)) return;  // it died of that
    const core::CallTag tag{next_tag_ + 1};
    if (auto* upgrade = std::get_if<core::UpgradeCall>(&drawn)) {
        conversions_[tag] = {hold, core::LockMode::exclusive};
        ask(client, std::move(*upgrade));
    } else if (auto* downgrade = std::get_if<core::DowngradeCall>(&drawn)) {
        conversions_[tag] = {hold, downgrade->mode};
        ask(client, std::move(*downgrade));
    }
}

void ClientLoad::confirm(core::NodeId client, core::OperationId hold) {
    if (!holds_.contains(hold) || !can_call(client)) return;
    auto confirm = drawing_.confirm(hold, now(client).steady);
    cached_.confirming(core::CallTag{next_tag_ + 1}, hold);
    ask(client, std::move(confirm));
}

void ClientLoad::release(core::NodeId client, core::OperationId hold) {
    if (!holds_.contains(hold)) return;
    if (!of(client).can_call()) {
        world_.heap.after(world_.swarm.election_timeout.count(),
                          [this, client, hold] { release(client, hold); });
        return;
    }
    if (closing_.contains(client)) return;
    const auto names = std::move(holds_.extract(hold).mapped().names);
    if (cached_.keep(client, hold, names)) {
        if (!prng_.one_in(3)) cached_.acquire_again(client, names.front());
        return;
    }
    if (!can_call(client)) return;  // it died as it published the last user
    judges_.history.releasing(hold);
    recalls_.ended(hold);
    const auto tag = prng_.one_in(2) ? core::CallTag{++next_tag_} : core::CallTag{};
    if (tag.is_set()) waiting_.emplace(client, tag);
    call(client, core::ReleaseCall{tag, hold});
}

// --- what its node reports ----------------------------------------------------------------------

void ClientLoad::client_lost(core::NodeId client, const core::HoldLost& lost) {
    const bool had = holds_.erase(lost.hold) != 0;
    judges_.history.lost(lost);
    cached_.lost(client, lost.hold);
    recalls_.ended(lost.hold);
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
        call(client, core::ToldCall{{}, hold});
    });
}

void ClientLoad::client_suspended(core::NodeId client, core::OperationId hold) {
    judges_.history.suspended(client, hold);
}

void ClientLoad::client_lease_changed(core::NodeId client, const core::LeaseChanged& lease) {
    judges_.history.lease_changed(client, lease);
    cached_.lease_changed(lease);
}

// Without a cached grant nobody is told, since nobody has asked for it.
void ClientLoad::client_contended(core::NodeId client, const core::Contended& contended) {
    recalls_.told(contended);
    std::ignore = cached_.recalled(client, contended.hold);
}

void ClientLoad::client_answered(core::NodeId client, core::CallAnswer given) {
    const auto answer = cached_.as_told(given);
    const auto tag = answer.tag;
    world_.timeline.say(client, "is answered, call {}, kind {}", tag.raw(), answer.result.index());
    if (waiting_.erase({client, tag}) == 0) {
        world_.violations.report(client, "call " + in_words(tag) + " was answered twice");
        return;
    }
    judges_.history.answered(client, answer, of(client).core().position().index());
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
        cached_.granted(client, tag, *acquired);
        hold_for_a_while(client, acquired->hold);
    }
    cached_.answered(client, tag);
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
    const auto& core = of(client).core();
    recalls_.client_stepped(client, core.position().index(), core.hears_recalls());
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
            if (id == client->id() && !closing_.contains(id)) call(id, core::CancelCall{tag});
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
        ask(id, std::move(call));
    }
}

std::string ClientLoad::still_owed() const {
    if (owed_.empty()) return {};
    return "client " + in_words(*owed_.begin()) + " has not got its name";
}

}  // namespace mortise::sim
