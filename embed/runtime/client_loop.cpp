#include "embed/runtime/client_loop.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <asio/post.hpp>

#include "embed/runtime/dial_patience.hpp"
#include "embed/runtime/translate.hpp"
#include "embed/values/clocks.hpp"
#include "embed/values/version.hpp"

namespace mortise::detail {

namespace {

constexpr std::size_t client_calls_per_step_max = 64;  // as in a member

// Whether a member can be reached is in the status, so only errors are for everybody.
transport::Log log_to(NodeLog& log) {
    return [&log](transport::LogLevel level, const std::string& text) {
        const bool is_error = level == transport::LogLevel::error;
        log.write(is_error ? LogLevel::error : LogLevel::debug, "network", text);
    };
}

}  // namespace

ClientLoop::ClientLoop(LoopParts parts, const core::ClientOptions& options)
    : parts_{std::move(parts)},
      options_{options},
      core_{options, read_clocks()},
      timer_{parts_.io},
      program_{{parts_.gate, parts_.events, parts_.leases, parts_.losses, parts_.cache},
               risk_margin(options.session_ttl_ms, options.clock_rate_bound_ppm),
               {[](const std::string& name) {
                    core::LockView unknown;  // a client has no copy
                    unknown.name = name;
                    return unknown;
                },
                [] { return false; }},
               {}},
      reads_{{[this](core::CallAnswer answer) { answered(std::move(answer)); },
              [this](bool heard) {
                  step(core::ReadsOpen{reads_.size(), heard});
              }}},
      members_{parts_.io, parts_.config, parts_.log, [this] { members_changed(); }},
      began_{steady_now()},
      ages_{{parts_.io, program_.holds(), program_.pending(), parts_.events, parts_.log,
             options_.access},
            parts_.config.observability},
      unready_{parts_.io, parts_.log, parts_.config.timing.session_ttl.to_nanoseconds(),
               [this] { return why_not_ready(); }} {}

ClientLoop::~ClientLoop() {
    hang_up();
}

void ClientLoop::begin(SubmittedCalls calls) {
    begin_warnings();
    unready_.not_ready();
    members_.look_up(steady_now());
    step(core::ClientTimer{});
    auto taken = program_.begin(std::move(calls));
    if (!taken.calls.empty()) step(core::ClientCalls{std::move(taken.calls)});
    take_calls();
}

void ClientLoop::take_calls() {
    if (ended_ || is_stopped_) return;
    auto taken = parts_.gate->take(client_calls_per_step_max);
    parts_.cache->pass(taken);
    auto calls = program_.begin(std::move(taken));
    if (!calls.calls.empty()) step(core::ClientCalls{std::move(calls.calls)});
    serve_observers();
    set_timer();
}

// --- steps --------------------------------------------------------------------------------------

void ClientLoop::step(core::ClientEvent event) {
    if (ended_ || is_stopped_) return;
    events_.push_back(std::move(event));
    if (std::exchange(stepping_, true)) return;
    try {
        while (!events_.empty() && !is_stopped_ && !ended_) {
            auto next = std::move(events_.front());
            events_.pop_front();
            const auto former = core_.cluster();
            auto effects = core_.step(std::move(next), read_clocks());
            if (former.is_set() && core_.cluster() != former) say_other_cluster(former);
            carry_out(std::move(effects));
        }
    } catch (const std::exception& broken) {
        stepping_ = false;
        return stop(broken.what());
    }
    stepping_ = false;
    watch_ready();
    if (closing_.is_useless(core_.is_served())) closing_.finish();
    set_timer();
}

void ClientLoop::say_other_cluster(core::ClusterId former) {
    parts_.log.warn("cluster", address_ + " belongs to another cluster of this name (" +
                                   to_text(core_.cluster()) + ", before: " + to_text(former) +
                                   "): this client begins anew there");
}

// What is sent leaves after the holds whose loss it reports are marked lost.
void ClientLoop::carry_out(core::ClientEffects effects) {
    for (const auto& lost : effects.lost)
        program_.holds().lost(lost);
    for (const auto hold : effects.suspended)
        program_.holds().suspended(hold);
    if (effects.lease) {
        auto releases = program_.holds().lease_changed(*effects.lease);
        if (!releases.calls.empty())
            events_.push_back(core::ClientCalls{std::move(releases.calls)});
    }
    {
        const Notifier::Burst burst{parts_.gate->notifier()};
        for (auto& answer : effects.answers)
            answered(std::move(answer));
    }
    for (const auto& contended : effects.contended)
        program_.holds().contended(contended);
    for (auto& read : effects.reads)
        reads_.add(std::move(read), steady_now() + options_.call_timeout);
    if (!effects.reads.empty()) step(core::ReadsOpen{reads_.size(), false});
    if (connection_ && effects.send_to == connection_id_) {
        for (const auto& message : effects.send)
            connection_->send(message);
    }
    if (effects.hang_up.is_set() && effects.hang_up == connection_id_) {
        note_why(effects.left_because);
        hang_up();
    }
    if (effects.dial) dial(*effects.dial);
    if (effects.look && connection_) look(*effects.look);
}

void ClientLoop::answered(core::CallAnswer answer) {
    if (closing_.is_answer(answer.tag)) {
        asio::post(parts_.io, [this] { closing_.finish(); });
        return;
    }
    program_.answered(answer);
}

// --- the member ---------------------------------------------------------------------------------

void ClientLoop::dial(const core::ClientEffects::Dial& dial) {
    hang_up();
    connection_id_ = dial.connection;
    member_ = dial.member;
    members_.look_up(steady_now());
    address_ = members_.at(member_);
    const auto patience = dial_patience(options_, core_.agent().has_valid_lease(read_clocks()));
    const auto id = dial.connection;
    MemberConnection::Events events{
        [this, id](const core::Hello& member) { connection_up(id, member); },
        [this, id](const std::string& why) { connection_down(id, why); },
        [this, id](core::ClientNotice notice) {
            step(core::MemberSaid{id, std::move(notice)});
        }};
    connection_ = std::make_shared<MemberConnection>(
        parts_.io, MemberConnection::Target{address_, patience, dial.cluster, parts_.credentials},
        log_to(parts_.log), std::move(events));
    connection_->connect();
}

// A member of a cluster with another name would have other locks of these names.
void ClientLoop::connection_up(core::MemberConnectionId id, const core::Hello& member) {
    const auto& name = member.cluster_name;
    if (!name.empty() && name != parts_.config.cluster)
        return connection_down(
            id, "it belongs to a cluster named " + name + ", not " + parts_.config.cluster);
    if (member.is_empty()) return connection_down(id, "it is in no cluster yet");
    member_id_ = member.node;
    parts_.events.publish({.kind = NodeEvent::Kind::peer_up, .peer = member_id_.raw()});
    reads_.use([connection = connection_](const transport::ListRequest& request, auto done) {
        connection->client().list(request, std::move(done));
    });
    step(core::MemberUp{id, member.cluster, member.command_format});
}

void ClientLoop::connection_down(core::MemberConnectionId id, const std::string& why) {
    if (id != connection_id_) return;
    note_why(why);
    hang_up();
    step(core::MemberDown{id});
}

// Whether it would be better served there (docs/decisions/0067). A member that is not reached, or
// not ready, says nothing of its load.
void ClientLoop::look(std::size_t member) {
    members_.look_up(steady_now());
    connection_->client().status([this, member](const core::Result<transport::MemberStatus>& own) {
        if (own) look_at(member, own->load);  // otherwise the connection ends
    });
}

void ClientLoop::look_at(std::size_t member, const core::MemberLoad& own) {
    const auto looked = [this, id = connection_id_, member, own](const core::MemberLoad& other) {
        const auto looked_at = std::exchange(other_, nullptr);
        step(core::MembersCompared{id, member, own, other});
    };
    other_ = std::make_unique<transport::MemberClient>(parts_.io, core_.cluster(),
                                                       parts_.credentials, log_to(parts_.log));
    other_->connect(members_.at(member), dial_patience(options_, true),
                    [this, looked](const core::Result<core::Hello>& hello) {
                        if (!hello) return looked({});
                        other_->status([looked](const core::Result<transport::MemberStatus>& its) {
                            looked(its ? its->load : core::MemberLoad{});
                        });
                    });
}

// --- observers ----------------------------------------------------------------------------------

// A new one asks the member by which this client is served first.
void ClientLoop::serve_observers() {
    if (ended_ || is_stopped_ || !parts_.observers.is_asked()) return;
    const MemberObserver::Node node{parts_.io,
                                    parts_.config,
                                    members_,
                                    parts_.notifier,
                                    parts_.log,
                                    dial_patience(options_, false),
                                    [this] { return core_.cluster(); },
                                    [this] { return parts_.credentials; }};
    parts_.observers.take_arrivals([&](const ObserverHub::Arrival& arrival) {
        observers_.push_back(std::make_shared<MemberObserver>(node, arrival, member_));
        observers_.back()->begin();
    });
    std::erase_if(observers_, [](const auto& observer) { return !observer->go_on(); });
}

// --- warnings -----------------------------------------------------------------------------------

void ClientLoop::begin_warnings() {
    ages_.start({&core_.agent(), [this](const std::string& name, AgeWatch::Knowledge::Told told) {
                     ask_about(name, std::move(told));
                 }});
}

// The member need not ask the others: what it says is for people.
void ClientLoop::ask_about(const std::string& name, AgeWatch::Knowledge::Told told) {
    core::InspectCall call;
    call.tag = parts_.gate->next_tag();
    call.name = name;
    call.local = true;
    program_.expect(call.tag, [told = std::move(told)](const core::CallAnswer& answer) {
        const auto* viewed = std::get_if<core::Viewed>(&answer.result);
        const bool is_known = viewed != nullptr && !viewed->locks.empty();
        told(is_known ? viewed->locks.front() : core::LockView{});
    });
    reads_.add(std::move(call), steady_now() + options_.call_timeout);
    step(core::ReadsOpen{reads_.size(), false});
}

// To wait at an address that the name has no more is to wait in vain. A member that serves this
// client stays, whatever the name says.
void ClientLoop::members_changed() {
    std::erase_if(whys_, [this](const auto& why) { return !members_.has(why.first); });
    const bool is_dialling = connection_ && !member_id_.is_set();
    if (is_dialling && !members_.has(address_))
        connection_down(connection_id_, "it is not among the members any more");
}

void ClientLoop::note_why(const std::string& why) {
    if (!why.empty()) whys_[address_] = why;
    parts_.log.debug("member", address_ + ": " + why);
}

void ClientLoop::hang_up() {
    reads_.use({});
    if (member_id_.is_set())
        parts_.events.publish({.kind = NodeEvent::Kind::peer_down, .peer = member_id_.raw()});
    member_id_ = {};
    other_.reset();
    if (const auto connection = std::exchange(connection_, nullptr)) connection->close();
}

// --- the timer ----------------------------------------------------------------------------------

core::Instant ClientLoop::deadline() const {
    const auto next = std::min({core_.deadline(), reads_.deadline(), parts_.cache->deadline()});
    const auto idle_at = program_.holds().idle_at();
    if (idle_at == core::Instant::never()) return next;
    const auto clocks = read_clocks();
    return std::min(next, clocks.steady + (idle_at - clocks.boot));
}

void ClientLoop::set_timer() {
    if (ended_ || is_stopped_) return;
    timer_.set(deadline(), [this](core::Instant /*due*/) { timer_fired(); });
}

void ClientLoop::timer_fired() {
    if (ended_ || is_stopped_) return;
    reads_.on_timer(steady_now());
    parts_.cache->look(steady_now());
    auto releases = program_.holds().end_idle(boot_now());
    if (!releases.calls.empty()) step(core::ClientCalls{std::move(releases.calls)});
    if (core_.deadline() <= steady_now()) step(core::ClientTimer{});
    take_calls();  // the wake for them may have failed without memory
}

// --- reports ------------------------------------------------------------------------------------

void ClientLoop::watch_ready() {
    const bool ready = !is_stopped_ && core_.is_served() && core_.agent().open_session() &&
                       program_.holds().has_valid_lease();
    if (ready) whys_.clear();
    if (ready == ready_) return;
    ready_ = ready;
    parts_.readiness.set_ready(ready);
    if (ready)
        unready_.ready();
    else
        unready_.not_ready();
    parts_.events.publish({.kind = ready ? NodeEvent::Kind::ready : NodeEvent::Kind::not_ready});
    parts_.log.info("ready", ready ? "ready" : "not ready");
}

// "no member serves this client: 127.0.0.1:7401 (connection refused), 127.0.0.1:7402"
std::string ClientLoop::why_not_ready() const {
    if (ready_) return {};
    std::string members;
    std::set<std::string> told;
    for (std::size_t place = 0; place < members_.size(); ++place) {
        const auto& address = members_.at(place);
        if (!told.insert(address).second) continue;
        const auto why = whys_.find(address);
        members += (members.empty() ? "" : ", ") + address;
        if (why != whys_.end()) members += " (" + why->second + ")";
    }
    return "no member serves this client: " + members;
}

Status ClientLoop::status() const {
    Status status;
    status.cluster = parts_.config.cluster;
    status.cluster_id = to_text(core_.cluster());
    status.role = Role::client;
    status.applied_index = core_.position().index().raw();
    if (const auto session = core_.agent().open_session()) status.session = session->raw();
    status.uptime = steady_now() - began_;
    status.version = version;
    status.ready = ready_;
    status.why_not_ready = why_not_ready();
    if (member_id_.is_set()) status.served_by = member_id_.raw();
    return status;
}

Metrics ClientLoop::metrics() const {
    auto metrics = program_.metrics(program_.counted());
    metrics.lost_untold += core_.agent().released_unnotified();
    metrics.log_lines_left_out = parts_.log.left_out();
    metrics.late_callbacks = parts_.notifier.slow_tasks() + parts_.losses.slow_tasks();
    return metrics;
}

void ClientLoop::set_credentials(std::shared_ptr<const transport::TlsCredentials> credentials) {
    parts_.credentials = std::move(credentials);
    if (ended_ || is_stopped_) return;
    // The connection may end, and then this loop drops it.
    if (const auto connection = connection_) connection->set_credentials(parts_.credentials);
    for (const auto& observer : observers_)
        observer->set_credentials(parts_.credentials);
}

// --- the end ------------------------------------------------------------------------------------

void ClientLoop::fail(const std::string& reason) {
    if (parts_.readiness.why_stopped()) return;
    if (!ended_ && !is_stopped_) stop(reason);
}

void ClientLoop::stop(const std::string& reason) {
    is_stopped_ = true;
    ready_ = false;
    ages_.stop();
    parts_.readiness.stop(reason);
    program_.lose_everything();
    parts_.say_stopped(reason);
    asio::post(parts_.io, [this] {
        if (ended_) return;
        end();
        closing_.finish();
    });
}

void ClientLoop::begin_close(std::function<void()> done) {
    closing_.begin(std::move(done));
    if (is_stopped_ || ended_) return closing_.finish();
    const auto tag = parts_.gate->next_tag();
    const bool has_calls = core_.agent().outstanding() > 0;
    closing_.release(tag, !has_calls && !program_.holds().is_in_use());
    core::ClientCalls calls;
    calls.calls.emplace_back(core::CloseCall{tag, program_.holds().close()});
    step(std::move(calls));
}

void ClientLoop::end() {
    ended_ = true;
    timer_.cancel();
    ages_.stop();
    unready_.ready();
    reads_.clear();
    for (const auto& observer : observers_)
        observer->close();
    observers_.clear();
    members_.stop();
    hang_up();
    program_.lose_everything();
}

void ClientLoop::abandon(const std::string& reason) {
    ended_ = true;
    ready_ = false;
    ages_.stop();
    program_.abandon();
    closing_.finish();
    parts_.say_stopped(reason);
}

}  // namespace mortise::detail
