// Events of the core: everything that arrives becomes a step of the driver, and every step ends
// with the same checks.
#include "embed/runtime/core_loop.hpp"

#include <utility>

#include "core/leases/lease_times.hpp"
#include "embed/host/descriptor_budget.hpp"
#include "embed/runtime/translate.hpp"
#include "embed/threads/stage_trace.hpp"
#include "embed/values/clocks.hpp"
#include "embed/values/one_line.hpp"
#include "storage/descriptors.hpp"

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
    for (const auto& peer : config.peers)
        options.peers.push_back({core::NodeId{peer.id}, peer.address});
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

// A hold is at risk when half of this time has passed, if it has not ended before.
core::Nanoseconds risk_margin(const core::NodeOptions& options) {
    const core::Nanoseconds ttl = std::chrono::milliseconds{options.session_ttl_ms};
    return core::holder_trust(options.session_ttl_ms, options.clock_rate_bound_ppm) - ttl / 2;
}

}  // namespace

CoreLoop::CoreLoop(LoopParts parts, core::NodeOptions options, std::uint64_t seed,
                   const Estate& estate)
    : parts_{std::move(parts)},
      options_{std::move(options)},
      timer_{parts_.io},
      desk_{*this},
      holds_{{parts_.gate, parts_.events, parts_.leases, parts_.losses, parts_.cache},
             risk_margin(options_)},
      began_{steady_now()},
      ages_{{parts_.io, holds_, pending_, parts_.events, parts_.log, options_.access},
            parts_.config.observability},
      insecurity_{parts_.io},
      metrics_{estate.counters} {
    if (parts_.config.listen.empty()) return;
    auto network = network_options(parts_, seed);
    if (!estate.listening_at.empty())
        network.listen = with_port_of(network.listen, estate.listening_at);
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
}

void CoreLoop::begin(SubmittedCalls calls) {
    if (network_) network_->start();
    warn_of_insecurity();
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
    metrics_.slowest_loop_turn = std::max(metrics_.slowest_loop_turn, took);
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
    if (parts_.observers.tell(driver_->core())) parts_.gate->wake_up();
}

void CoreLoop::begin_calls(SubmittedCalls taken) {
    if (!taken.empty()) stage(Stage::taken);
    parts_.cache->pass(taken);
    core::Calls calls;
    try {
        for (; !taken.empty(); taken.pop_front())
            calls.calls.push_back(begin_call(taken.front()));
    } catch (...) {  // no memory: the node stops, and the calls that were not begun have to fail
        waiting_.keep(taken);
        throw;
    }
    if (!calls.calls.empty()) step(std::move(calls));
}

core::Call CoreLoop::begin_call(Submitted& submitted) {
    const auto* release = submitted.call.get_if<core::ReleaseCall>();
    if (release != nullptr) holds_.given_back(release->hold);
    const auto* publish = submitted.call.get_if<core::PublishCall>();
    if (publish != nullptr) holds_.published(publish->hold);
    if (submitted.completion) {
        PendingCall pending;
        pending.completion = submitted.completion;
        pending.progress_timeout = submitted.call.progress_timeout();
        pending.is_unknown_unanswered = is_unknown_unanswered(submitted.call);
        if (const auto* upgrade = submitted.call.get_if<core::UpgradeCall>())
            pending.upgrades = upgrade->hold;
        if (const auto* acquire = submitted.call.get_if<core::AcquireCall>()) {
            ++metrics_.acquires;
            pending.began = submitted.call.began();
            const auto& request = acquire->request;
            if (submitted.call.may_be_cached())
                pending.user = core::LockCache::User{request.locker, request.label};
        }
        pending.place = std::move(submitted.place);
        pending_.add(submitted.call.tag(), std::move(pending));
        submitted.completion.reset();
    }
    return submitted.call.take();
}

void CoreLoop::submit(core::Call call, std::function<void(core::CallAnswer&)> answered) {
    const auto tag = parts_.gate->next_tag();
    std::visit([&](auto& one) { one.tag = tag; }, call);
    PendingCall pending;
    pending.answered = std::move(answered);
    pending_.add(tag, std::move(pending));
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
    warn_of_timing(peer);
    step(core::PeerUp{std::move(peer)});
}

void CoreLoop::peer_down(core::NodeId peer) {
    if (connected_.erase(peer) != 0) {
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
    const auto idle_at = holds_.idle_at();
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

void CoreLoop::timer_fired() {
    timer_at_ = core::Instant::never();
    if (ended_) return;
    take_calls();  // the wake for them may have failed without memory
    parts_.cache->look(steady_now());
    auto releases = holds_.end_idle(boot_now());
    if (!releases.calls.empty()) step(std::move(releases));
    if (deadline() > steady_now()) {
        set_timer();
    } else {
        step(core::TimerFired{});
    }
}

}  // namespace mortise::detail
