// Events of the core: everything that arrives becomes a step of the driver, and every step ends
// with the same checks.
#include "embed/runtime/core_loop.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "core/leases/lease_times.hpp"
#include "embed/host/descriptor_budget.hpp"
#include "embed/runtime/translate.hpp"
#include "embed/threads/stage_trace.hpp"
#include "embed/values/clocks.hpp"
#include "embed/values/one_line.hpp"
#include "storage/base/descriptors.hpp"

namespace mortise::detail {

namespace {

constexpr auto turn_max = std::chrono::milliseconds{5};  // P10
// The number of calls begun in one step; the others follow after events that arrived meanwhile
// (P10).
constexpr std::size_t calls_per_step_max = 64;

LogLevel level_of(transport::LogLevel level) {
    switch (level) {
        case transport::LogLevel::debug: return LogLevel::debug;
        case transport::LogLevel::info: return LogLevel::info;
        case transport::LogLevel::warning: return LogLevel::warn;
        case transport::LogLevel::error: break;
    }
    return LogLevel::error;
}

transport::NetworkOptions network_options(const LoopParts& parts, std::uint64_t seed) {
    const auto& config = parts.config;
    transport::NetworkOptions options;
    options.self = core::NodeId{config.own_id()};
    options.listen = config.listen;
    options.cluster = config.cluster;
    options.credentials = parts.credentials;
    options.listens_beyond_loopback = config.tls.insecure;
    // The first step says who of them is a member, before a caller is heard.
    for (const auto& peer : config.peers)
        options.peers.push_back(
            {.id = core::NodeId{peer.id}, .address = peer.address, .is_member = true});
    options.heartbeat = config.timing.heartbeat.to_nanoseconds();
    options.election_timeout = config.timing.election_timeout.to_nanoseconds();
    options.seed = seed;
    const auto budget = descriptor_budget(storage::descriptor_limit(), config);
    options.limits.strangers_max = budget.strangers_max;
    options.limits.clients_max = budget.clients_max;
    options.limits.outbox_bytes_max = config.limits.outbox_bytes;
    options.log = [&log = parts.log](transport::LogLevel level, const std::string& text) {
        log.write(level_of(level), "network", text);
    };
    return options;
}

// The same addresses, each with the port that was assigned for port 0.
std::string with_port_of(const std::string& listen, const std::string& listening_at) {
    const auto port_of = [](const std::string& address) { return address.rfind(':') + 1; };
    return listen.substr(0, port_of(listen)) + listening_at.substr(port_of(listening_at));
}

}  // namespace

CoreLoop::CoreLoop(LoopParts parts, core::NodeOptions options, std::uint64_t seed,
                   const PassedOn& passed_on)
    : parts_{std::move(parts)},
      options_{std::move(options)},
      timer_{parts_.io},
      asleep_{boot_now() - steady_now()},
      ahead_{parts_.gate, options_.election_timeout},
      desk_{*this, parts_.io},
      program_{{parts_.gate, parts_.events, parts_.leases, parts_.losses, parts_.cache},
               risk_margin(options_.session_ttl_ms, options_.clock_rate_bound_ppm),
               {[this](const std::string& name) { return driver_->core().machine().inspect(name); },
                [this] { return is_removed(); }},
               passed_on.counters},
      began_{steady_now()},
      ages_{{parts_.io, program_.holds(), program_.pending(), parts_.events, parts_.log,
             options_.access},
            parts_.config.observability},
      insecurity_{parts_.io} {
    if (parts_.config.listen.empty()) return;
    auto network = network_options(parts_, seed);
    options_.client_places = client_node_places(network.limits.clients_max);
    if (!passed_on.listening_at.empty())
        network.listen = with_port_of(network.listen, passed_on.listening_at);
    network_ =
        std::make_unique<transport::PeerNetwork>(parts_.io, std::move(network), *this, &desk_);
}

CoreLoop::~CoreLoop() {
    for (const int door : doors_)
        parts_.descriptors.remove(door);
}

void CoreLoop::listen() {
    if (!network_) return;
    if (const auto listening = network_->listen(); !listening) throw in_one_line(listening.error());
    doors_ = network_->descriptors();
    for (const int door : doors_)
        parts_.descriptors.add(door);
}

void CoreLoop::open(core::NodeState state, LogWriter& log, StateWriter& writer) {
    driver_ = std::make_unique<Driver>(options_, std::move(state),
                                       DriverPorts{log, writer, *this, *this}, read_clocks());
    members_ = present_members();
    had_ = driver_->core().raft().log().last();
}

void CoreLoop::begin(SubmittedCalls calls) {
    if (network_) network_->start();
    warn_of_insecurity();
    warn_of_missing_peers();
    ages_.start(driver_->core());
    step(core::TimerFired{});
    begin_calls(std::move(calls));
    take_calls();
}

void CoreLoop::step(core::Event event) {
    if (ended_ || driver_->is_stopped()) return;
    const bool is_nested = driver_->is_stepping();
    const auto began = read_clocks();
    if (!is_nested) step_began_ = began.steady;
    driver_->handle(std::move(event), began);
    if (!is_nested) after_step(began.steady);
}

void CoreLoop::after_step(core::Instant began) {
    watch_leader();
    watch_ready();
    watch_hand_over();
    tell_observers();
    set_timer();
    const Duration took = steady_now() - began;
    program_.counters().slowest_loop_turn = std::max(program_.counters().slowest_loop_turn, took);
    if (took <= turn_max) return;
    report_overrun(took);
}

void CoreLoop::written(core::WriteId id) {
    stage(Stage::written);
    step(core::WriteDone{id});
}

void CoreLoop::take_calls() {
    if (suspended_) return let_calls_wait();
    begin_calls(parts_.gate->take(calls_per_step_max));
    if (!driver_ || ended_) return;
    tell_observers();  // one may be new, or have room again
    set_timer();       // the cache may have to be looked at earlier
}

// What is left is told after the events that arrived meanwhile.
void CoreLoop::tell_observers() {
    if (driver_->is_stopped()) return;
    const bool has_more = parts_.observers.tell(driver_->core(), ahead_);
    if (desk_.tell_observers() || has_more) parts_.gate->wake_up();
    if (!ahead_.begin_read(steady_now())) return;
    // A node whose certificate may read nothing cannot know: a gap is better than silence.
    catch_up([this](const core::CallAnswer& given) {
        ahead_.end_read(!std::holds_alternative<core::CallError>(given.result), steady_now());
    });
}

// A linearizable read of anything does it.
void CoreLoop::catch_up(std::function<void(core::CallAnswer&)> answered) {
    core::InspectCall read;
    read.is_prefix = true;
    read.parties_max = 1;
    submit(std::move(read), std::move(answered));
}

void CoreLoop::begin_calls(SubmittedCalls taken) {
    if (!taken.empty()) stage(Stage::taken);
    parts_.cache->pass(taken);
    auto calls = program_.begin(std::move(taken));
    if (!calls.calls.empty()) step(std::move(calls));
}

void CoreLoop::submit(core::Call call, std::function<void(core::CallAnswer&)> answered) {
    const auto tag = parts_.gate->next_tag();
    std::visit([&](auto& one) { one.tag = tag; }, call);
    program_.expect(tag, std::move(answered));
    core::Calls calls;
    calls.calls.push_back(std::move(call));
    step(std::move(calls));
}

void CoreLoop::fail(const std::string& reason) {
    if (parts_.readiness.why_stopped()) return;
    const bool is_halted = driver_->is_stopped();
    if (std::exchange(suspended_, std::nullopt) || is_halted) return stopped(reason);
    if (!ended_) driver_->fail(reason);
}

void CoreLoop::set_credentials(std::shared_ptr<const transport::TlsCredentials> credentials) {
    parts_.credentials = credentials;
    if (network_ && !ended_) network_->set_credentials(std::move(credentials));
}

core::Hello CoreLoop::hello() {
    auto hello = driver_->hello();
    // Before the node is a member it has no address to announce.
    const auto& advertised = parts_.config.advertise;
    if (!advertised.empty() && !hello.address.empty()) hello.address = advertised;
    return hello;
}

// --- the network -------------------------------------------------------------------------------

void CoreLoop::peer_up(core::Hello peer) {
    const auto id = peer.node;
    const bool is_new = connected_.insert_or_assign(id, peer).second;
    if (is_new) parts_.events.publish({.kind = NodeEvent::Kind::peer_up, .peer = id.raw()});
    refused_by_.erase(id);
    unreached_.erase(id);
    lost_at_.erase(id);
    warn_of_timing(peer);
    step(core::PeerUp{std::move(peer)});
}

void CoreLoop::peer_down(core::NodeId peer) {
    if (connected_.erase(peer) != 0) {
        lost_at_.insert_or_assign(peer, std::time(nullptr));
        parts_.events.publish({.kind = NodeEvent::Kind::peer_down, .peer = peer.raw()});
    }
    step(core::PeerDown{peer});
}

void CoreLoop::received(core::NodeId from, core::PeerMessage message) {
    stage(Stage::received);
    step(core::Received{from, std::move(message)});
}

// --- the timer ---------------------------------------------------------------------------------

core::Instant CoreLoop::deadline() const {
    const auto idle_at = program_.holds().idle_at();
    const auto next = std::min(driver_->deadline(), parts_.cache->deadline());
    if (idle_at == core::Instant::never()) return next;
    const auto clocks = read_clocks();
    return std::min(next, clocks.steady + (idle_at - clocks.boot));
}

// Deadlines move with almost every message. A timer that fires too early only checks again.
void CoreLoop::set_timer() {
    const auto due = deadline();
    if (due == core::Instant::never() || due >= timer_at_) return;
    timer_at_ = due;
    timer_.expires_at(asio::steady_timer::time_point{core::Nanoseconds{due.ns}});
    timer_.async_wait([this](std::error_code ec) {
        if (!ec) timer_fired();
    });
}

// Not every pause costs locks, but a lock that was lost in one is hard to explain without this.
void CoreLoop::warn_of_pause(core::Instant due) {
    const auto now = read_clocks();
    const auto asleep = now.boot - now.steady;
    // What became due in a pause is due again and again until all of it is done.
    const auto late = now.steady - std::max(due, fired_at_) + (asleep - asleep_);
    asleep_ = asleep;
    fired_at_ = now.steady;
    if (late < std::max<core::Nanoseconds>(std::chrono::seconds{1}, options_.election_timeout))
        return;
    parts_.log.warn("paused",
                    "did not run for " +
                        to_string(Duration{std::chrono::floor<std::chrono::milliseconds>(late)}) +
                        ": its process was stopped, or its machine slept or is overloaded; locks "
                        "that it held may be lost. Check the load, the limits of its container, "
                        "and whether the machine sleeps");
}

void CoreLoop::timer_fired() {
    warn_of_pause(std::exchange(timer_at_, core::Instant::never()));
    if (ended_) return;
    parts_.cache->look(steady_now());
    auto releases = program_.holds().end_idle(boot_now());
    if (!releases.calls.empty()) step(std::move(releases));
    if (deadline() <= steady_now()) step(core::TimerFired{});
    // The wake for them may have failed without memory. They come last: whatever sets the timer
    // before the deadline is dealt with sets it to the past.
    take_calls();
}

}  // namespace mortise::detail
