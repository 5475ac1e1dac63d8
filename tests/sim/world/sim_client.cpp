#include "tests/sim/world/sim_client.hpp"

#include <algorithm>
#include <utility>

#include "core/client/client_codec.hpp"
#include "tests/sim/base/client_ids.hpp"
#include "tests/sim/base/in_words.hpp"

namespace mortise::sim {

SimClient::SimClient(core::NodeId id, World& world, Cluster& cluster, ClientProgram& program)
    : id_{id},
      world_{world},
      cluster_{cluster},
      program_{program},
      prng_{world.prng.next()},
      clock_{prng_.between(0, 1'000 * sim_second), prng_.between(0, 2'000 * sim_second)} {
    for (const auto member : cluster.ids())
        reachable_.insert(member);
    clock_.set_rate(0, prng_.between(-10'000, 10'000));
}

void SimClient::start() {
    if (is_running()) return;
    ++life_;
    core::ClientOptions options;
    options.members = cluster_.size();
    options.election_timeout = world_.swarm.election_timeout;
    options.session_ttl_ms = world_.swarm.session_ttl_ms;
    options.call_timeout = world_.swarm.call_timeout;
    options.window = world_.swarm.window;
    options.origin.host = host_of(node_in_log(id_));
    options.seed = prng_.next();
    core_ = std::make_unique<core::ClientCore>(options, now());
    world_.timeline.say(id_, "starts, a client", 0);
    step(core::ClientTimer{});
}

void SimClient::crash() {
    if (!is_running()) return;
    world_.tally.probe("client crashed");
    hang_up(!prng_.one_in(4));
    core_.reset();
    parked_.clear();
    paused_ = false;
    ++life_;
    timer_at_ = sim_never;
    ++timer_;
}

void SimClient::pause() {
    if (!can_call()) return;
    world_.tally.probe("client paused");
    paused_ = true;
}

void SimClient::resume() {
    if (!paused_) return;
    paused_ = false;
    const auto life = life_;
    auto parked = std::exchange(parked_, {});
    while (!parked.empty() && life == life_ && !paused_) {
        auto event = std::move(parked.front());
        parked.pop_front();
        step(std::move(event));
    }
    if (life == life_) set_timer();
}

void SimClient::call(core::Call call) {
    core::ClientCalls calls;
    calls.calls.push_back(std::move(call));
    handle(std::move(calls));
}

void SimClient::calm_down() {
    is_calm_ = true;
    resume();
    start();
}

// --- steps --------------------------------------------------------------------------------------

void SimClient::handle(core::ClientEvent event) {
    if (!is_running()) return;
    if (paused_) {
        parked_.push_back(std::move(event));
    } else {
        step(std::move(event));
    }
}

void SimClient::step(core::ClientEvent event) {
    world_.count_step();
    const auto at = now();
    core::ClientEffects effects;
    try {
        effects = core_->step(std::move(event), at);
        core_->check_invariants();
    } catch (const std::exception& broken) {
        world_.violations.report(id_, broken.what());
        return crash();
    }
    const auto life = life_;
    carry_out(std::move(effects));
    if (life != life_) return;
    program_.client_stepped(id_, at.steady, core_->deadline());
    set_timer();
}

void SimClient::carry_out(core::ClientEffects effects) {
    const auto life = life_;
    for (const auto& lost : effects.lost)
        program_.client_lost(id_, lost);
    for (const auto hold : effects.suspended)
        program_.client_suspended(id_, hold);
    if (effects.lease) program_.client_lease_changed(id_, *effects.lease);
    for (auto& answer : effects.answers) {
        program_.client_answered(id_, std::move(answer));
        if (life != life_) return;  // the program ended the process
    }
    for (const auto& contended : effects.contended)
        program_.client_contended(id_, contended);
    for (auto& message : effects.send)
        send(std::move(message));
    if (effects.hang_up.is_set() && effects.hang_up == link_.id) {
        world_.tally.probe("client left its member");
        hang_up(true);
    }
    if (effects.dial) dial(*effects.dial);
}

void SimClient::set_timer() {
    if (paused_) return;
    const auto at = world_.heap.now();
    auto due = clock_.when(core_->deadline(), at);
    if (due == sim_never) return;
    due = std::max(due, at + sim_microsecond);
    if (due >= timer_at_) return;
    timer_at_ = due;
    world_.heap.at(due, [this, timer = ++timer_] {
        if (timer != timer_) return;
        timer_at_ = sim_never;
        if (!is_running() || paused_) return;
        if (core_->deadline() > now().steady) return set_timer();
        step(core::ClientTimer{});
    });
}

// --- the connection -----------------------------------------------------------------------------

SimTime SimClient::delay() {
    const auto& network = world_.swarm.network;
    return prng_.between(network.delay_min, network.delay_max);
}

void SimClient::tell_down(core::MemberConnectionId id) {
    world_.heap.after(delay(), [this, id, life = life_] {
        if (life == life_) handle(core::MemberDown{id});
    });
}

// A member that does not answer in time counts as one that cannot be reached.
void SimClient::dial(const core::ClientEffects::Dial& dial) {
    const core::NodeId member{dial.member + 1};
    const auto takes = prng_.between(1, world_.swarm.network.connect_max);
    world_.heap.after(takes, [this, dial, member, life = life_] {
        if (life != life_) return;
        if (!reachable_.contains(member) || !cluster_.can_answer(member)) {
            world_.heap.after(prng_.between(1, world_.swarm.election_timeout.count()),
                              [this, dial, life] {
                                  if (life == life_) handle(core::MemberDown{dial.connection});
                              });
            return;
        }
        const auto hello = cluster_.hello(member);
        if (!hello.cluster.is_set()) return tell_down(dial.connection);
        // Unique among all clients.
        link_ = {dial.connection, core::ClientId{id_.raw() << 32U | ++connections_}, member,
                 world_.heap.now(), world_.heap.now()};
        handle(core::MemberUp{dial.connection, hello.cluster, hello.command_format});
    });
}

void SimClient::send(core::ClientMessage&& message) {
    if (!link_.connection.is_set()) return;
    auto decoded = core::decode_client_message(core::encode(message));
    if (!decoded) return world_.violations.report(id_, "client: a message that does not decode");
    link_.out_at = std::max(link_.out_at, world_.heap.now() + delay());
    world_.heap.at(link_.out_at, [this, connection = link_.connection, member = link_.member,
                                  said = std::move(*decoded)]() mutable {
        if (link_.connection != connection && !late_.contains(connection)) return;
        cluster_.call(
            member,
            core::ClientSaid{connection, {std::move(said)}, core::Access::all(), {}, "10.0.0.1"});
    });
}

void SimClient::notified(core::ClientId connection, const core::ClientNotice& notice) {
    if (link_.connection != connection) return;
    auto decoded = core::decode_client_notice(core::encode(notice));
    if (!decoded) return world_.violations.report(id_, "client: a notice that does not decode");
    link_.in_at = std::max(link_.in_at, world_.heap.now() + delay());
    world_.heap.at(link_.in_at, [this, connection, id = link_.id, life = life_,
                                 said = std::move(*decoded)]() mutable {
        if (life != life_ || link_.connection != connection) return;
        handle(core::MemberSaid{id, std::move(said)});
    });
}

// The client side is closed. What it has sent still arrives, or is lost together with the end.
void SimClient::hang_up(bool member_hears) {
    const auto link = std::exchange(link_, {});
    if (!link.connection.is_set()) return;
    if (member_hears || prng_.one_in(2)) late_[link.connection] = link.member;
    if (!member_hears) return;
    world_.heap.at(std::max(link.out_at, world_.heap.now() + delay()), [this, link] {
        if (late_.erase(link.connection) != 0 && cluster_.is_running(link.member))
            cluster_.call(link.member, core::ClientGone{link.connection});
    });
}

void SimClient::hung_up(core::ClientId connection) {
    if (link_.connection != connection) return;
    world_.tally.probe("client hung up on for a late message");
    const auto id = link_.id;
    hang_up(true);
    tell_down(id);
}

void SimClient::cut(bool silent) {
    if (!link_.connection.is_set() || is_calm_) return;
    world_.tally.probe(silent ? "client cut off silently" : "client cut off");
    const auto id = link_.id;
    hang_up(!silent);
    if (!silent) tell_down(id);
}

void SimClient::member_lost(core::NodeId member) {
    std::erase_if(late_, [&](const auto& one) { return one.second == member; });
    if (link_.member != member) return;
    const auto id = link_.id;
    link_ = {};
    if (is_calm_ || !prng_.one_in(4)) tell_down(id);
}

}  // namespace mortise::sim
