// Reports of the node about itself: on request, and when something has changed.
#include <algorithm>
#include <string>
#include <utility>

#include "core/observe/activity.hpp"
#include "core/raft/bounds.hpp"
#include "embed/runtime/core_loop.hpp"
#include "embed/runtime/network_side.hpp"
#include "embed/runtime/readiness_words.hpp"
#include "embed/runtime/translate.hpp"
#include "embed/runtime/translate_activity.hpp"
#include "embed/values/clocks.hpp"

namespace mortise::detail {

void CoreLoop::watch_leader() {
    const auto leader = driver_->core().raft().leader();
    if (leader == leader_) return;
    const bool led = leader_ == options_.self;
    leader_ = leader;
    network_->leader_changed(leader.has_value());
    const auto peer = leader ? leader->raw() : NodeId{0};
    if (leader) ++program_.counters().leader_changes;
    using Kind = NodeEvent::Kind;
    if (led) parts_.events.publish({.kind = Kind::lost_leadership});
    parts_.events.publish({.kind = Kind::leader_changed, .peer = peer});
    if (leader == options_.self) parts_.events.publish({.kind = Kind::became_leader});
    parts_.log.info("leader_changed",
                    leader ? "node " + std::to_string(peer) + " leads" : "no leader",
                    {{"leader", std::to_string(peer)}});
}

void CoreLoop::watch_ready() {
    const auto& core = driver_->core();
    const bool ready = !driver_->is_stopped() && leader_ && core.agent().open_session() &&
                       program_.holds().has_valid_lease();
    if (ready == ready_) return;
    ready_ = ready;
    parts_.readiness.set_ready(ready);
    if (ready) {
        unready_.ready();
        parts_.log.info("ready", "ready");
        parts_.events.publish({.kind = NodeEvent::Kind::ready});
        return;
    }
    unready_.not_ready();
    const auto why = why_not_ready_now();
    parts_.log.info("not_ready", "not ready: " + why, {{"reason", why}});
    parts_.events.publish({.kind = NodeEvent::Kind::not_ready, .text = why});
}

std::string CoreLoop::why_not_ready_now() const {
    if (suspended_) return suspended_->why;
    if (closing_.is_closing()) return "it is being closed";
    if (!leader_) {
        const auto why = why_not_ready();
        return why.empty() ? "no leader is known" : why;
    }
    if (driver_->core().agent().open_session()) return "the lease of its session has ended";
    const auto why = why_not_ready();
    return why.empty() ? "it has no session yet" : why;
}

void CoreLoop::report_overrun(Duration took) {
    ++program_.counters().loop_overruns;
    parts_.log.debug("step_slow", "a step took " + to_string(took), {{"took", to_string(took)}});
    if (!overruns_.passes(steady_now())) return;
    parts_.events.publish({.kind = NodeEvent::Kind::loop_overrun, .took = took});
}

std::string CoreLoop::why_not_ready() const {
    if (ready_) return {};
    if (!driver_->core().raft().configuration().is_formed())
        return parts_.config.role == Role::voter ? why_in_no_cluster_now() : std::string{};
    if (leader_ || is_removed()) return why_closed_now();
    return why_no_leader_now();
}

std::string CoreLoop::why_closed_now() const {
    const auto& core = driver_->core();
    const auto& closing = core.machine().eras().closing;
    if (!closing) return {};
    const core::Nanoseconds all = std::chrono::milliseconds{closing->time_ms};
    return why_closed_by_an_era(core.timers().left(closing->id, steady_now()).value_or(all));
}

std::string CoreLoop::why_in_no_cluster_now() const {
    const auto own = driver_->hello();
    return why_in_no_cluster(
        {.former = own.cluster,
         .names_others = options_.voters.size() > 1 || !parts_.config.peers_from.empty(),
         .is_to_be_found = options_.voters.empty(),
         .unlisted_by = network_->unlisted_by(),
         .founding_pause = options_.founding_pause,
         .peers_have_one = network_->contacts().has_member(),
         .missing = missing_peers(),
         .disagreement = network_->contacts().disagreement(own.voters)});
}

std::string CoreLoop::why_no_leader_now() const {
    const auto& core = driver_->core();
    WithoutLeader without{.missing = missing_peers(),
                          .used_up_terms = !core::is_in_bounds(core.raft().term().next()),
                          .forgetful = core.raft().is_forgetful()};
    if (core.raft().is_doubted()) {
        const auto& doubts = core.own_doubts();
        without.doubted = {doubts.by(), steady_now() - doubts.since()};
    }
    return why_no_leader(without);
}

std::string CoreLoop::missing_peers() const {
    return network_->missing();
}

Status CoreLoop::status() const {
    auto status = status_of(desk_.status());
    const auto self = std::ranges::find(status.members, parts_.config.own_id(), &MemberInfo::id);
    if (self == status.members.end()) status.role = parts_.config.role;
    if (!parts_.config.listen.empty()) status.address = network_->listening_at();
    if (!suspended_) return status;
    status.address = suspended_->listened_at;
    status.ready = false;
    status.why_not_ready = suspended_->why;
    status.standing = from_core(core::Role::follower);
    status.leader.reset();
    return status;
}

bool CoreLoop::is_insecure() const {
    return network_->is_insecure();
}

bool CoreLoop::is_connected(core::NodeId peer) const {
    return network_->contacts().is_up(peer);
}

bool CoreLoop::is_removed() const {
    return driver_->core().raft().is_removed();
}

bool CoreLoop::is_alone_by_mistake() const {
    const auto& configuration = driver_->core().raft().configuration();
    const auto members = configuration.all();
    const bool is_alone = members.size() == 1 && members.front() == options_.self;
    return is_alone && (!parts_.config.peers_from.empty() ||
                        std::ranges::any_of(parts_.config.peers, [this](const PeerConfig& peer) {
                            return peer.id != parts_.config.own_id();
                        }));
}

Metrics CoreLoop::metrics() const {
    auto metrics = program_.metrics(counters());
    const auto& core = driver_->core();
    metrics.log_memory_bytes = core.raft().log().bytes();
    metrics.unsaved_bytes = core.state_lag_bytes();
    metrics.names = core.machine().table().size();
    metrics.sessions = core.machine().sessions().all().size();
    const auto now = steady_now();
    put_contention(core.activity().contention(now), metrics);
    if (access().may_all(core::Right::observe, {}))
        metrics.hottest = contended_names_of(core.activity().hottest(core.machine().table(), now));
    metrics.log_lines_left_out = parts_.log.left_out();
    metrics.late_callbacks = parts_.notifier.slow_tasks() + parts_.losses.slow_tasks();
    return metrics;
}

Activity CoreLoop::activity(std::string_view prefix) const {
    return activity_of(desk_.activity_now(prefix));
}

// For this run and the earlier ones in this process.
Metrics CoreLoop::counters() const {
    auto metrics = program_.counted();
    metrics.messages_refused += driver_->core().refused_messages();
    metrics.lost_untold += driver_->core().agent().released_unnotified();
    network_->add_counters(metrics);
    return metrics;
}

}  // namespace mortise::detail
