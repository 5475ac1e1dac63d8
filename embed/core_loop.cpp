// Events in: what arrives becomes a step of the driver, and every step ends in the same few looks.
#include "embed/core_loop.hpp"

#include <system_error>
#include <utility>

#include "embed/clocks.hpp"
#include "embed/translate.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

namespace {

constexpr auto turn_max = std::chrono::milliseconds{5};  // P10

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
    for (const auto& peer : config.peers)
        options.peers.push_back({core::NodeId{peer.id}, peer.address});
    options.heartbeat = config.timing.heartbeat.to_nanoseconds();
    options.election_timeout = config.timing.election_timeout.to_nanoseconds();
    options.seed = seed;
    options.limits.strangers_max = config.limits.connections;
    options.log = [&log = parts.log](transport::LogLevel level, const std::string& text) {
        log.write(level_of(level), "network", text);
    };
    return options;
}

}  // namespace

CoreLoop::CoreLoop(LoopParts parts, core::NodeOptions options, std::uint64_t seed)
    : parts_{std::move(parts)},
      options_{std::move(options)},
      timer_{parts_.io},
      desk_{*this},
      began_{steady_now()} {
    if (parts_.config.listen.empty()) return;
    network_ = std::make_unique<transport::PeerNetwork>(parts_.io, network_options(parts_, seed),
                                                        *this, &desk_);
}

CoreLoop::~CoreLoop() = default;

void CoreLoop::listen() {
    if (!network_) return;
    if (const auto listening = network_->listen(); !listening) {
        throw std::system_error{listening.error().code, listening.error().what};
    }
}

void CoreLoop::open(core::NodeState state, LogWriter& log, StateWriter& writer) {
    driver_ = std::make_unique<Driver>(options_, std::move(state),
                                       DriverPorts{log, writer, *this, *this}, read_clocks());
}

void CoreLoop::begin() {
    if (network_) network_->start();
    step(core::TimerFired{});
}

void CoreLoop::step(core::Event event) {
    if (ended_ || driver_->is_stopped()) return;
    const auto began = read_clocks();
    driver_->handle(std::move(event), began);
    after_step(began.steady);
}

void CoreLoop::after_step(core::Instant began) {
    watch_leader();
    watch_ready();
    set_timer();
    const Duration took = steady_now() - began;
    metrics_.slowest_loop_turn = std::max(metrics_.slowest_loop_turn, took);
    if (took <= turn_max) return;
    ++metrics_.loop_overruns;
    parts_.log.debug("overrun", "a step took " + to_string(took));
}

void CoreLoop::take_calls() {
    core::Calls calls;
    for (auto& submitted : parts_.gate->take()) {
        if (const auto* release = std::get_if<core::ReleaseCall>(&submitted.call)) {
            holds_.erase(release->hold);
        }
        if (submitted.completion) {
            PendingCall pending{std::move(submitted.completion), {}, {}, {}};
            const auto* acquire = std::get_if<core::AcquireCall>(&submitted.call);
            if (acquire != nullptr) {
                ++metrics_.acquires;
                pending.name = acquire->request.name;
                pending.mode = from_core(acquire->request.mode);
            }
            const auto tag = std::visit([](const auto& call) { return call.tag; }, submitted.call);
            pending_.add(tag, std::move(pending));
        }
        calls.calls.push_back(std::move(submitted.call));
    }
    if (!calls.calls.empty()) step(std::move(calls));
}

void CoreLoop::submit(core::Call call, std::function<void(core::CallAnswer&)> answered) {
    const auto tag = parts_.gate->next_tag();
    std::visit([&](auto& one) { one.tag = tag; }, call);
    pending_.add(tag, {{}, std::move(answered), {}, {}});
    core::Calls calls;
    calls.calls.push_back(std::move(call));
    step(std::move(calls));
}

void CoreLoop::fail(const std::string& reason) {
    if (!ended_) driver_->fail(reason);
}

// --- the network -------------------------------------------------------------------------------

void CoreLoop::peer_up(core::Hello peer) {
    const auto id = peer.node;
    const bool is_new = connected_.insert_or_assign(id, peer).second;
    if (is_new) parts_.events.publish({.kind = NodeEvent::Kind::peer_up, .peer = id.raw()});
    step(core::PeerUp{std::move(peer)});
}

void CoreLoop::peer_down(core::NodeId peer) {
    if (connected_.erase(peer) != 0) {
        parts_.events.publish({.kind = NodeEvent::Kind::peer_down, .peer = peer.raw()});
    }
    step(core::PeerDown{peer});
}

void CoreLoop::received(core::NodeId from, core::PeerMessage message) {
    step(core::Received{from, std::move(message)});
}

// --- the timer ---------------------------------------------------------------------------------

// Deadlines move on with almost every message; a timer that is set too early is only looked at
// again.
void CoreLoop::set_timer() {
    const auto due = driver_->deadline();
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
    if (driver_->deadline() > steady_now()) {
        set_timer();
    } else {
        step(core::TimerFired{});
    }
}

// --- what changed ------------------------------------------------------------------------------

void CoreLoop::watch_leader() {
    const auto leader = driver_->core().raft().leader();
    if (leader == leader_) return;
    const bool led = leader_ == options_.self;
    leader_ = leader;
    const auto peer = leader ? leader->raw() : NodeId{0};
    if (leader) ++metrics_.leader_changes;
    using Kind = NodeEvent::Kind;
    if (led) parts_.events.publish({.kind = Kind::lost_leadership});
    parts_.events.publish({.kind = Kind::leader_changed, .peer = peer});
    if (leader == options_.self) parts_.events.publish({.kind = Kind::became_leader});
    parts_.log.info("leader", leader ? "node " + std::to_string(peer) + " leads" : "no leader");
}

void CoreLoop::watch_ready() {
    const auto& core = driver_->core();
    const bool ready = !driver_->is_stopped() && leader_ && core.agent().open_session() && lease_ &&
                       lease_->is_valid(boot_now());
    if (ready == ready_) return;
    ready_ = ready;
    parts_.readiness.set_ready(ready);
    parts_.events.publish({.kind = ready ? NodeEvent::Kind::ready : NodeEvent::Kind::not_ready});
    parts_.log.info("ready", ready ? "ready" : "not ready");
}

// --- the end -----------------------------------------------------------------------------------

void CoreLoop::begin_close(std::function<void()> done) {
    closed_ = std::move(done);
    if (driver_->is_stopped()) {
        std::exchange(closed_, {})();
        return;
    }
    close_tag_ = parts_.gate->next_tag();
    core::Calls calls;
    calls.calls.emplace_back(core::CloseCall{close_tag_});
    step(std::move(calls));
}

// After the releases: a new leader would first have to come to office to take them.
void CoreLoop::hand_over_leadership() {
    const auto& raft = driver_->core().raft();
    std::optional<core::NodeId> best;
    core::LogIndex match;
    for (const auto& voter : raft.configuration().voters) {
        const auto* progress = raft.progress_of(voter.id);
        const bool reachable = voter.id != options_.self && connected_.contains(voter.id);
        if (!raft.is_leader() || !reachable || progress == nullptr) continue;
        if (best && progress->match <= match) continue;
        best = voter.id;
        match = progress->match;
    }
    if (best) step(core::TransferLeadership{*best});
}

void CoreLoop::end() {
    ended_ = true;
    timer_.cancel();
    desk_.end();
    if (network_) network_->stop();
    lose_everything();
}

// --- questions ---------------------------------------------------------------------------------

Status CoreLoop::status() const {
    const auto member = const_cast<ClientDesk&>(desk_).status();
    Status status;
    status.id = options_.self.raw();
    status.cluster = parts_.config.cluster;
    status.cluster_id = to_text(member.cluster);
    status.role = parts_.config.role;
    status.standing = from_core(member.role);
    status.term = member.term.raw();
    if (member.leader) status.leader = member.leader->raw();
    status.commit_index = member.commit.raw();
    status.applied_index = member.applied.raw();
    for (const auto& one : member.members) {
        status.members.push_back({one.member.id.raw(), one.is_voter ? Role::voter : Role::learner,
                                  one.member.address, one.is_connected, one.match.raw()});
    }
    if (const auto session = driver_->core().agent().open_session())
        status.session = session->raw();
    if (network_) status.address = network_->listening_at();
    status.uptime = member.uptime;
    status.version = member.version;
    status.ready = member.ready;
    if (!status.ready) {
        status.why_not_ready = !raft_formed() ? "the cluster is not formed yet: every configured "
                                                "voter must be up once"
                               : !leader_     ? "no leader is known"
                                              : "no session is open yet";
    }
    return status;
}

Metrics CoreLoop::metrics() const {
    auto metrics = metrics_;
    const auto& core = driver_->core();
    metrics.holds = holds_.size();
    metrics.waits = pending_.size();
    metrics.names = core.machine().table().records().size();
    metrics.sessions = core.machine().sessions().all().size();
    metrics.log_lines_left_out = parts_.log.left_out();
    metrics.late_callbacks = parts_.notifier.overruns() + parts_.losses.overruns();
    metrics.messages_refused = core.refused_messages();
    if (!network_) return metrics;
    const auto network = network_->counters();
    metrics.messages_sent = network.messages_sent;
    metrics.messages_received = network.messages_received;
    metrics.messages_refused += network.malformed_messages + network.malformed_frames;
    metrics.messages_dropped = network.messages_dropped;
    metrics.connections_refused = network.strangers_refused + network.refused_protocol +
                                  network.refused_cluster + network.refused_identity +
                                  network.refused_stale + network.refused_other +
                                  network.strangers_timed_out;
    return metrics;
}

bool CoreLoop::raft_formed() const {
    return driver_->core().raft().configuration().is_formed();
}

}  // namespace mortise::detail
