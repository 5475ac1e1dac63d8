// Events of the core: everything that arrives becomes a step of the driver, and every step ends
// with the same checks.
#include "embed/runtime/core_loop.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/leases/lease_times.hpp"
#include "embed/host/descriptor_budget.hpp"
#include "embed/runtime/network_side.hpp"
#include "embed/runtime/own_joining.hpp"
#include "embed/runtime/translate.hpp"
#include "embed/threads/stage_trace.hpp"
#include "embed/values/clocks.hpp"

namespace mortise::detail {

namespace {

constexpr auto turn_max = std::chrono::milliseconds{5};  // P10
// The number of calls begun in one step; the others follow after events that arrived meanwhile
// (P10).
constexpr std::size_t calls_per_step_max = 64;
constexpr std::size_t parties_shown_max = 64;  // in a warning

}  // namespace

CoreLoop::CoreLoop(LoopParts parts, core::NodeOptions options, std::uint64_t seed,
                   const PassedOn& passed_on)
    : parts_{std::move(parts)},
      options_{std::move(options)},
      began_{steady_now()},
      timer_{parts_.io},
      pauses_{read_clocks()},
      ahead_{parts_.gate, options_.election_timeout},
      desk_{*this, parts_.io},
      network_{std::make_unique<NetworkSide>(
          NetworkSide::Parts{parts_.io, parts_.config, parts_.log, parts_.events,
                             parts_.descriptors, desk_,
                             [this]() -> const core::NodeCore& { return driver_->core(); },
                             [this](core::Event event) { step(std::move(event)); },
                             [this] { joining_->look(driver_->core().raft(), network_->found()); }},
          std::move(parts_.credentials), seed, passed_on.listening_at)},
      program_{{parts_.gate, parts_.events, parts_.leases, parts_.losses, parts_.cache},
               risk_margin(options_.session_ttl_ms, options_.clock_rate_bound_ppm),
               {[this](const std::string& name) { return driver_->core().machine().inspect(name); },
                [this] { return is_removed(); }},
               passed_on.counters},
      membership_{parts_.config, parts_.log, parts_.events},
      joining_{std::make_unique<OwnJoining>(
          parts_.config, parts_.log,
          [this](const core::MembershipGoal& goal, core::LogIndex seen,
                 OwnJoining::Answered answered) {
              const auto deadline = steady_now() + options_.call_timeout;
              submit(core::ChangeCall{{}, goal, deadline, seen}, std::move(answered));
          })},
      entries_{{parts_.log, parts_.events, program_.counters(), options_.access,
                [this](core::SessionId session) {
                    return driver_->core().machine().views().node_of(session);
                }}},
      overruns_{std::chrono::seconds{1}},
      ages_{{parts_.io, program_.holds(), program_.pending(), parts_.events, parts_.log,
             options_.access},
            parts_.config.observability},
      unready_{parts_.io, parts_.log, parts_.config.timing.session_ttl.to_nanoseconds(),
               [this] { return why_not_ready_now(); }} {
    if (parts_.config.listen.empty()) return;
    options_.client_places = client_node_places(clients_max(parts_.config));
}

CoreLoop::~CoreLoop() = default;

void CoreLoop::listen() {
    network_->listen();
}

void CoreLoop::open(core::NodeState state, LogWriter& log, StateWriter& writer) {
    driver_ = std::make_unique<Driver>(options_, std::move(state),
                                       DriverPorts{log, writer, *network_, *this}, read_clocks());
    membership_.begin_with(driver_->core().raft().configuration());
    entries_.begin_after(driver_->core().raft().log().last());
}

void CoreLoop::begin(SubmittedCalls calls) {
    network_->start();
    membership_.warn_of_missing_peers();
    begin_warnings();
    unready_.not_ready();
    step(core::TimerFired{});
    begin_calls(std::move(calls));
    take_calls();
}

void CoreLoop::begin_warnings() {
    const auto look_at = [this](const std::string& name, const AgeWatch::Knowledge::Told& told) {
        const auto& core = driver_->core();
        auto view = core.machine().inspect(name, parties_shown_max);
        if (!view.holders.empty()) {
            const auto since = view.holders.front().since;
            if (const auto age = core.clock().age_of(since, read_clocks()))
                view.ages.emplace(since, *age);
        }
        told(view);
    };
    ages_.start({&driver_->core().agent(), look_at});
}

void CoreLoop::step(core::Event event) {
    if (ended_ || driver_->is_stopped()) return;
    const bool is_nested = driver_->is_stepping();
    const auto began = read_clocks();
    if (!is_nested) entries_.step_begins(began.steady);
    driver_->handle(std::move(event), began);
    if (!is_nested) after_step(began.steady);
}

void CoreLoop::after_step(core::Instant began) {
    watch_leader();
    watch_ready();
    watch_close();
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
    if (!ended_) network_->set_credentials(std::move(credentials));
}

// --- the timer ---------------------------------------------------------------------------------

core::Instant CoreLoop::deadline() const {
    const auto idle_at = program_.holds().idle_at();
    const auto next = std::min(driver_->deadline(), parts_.cache->deadline());
    if (idle_at == core::Instant::never()) return next;
    const auto clocks = read_clocks();
    return std::min(next, clocks.steady + (idle_at - clocks.boot));
}

void CoreLoop::set_timer() {
    timer_.set(deadline(), [this](core::Instant due) { timer_fired(due); });
}

// Not every pause costs locks, but a lock that was lost in one is hard to explain without this.
void CoreLoop::warn_of_pause(core::Nanoseconds late) {
    if (late < std::max<core::Nanoseconds>(std::chrono::seconds{1}, options_.election_timeout))
        return;
    parts_.log.warn("paused",
                    "did not run for " +
                        to_string(Duration{std::chrono::floor<std::chrono::milliseconds>(late)}) +
                        ": its process was stopped, or its machine slept or is overloaded; locks "
                        "that it held may be lost. Check the load, the limits of its container, "
                        "and whether the machine sleeps");
}

void CoreLoop::timer_fired(core::Instant due) {
    warn_of_pause(pauses_.fired(due, read_clocks()));
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
