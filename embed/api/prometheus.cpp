// The metrics of a node by their names for Prometheus. The tables below are the whole list;
// docs/monitoring.md describes each of them.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "embed/values/prometheus_writer.hpp"
#include <mortise/prometheus.hpp>

namespace mortise {

namespace {

using Writer = detail::PrometheusWriter;
using Type = Writer::Type;

// A metric whose samples differ in labels, or exist on some nodes only.
struct Family {
    std::string_view name;
    Type type;
    std::string_view help;
    void (*write)(Writer& to, const NodeReading& node);
};
struct Number {
    std::string_view name;
    Type type;
    std::string_view help;
    std::uint64_t Metrics::*value;
};
struct Histogram {
    std::string_view name;
    std::string_view help;
    DurationHistogram Metrics::*value;
};

constexpr auto counter = Type::counter;
constexpr auto gauge = Type::gauge;

// --- what the node is, and what it knows of its cluster -----------------------------------------

void write_members(Writer& to, const NodeReading& node) {
    for (const auto role : {Role::voter, Role::learner}) {
        const auto count = std::ranges::count(node.status.members, role, &MemberInfo::role);
        to.add(static_cast<std::uint64_t>(count), {{"role", std::string{to_string(role)}}});
    }
}

void write_connected(Writer& to, const NodeReading& node) {
    for (const auto& member : node.status.members)
        to.add(member.connected ? 1U : 0U, {{"member", std::to_string(member.id)}});
}

// Only the leader knows it.
void write_lag(Writer& to, const NodeReading& node) {
    const auto& status = node.status;
    if (status.standing != Standing::leader) return;
    for (const auto& member : status.members) {
        const auto has = std::min(member.matching, status.commit_index);
        const auto lag = member.id == status.id ? 0 : status.commit_index - has;
        to.add(lag, {{"member", std::to_string(member.id)}});
    }
}

void write_info(Writer& to, const NodeReading& node) {
    to.add(1, {{"version", node.status.version}, {"cluster_id", node.status.cluster_id}});
}

constexpr std::array status_families{
    Family{"mortise_node_info", gauge,
           "Always 1; the labels are the version and the id of the cluster.", write_info},
    Family{"mortise_uptime_seconds", gauge, "Time since the node was opened.",
           [](Writer& to, const NodeReading& node) { to.add_seconds(node.status.uptime); }},
    Family{"mortise_ready", gauge, "1 if calls are answered.",
           [](Writer& to, const NodeReading& node) { to.add_bool(node.status.ready); }},
    Family{"mortise_stopped", gauge, "1 if the node was closed or has failed.",
           [](Writer& to, const NodeReading& node) { to.add_bool(node.status.stopped); }},
    Family{"mortise_forgetful", gauge,
           "1 if the machine was started anew and the node has not recovered yet.",
           [](Writer& to, const NodeReading& node) { to.add_bool(node.status.forgetful); }},
    Family{"mortise_leader", gauge, "1 if this node leads.",
           [](Writer& to, const NodeReading& node) {
               to.add_bool(node.status.standing == Standing::leader);
           }},
    Family{
        "mortise_leader_known", gauge, "1 if this node knows a leader.",
        [](Writer& to, const NodeReading& node) { to.add_bool(node.status.leader.has_value()); }},
    Family{"mortise_term", gauge, "The number of the newest election.",
           [](Writer& to, const NodeReading& node) { to.add(node.status.term); }},
    Family{"mortise_commit_index", gauge, "The newest entry that is committed.",
           [](Writer& to, const NodeReading& node) { to.add(node.status.commit_index); }},
    Family{"mortise_applied_index", gauge, "The newest entry that is applied here.",
           [](Writer& to, const NodeReading& node) { to.add(node.status.applied_index); }},
    Family{"mortise_members", gauge, "Members of the cluster.", write_members},
    Family{"mortise_member_connected", gauge, "1 if the member is connected with this node.",
           write_connected},
    Family{"mortise_member_lag_entries", gauge,
           "Committed entries that the member has not acknowledged; of the leader only.",
           write_lag},
};

// --- calls, holds and sessions ------------------------------------------------------------------

void write_results(Writer& to, const NodeReading& node) {
    const auto& results = node.metrics.acquire_results;
    const auto add = [&](std::string_view result, std::uint64_t value) {
        to.add(value, {{"result", std::string{result}}});
    };
    add("granted", results.granted);
    add("busy", results.busy);
    add("timed_out", results.timed_out);
    add("cancelled", results.cancelled);
    add("deadlocked", results.deadlocked);
    add("refused", results.refused);
    add("failed", results.failed);
}

void write_losses(Writer& to, const NodeReading& node) {
    const auto& metrics = node.metrics;
    to.add(metrics.lost_expired, {{"reason", "expired"}});
    to.add(metrics.lost_broken, {{"reason", "broken"}});
    to.add(metrics.lost_node_stopped, {{"reason", "node_stopped"}});
}

void write_certificate(Writer& to, const NodeReading& node) {
    const auto left = node.metrics.certificate_left;
    if (left.is_set()) to.add_seconds(left);
}

constexpr std::array metrics_families{
    Family{"mortise_acquires_total", counter, "Acquires of this program that ended, by result.",
           write_results},
    Family{"mortise_holds_lost_total", counter, "Holds of this program that were lost, by reason.",
           write_losses},
    Family{
        "mortise_certificate_left_seconds", gauge,
        "Time until the certificate of this node, or an authority of it, expires; with TLS only.",
        write_certificate},
    Family{"mortise_slowest_step_seconds", gauge, "The longest step of the node so far.",
           [](Writer& to, const NodeReading& node) {
               to.add_seconds(node.metrics.slowest_loop_turn);
           }},
    Family{"mortise_unsynced_seconds", gauge,
           "Age of the oldest write of the log that no sync has covered.",
           [](Writer& to, const NodeReading& node) { to.add_seconds(node.metrics.unsynced_age); }},
    Family{"mortise_slowest_log_write_seconds", gauge, "The longest write of the log so far.",
           [](Writer& to, const NodeReading& node) {
               to.add_seconds(node.metrics.slowest_log_write);
           }},
};

// --- what is contended --------------------------------------------------------------------------

// Names are unbounded, so only the configured prefixes become labels; the rest has an empty one.
template <std::uint64_t PrefixActivity::*value>
void write_prefixes(Writer& to, const NodeReading& node) {
    for (const auto& each : node.metrics.prefixes)
        to.add(each.*value, {{"prefix", each.prefix}});
}

void write_oldest_waits(Writer& to, const NodeReading& node) {
    for (const auto& each : node.metrics.prefixes)
        to.add_seconds(each.oldest_wait, {{"prefix", each.prefix}});
}

constexpr std::array contention_families{
    Family{
        "mortise_oldest_wait_seconds", gauge,
        "For how long the oldest request waits that waits for a name, as this node has applied it.",
        [](Writer& to, const NodeReading& node) { to.add_seconds(node.metrics.oldest_wait); }},
    Family{"mortise_prefix_holders", gauge, "Holders of the names with a configured prefix.",
           write_prefixes<&PrefixActivity::holders>},
    Family{"mortise_prefix_waiters", gauge, "Requests that wait for names with the prefix.",
           write_prefixes<&PrefixActivity::waiters>},
    Family{"mortise_prefix_contended_names", gauge, "Names with the prefix that have waiters.",
           write_prefixes<&PrefixActivity::contended_names>},
    Family{"mortise_prefix_oldest_wait_seconds", gauge,
           "For how long the oldest request waits for a name with the prefix.", write_oldest_waits},
    Family{"mortise_prefix_grants_total", counter, "Grants of names with the prefix.",
           write_prefixes<&PrefixActivity::grants>},
};

constexpr std::array numbers{
    Number{"mortise_acquires_cached_total", counter,
           "Acquires that were served by a grant in the cache of this node.",
           &Metrics::served_from_cache},
    Number{"mortise_acquires_handed_over_total", counter,
           "Of these: grants that a caller of this node handed over to the next one.",
           &Metrics::handed_over},
    Number{"mortise_calls_refused_total", counter, "Calls beyond a limit.",
           &Metrics::calls_refused},
    Number{"mortise_releases_total", counter, "Holds of this program that were released.",
           &Metrics::holds_released},
    Number{"mortise_holds", gauge, "Holds of this program, cached grants included.",
           &Metrics::holds},
    Number{"mortise_waiting_calls", gauge, "Calls of this program that are in progress.",
           &Metrics::waits},
    Number{"mortise_sessions_opened_total", counter, "Sessions that this node opened.",
           &Metrics::sessions_opened},
    Number{"mortise_sessions_expired_total", counter, "Sessions of this node that expired.",
           &Metrics::sessions_expired},
    Number{"mortise_losses_untold_total", counter,
           "Lost holds that others could get before their callbacks had returned.",
           &Metrics::lost_untold},
    Number{"mortise_names", gauge, "Names that the cluster knows.", &Metrics::names},
    Number{"mortise_sessions", gauge, "Sessions that the cluster knows.", &Metrics::sessions},
    Number{"mortise_waiters", gauge,
           "Requests that wait for names in the cluster, as this node has applied it.",
           &Metrics::waiters},
    Number{"mortise_contended_names", gauge, "Names for which requests wait.",
           &Metrics::contended_names},
    Number{"mortise_locks_broken_total", counter, "Locks that operators broke.",
           &Metrics::locks_broken},
    Number{"mortise_elections_started_total", counter,
           "Elections in which this node was a "
           "candidate.",
           &Metrics::elections_started},
    Number{"mortise_leader_changes_total", counter, "Leaders that this node has seen.",
           &Metrics::leader_changes},
    Number{"mortise_entries_applied_total", counter, "Entries of the log that were applied here.",
           &Metrics::entries_applied},
    Number{"mortise_commands_applied_total", counter, "Commands in these entries.",
           &Metrics::commands_applied},
    Number{"mortise_snapshots_installed_total", counter,
           "Snapshots of other members that this node installed.", &Metrics::states_taken_over},
    Number{"mortise_snapshots_sent_total", counter, "Snapshots that other members received.",
           &Metrics::snapshots_sent},
    Number{"mortise_log_writes_total", counter, "Writes of the log, each with one sync.",
           &Metrics::log_writes},
    Number{"mortise_log_unsynced_writes_total", counter,
           "Writes of the log into the page cache, which are synced later.",
           &Metrics::unsynced_writes},
    Number{"mortise_log_background_syncs_total", counter, "Syncs of such writes.",
           &Metrics::background_syncs},
    Number{"mortise_log_written_bytes_total", counter,
           "Bytes of the entries in all writes of the log.", &Metrics::log_bytes},
    Number{"mortise_log_memory_bytes", gauge, "Bytes of the entries that are kept in memory.",
           &Metrics::log_memory_bytes},
    Number{"mortise_unsaved_bytes", gauge, "Bytes of changed locks that are in the log only.",
           &Metrics::unsaved_bytes},
    Number{"mortise_messages_sent_total", counter, "Messages to other members.",
           &Metrics::messages_sent},
    Number{"mortise_messages_received_total", counter, "Messages of other members.",
           &Metrics::messages_received},
    Number{"mortise_messages_dropped_total", counter, "Messages for which a peer was too slow.",
           &Metrics::messages_dropped},
    Number{"mortise_messages_refused_total", counter, "Messages that were malformed or forbidden.",
           &Metrics::messages_refused},
    Number{"mortise_connections_refused_total", counter, "Connections that were refused.",
           &Metrics::connections_refused},
    Number{"mortise_handshakes_failed_total", counter, "Connections without a trusted certificate.",
           &Metrics::handshakes_failed},
    Number{"mortise_slow_steps_total", counter, "Steps of the node that took longer than 5 ms.",
           &Metrics::loop_overruns},
    Number{"mortise_slow_callbacks_total", counter,
           "Callbacks of the program that took longer than 10 ms.", &Metrics::late_callbacks},
    Number{"mortise_log_lines_dropped_total", counter,
           "Lines of the node's own log that were "
           "dropped.",
           &Metrics::log_lines_left_out},
};

constexpr std::array histograms{
    Histogram{"mortise_acquire_duration_seconds",
              "From the call of an acquire until it was granted; without those that the cache "
              "served at once.",
              &Metrics::acquire_time},
    Histogram{"mortise_hold_duration_seconds",
              "From the grant of a hold until it was released or lost; without cached grants.",
              &Metrics::hold_time},
    Histogram{"mortise_commit_duration_seconds",
              "From the log of the leader until the entry was committed; on the leader only.",
              &Metrics::commit_time},
    Histogram{"mortise_log_write_duration_seconds", "Writes of the log, with the sync.",
              &Metrics::log_write_time},
    Histogram{"mortise_renewal_slack_seconds",
              "What was left of the lease of this node when its renewal was confirmed.",
              &Metrics::renewal_slack},
    Histogram{"mortise_hand_over_duration_seconds",
              "From a release by a caller of this node until the next one, which waited, had the "
              "lock.",
              &Metrics::hand_over_time},
};

// --- all of them --------------------------------------------------------------------------------

using Readings = std::span<const NodeReading>;

template <class Write>
void write_all(Writer& to, Readings nodes, const Write& write) {
    for (const auto& node : nodes) {
        to.set_common({{"cluster", node.status.cluster}, {"node", std::to_string(node.status.id)}});
        write(node);
    }
}

template <class Families>
void write_families(Writer& to, Readings nodes, const Families& families) {
    for (const auto& family : families) {
        to.begin(family.name, family.type, family.help);
        write_all(to, nodes, [&](const NodeReading& node) { family.write(to, node); });
    }
}

}  // namespace

std::string prometheus_text(std::span<const NodeReading> nodes) {
    Writer to;
    write_families(to, nodes, status_families);
    write_families(to, nodes, metrics_families);
    write_families(to, nodes, contention_families);
    for (const auto& number : numbers) {
        to.begin(number.name, number.type, number.help);
        write_all(to, nodes, [&](const auto& node) { to.add(node.metrics.*number.value); });
    }
    for (const auto& histogram : histograms) {
        to.begin(histogram.name, Type::histogram, histogram.help);
        write_all(to, nodes, [&](const auto& node) { to.add(node.metrics.*histogram.value); });
    }
    return to.take();
}

std::string prometheus_text(const Node& node) {
    const NodeReading reading{node.status(), node.metrics()};
    return prometheus_text(std::span{&reading, 1});
}

}  // namespace mortise
