// Reports of the node about itself: on request, and when something has changed.
#include <algorithm>
#include <array>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "core/raft/bounds.hpp"
#include "embed/runtime/core_loop.hpp"
#include "embed/runtime/timing_words.hpp"
#include "embed/runtime/translate.hpp"
#include "embed/values/clocks.hpp"
#include "embed/values/duration_buckets.hpp"

namespace mortise::detail {

namespace {

std::string ids_in_words(const std::vector<core::NodeId>& ids) {
    std::string text;
    for (const auto id : ids)
        text += (text.empty() ? "" : ", ") + std::to_string(id.raw());
    return text;
}

// "2026-01-31 13:00:00 UTC"
std::string utc_in_words(std::time_t time) {
    std::tm parts{};
    std::array<char, 32> text{};
    ::gmtime_r(&time, &parts);
    std::strftime(text.data(), text.size(), "%F %T UTC", &parts);
    return text.data();
}

// The refusal, and what the operator can do about it.
std::string refusal_in_words(transport::Refusal refusal) {
    using transport::Refusal;
    const auto with = [&](const char* advice) {
        return std::string{transport::to_string(refusal)} + ": " + advice;
    };
    switch (refusal) {
        case Refusal::protocol: return with("give both nodes the same version");
        case Refusal::wrong_cluster:
            return with("give this node the directory it had in that cluster, or an empty one");
        case Refusal::unknown_node:
            return with("list this node among its peers, or add it with mortise members add");
        case Refusal::wrong_node: return with("correct the address");
        case Refusal::identity: return with("issue a certificate for this node");
        case Refusal::cluster_name: return with("correct cluster in one of their files");
        case Refusal::copied: return with("stop that node, or remove this directory");
        default: return std::string{transport::to_string(refusal)};  // it says enough
    }
}

}  // namespace

void CoreLoop::watch_leader() {
    const auto leader = driver_->core().raft().leader();
    if (leader == leader_) return;
    const bool led = leader_ == options_.self;
    leader_ = leader;
    connect_to_peers();
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

// Repeated, so that the operator does not forget it.
void CoreLoop::warn_of_insecurity() {
    if (ended_ || !network_ || parts_.credentials || !network_->is_reachable_from_outside()) return;
    parts_.log.warn("insecure",
                    "listens on " + network_->listening_at() +
                        " without TLS (tls.insecure): everybody who reaches it may do everything",
                    {{"address", network_->listening_at()}});
    insecurity_.expires_after(std::chrono::hours{1});
    insecurity_.async_wait([this](std::error_code error) {
        if (!error) warn_of_insecurity();
    });
}

// The cluster works with different times, but an election takes as long as the longest timeout
// requires.
void CoreLoop::warn_of_timing(const core::Hello& peer) {
    auto differences = timing_differences(peer.timing, driver_->hello().timing);
    auto& warned = warned_of_timing_[peer.node];
    if (warned == differences) return;
    warned = std::move(differences);
    parts_.events.publish(
        {.kind = NodeEvent::Kind::timing_differs, .text = warned, .peer = peer.node.raw()});
    if (warned.empty()) return;
    const auto id = std::to_string(peer.node.raw());
    parts_.log.warn("timing_differs",
                    "node " + id + " is configured with " + warned +
                        ": all members of a cluster should have the same",
                    {{"peer", id}, {"timing", warned}});
}

void CoreLoop::watch_ready() {
    const auto& core = driver_->core();
    const bool ready = !driver_->is_stopped() && leader_ && core.agent().open_session() &&
                       program_.holds().has_valid_lease();
    if (ready == ready_) return;
    ready_ = ready;
    parts_.readiness.set_ready(ready);
    if (ready) {
        parts_.log.info("ready", "ready");
        parts_.events.publish({.kind = NodeEvent::Kind::ready});
        return;
    }
    const auto why = why_not_ready_now();
    parts_.log.info("not_ready", "not ready: " + why, {{"reason", why}});
    parts_.events.publish({.kind = NodeEvent::Kind::not_ready, .text = why});
}

std::string CoreLoop::why_not_ready_now() const {
    if (suspended_) return *suspended_;
    if (close_tag_.is_set()) return "it is being closed";
    if (!leader_) {
        const auto why = why_not_ready();
        return why.empty() ? "no leader is known" : why;
    }
    return driver_->core().agent().open_session() ? "the lease of its session has ended"
                                                  : "it has no session yet";
}

// A node that listens is rarely meant to be alone.
void CoreLoop::cluster_formed() {
    const auto& config = parts_.config;
    if (!config.peers.empty() || config.listen.empty())
        return parts_.log.info("cluster_formed", "the cluster is formed");
    parts_.log.warn("cluster_formed",
                    "this node has no peers and formed a cluster of its own: if it belongs to "
                    "another cluster, stop it, remove its directory and list the peers");
}

// "1, 2, 3; learners 4"
void CoreLoop::members_changed() {
    const auto& present = driver_->core().raft().configuration();
    std::string voters;
    std::string learners;
    for (const auto id : present.all()) {
        auto& list = present.is_learner(id) ? learners : voters;
        list += (list.empty() ? "" : ", ") + std::to_string(id.raw());
    }
    const auto text = "voters " + voters + (learners.empty() ? "" : "; learners " + learners) +
                      (present.is_joint() ? "; a change is in progress" : "");
    parts_.log.info("members_changed", "the members are now " + text, {{"members", text}});
    parts_.events.publish({.kind = NodeEvent::Kind::members_changed, .text = text});
    auto former = std::exchange(members_, present_members());
    warn_of_missing_peers();
    if (former.empty()) return;  // the cluster was formed
    for (const auto& [id, address] : members_) {
        if (former.erase(id) != 0) continue;
        parts_.events.publish(
            {.kind = NodeEvent::Kind::member_added, .text = address, .peer = id.raw()});
    }
    for (const auto& [id, address] : former)
        parts_.events.publish({.kind = NodeEvent::Kind::member_removed, .peer = id.raw()});
}

// If this node loses its directory, only its configuration can say who the members are. With a list
// of itself alone, the next start depends on a call from a member in time.
void CoreLoop::warn_of_missing_peers() {
    const auto& config = parts_.config;
    const bool lists_others = std::ranges::any_of(
        config.peers, [&](const PeerConfig& peer) { return peer.id != config.own_id(); });
    if (config.role != Role::voter || lists_others || members_.size() < 2) return;
    parts_.log.warn("peers_missing",
                    "the configuration of this node lists no other member, and the cluster has " +
                        std::to_string(members_.size()) +
                        ": list all of them, or it may form a cluster of its own if it loses its "
                        "directory");
}

std::map<core::NodeId, std::string> CoreLoop::present_members() const {
    const auto& present = driver_->core().raft().configuration();
    std::map<core::NodeId, std::string> members;
    for (const auto id : present.all())
        members.emplace(id, present.find(id)->address);
    return members;
}

// At most one event a second: one for each overrun would add load to a node that is slow already.
void CoreLoop::report_overrun(Duration took) {
    constexpr auto pause = std::chrono::seconds{1};
    ++program_.counters().loop_overruns;
    parts_.log.debug("step_slow", "a step took " + to_string(took), {{"took", to_string(took)}});
    const auto now = steady_now();
    if (overrun_told_at_ != core::Instant{} && now < overrun_told_at_ + pause) return;
    overrun_told_at_ = now;
    parts_.events.publish({.kind = NodeEvent::Kind::loop_overrun, .took = took});
}

// What a voter without a cluster waits for: the missing voters, or what prevents the present ones.
std::string CoreLoop::why_not_formed() const {
    const auto is_member = [](const auto& peer) { return !peer.second.is_empty(); };
    if (std::ranges::any_of(connected_, is_member))
        return "its peers have formed one; it waits until they add it";
    const auto missing = missing_peers();
    if (!missing.empty())
        return "all its voters have to form it, and there is no connection with " + missing;
    const auto disagreement = peers_that_disagree();
    if (!disagreement.empty()) return disagreement + ": list the same peers in the files of all";
    return "all voters are connected; it is formed if they name the same peers";
}

// "node 2 names the peers 1, 2, 3, and this node 1, 2"; empty if all name the same.
std::string CoreLoop::peers_that_disagree() const {
    const auto ours = driver_->hello().voters;
    for (const auto& [id, hello] : connected_) {
        if (hello.voters == ours || hello.voters.empty()) continue;
        return "node " + std::to_string(id.raw()) + " names the peers " +
               ids_in_words(hello.voters) + ", and this node " + ids_in_words(ours);
    }
    return {};
}

// It belonged to a cluster, and forms no other one: a member that has the data has to bring it
// back.
std::string CoreLoop::why_not_brought_back(const core::ClusterId& former) const {
    const auto lost = "the data that it had in its cluster, " + to_text(former) +
                      ", is damaged or gone, and it waits for a member that has it";
    if (options_.voters.size() > 1) {
        const auto missing = missing_peers();
        return lost + (missing.empty() ? "" : "; there is no connection with " + missing) +
               "; if no member has it any more, see docs/backup.md, When a majority is lost";
    }
    return lost + "; " + std::string{remedy_of_sole_node};
}

std::string CoreLoop::why_not_formed_alone() const {
    return "it waits " + to_string(Duration{options_.founding_pause}) +
           " for a member that knows it, and joins that cluster, or forms one of its own";
}

std::string CoreLoop::why_not_ready() const {
    if (ready_) return {};
    if (!driver_->core().raft().configuration().is_formed()) {
        if (parts_.config.role != Role::voter) return {};
        const auto former = driver_->hello().cluster;
        if (former.is_set()) return "in no cluster: " + why_not_brought_back(former);
        return "in no cluster yet: " +
               (options_.voters.size() > 1 ? why_not_formed() : why_not_formed_alone());
    }
    if (leader_ || is_removed()) return {};
    const auto missing = missing_peers();
    const auto doubts = doubts_in_words();
    if (!missing.empty())
        return "no leader is known, and there is no connection with " + missing + doubts;
    return doubts.empty() ? doubts : "no leader is known" + doubts;
}

// What keeps this node out of elections; empty if nothing does.
std::string CoreLoop::doubts_in_words() const {
    const auto& core = driver_->core();
    if (!core::is_in_bounds(core.raft().term().next()))
        return "; the last possible term was used: `mortise recover` begins the terms anew";
    if (!core.raft().is_doubted()) return {};
    const auto& doubts = core.own_doubts();
    const Duration lasts{steady_now() - doubts.since()};
    return "; this node takes no part in elections, because for " + to_string(lasts) + " node " +
           ids_in_words(doubts.by()) +
           " has been saying that its directory was rolled back, or is a copy";
}

// The peers of the file without a connection: "2 (10.0.0.2:7400), 3 (10.0.0.3:7400, which refuses:
// ...)".
std::string CoreLoop::missing_peers() const {
    std::string missing;
    for (const auto& [id, address] : parts_.config.peers) {
        if (id == parts_.config.own_id() || is_connected(core::NodeId{id})) continue;
        missing += (missing.empty() ? "" : ", ") + std::to_string(id) + " (" + address +
                   why_missing(core::NodeId{id}) + ")";
    }
    return missing;
}

// A peer that refuses is asked repeatedly, so an old refusal does not count.
std::string CoreLoop::why_missing(core::NodeId peer) const {
    constexpr auto lasts = std::chrono::seconds{30};
    const auto lost = lost_at_.find(peer);
    auto since = lost == lost_at_.end() ? std::string{} : ", lost at " + utc_in_words(lost->second);
    const auto refused = refused_by_.find(peer);
    if (refused != refused_by_.end() && steady_now() <= refused->second.at + lasts)
        return since + ", which refuses: " + refusal_in_words(refused->second.why);
    if (const auto reason = unreached_.find(peer); reason != unreached_.end())
        return since + ": " + reason->second;
    // The first attempt is still under way.
    constexpr auto soon = std::chrono::seconds{1};
    if (steady_now() < began_ + soon) return since;
    return since + ": " + std::string{transport::no_answer_in_words};
}

Status CoreLoop::status() const {
    auto status = status_of(desk_.status());
    const auto self = std::ranges::find(status.members, parts_.config.own_id(), &MemberInfo::id);
    if (self == status.members.end()) status.role = parts_.config.role;
    if (network_) status.address = network_->listening_at();  // with the port that is bound
    if (!suspended_) return status;
    status.address = listening_at_;
    status.ready = false;
    status.why_not_ready = *suspended_;
    status.standing = from_core(core::Role::follower);
    status.leader.reset();
    return status;
}

bool CoreLoop::is_removed() const {
    return driver_->core().raft().is_removed();
}

bool CoreLoop::is_alone_by_mistake() const {
    const auto& configuration = driver_->core().raft().configuration();
    const auto members = configuration.all();
    const bool is_alone = members.size() == 1 && members.front() == options_.self;
    return is_alone && std::ranges::any_of(parts_.config.peers, [this](const PeerConfig& peer) {
               return peer.id != parts_.config.own_id();
           });
}

Metrics CoreLoop::metrics() const {
    auto metrics = program_.metrics(counters());
    const auto& core = driver_->core();
    metrics.log_memory_bytes = core.raft().log().bytes();
    metrics.unsaved_bytes = core.state_lag_bytes();
    metrics.names = core.machine().table().records().size();
    metrics.sessions = core.machine().sessions().all().size();
    metrics.log_lines_left_out = parts_.log.left_out();
    metrics.late_callbacks = parts_.notifier.slow_tasks() + parts_.losses.slow_tasks();
    return metrics;
}

// For this run and the earlier ones in this process.
Metrics CoreLoop::counters() const {
    auto metrics = program_.counted();
    metrics.messages_refused += driver_->core().refused_messages();
    metrics.lost_untold += driver_->core().agent().released_unnotified();
    if (!network_) return metrics;
    const auto network = network_->counters();
    metrics.handshakes_failed += network.handshakes_failed;
    metrics.messages_sent += network.messages_sent;
    metrics.messages_received += network.messages_received;
    metrics.messages_refused +=
        network.malformed_messages + network.malformed_frames + network.forbidden_messages;
    metrics.messages_dropped += network.messages_dropped;
    metrics.connections_refused +=
        network.strangers_refused + network.refused.all() + network.strangers_timed_out;
    return metrics;
}

}  // namespace mortise::detail
