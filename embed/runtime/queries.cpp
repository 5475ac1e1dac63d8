// What a node tells of itself (NodeRuntime): its status, its counters.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include "embed/host/tls_watch.hpp"
#include "embed/runtime/node_loop.hpp"
#include "embed/runtime/node_runtime.hpp"

namespace mortise::detail {

void NodeRuntime::snapshot() {
    last_.with([&](LastWords& last) {
        last.status = loop().status();
        last.metrics = loop().metrics();
    });
}

Status NodeRuntime::status_of_child() const {
    Status status;
    status.id = config_.own_id();
    status.stopped = true;
    status.why_stopped = "it belongs to the process that forked this one";
    status.why_not_ready = "it stopped";
    return status;
}

Status NodeRuntime::status() {
    if (is_forked()) return status_of_child();
    if (!readiness_.why_stopped()) {
        auto status =
            core_.questions().ask([this] { return loop().status(); }, gate_->call_timeout());
        if (status) {
            last_.with([&](LastWords& last) { last.status = *status; });
            if (!readiness_.why_stopped()) return *status;  // still not stopped
        }
    }
    const auto why_stopped = readiness_.why_stopped();  // it may have stopped during the wait
    auto status = last_.with([](const LastWords& last) { return last.status; });
    status.id = config_.own_id();
    status.ready = false;
    status.why_not_ready = why_stopped ? "it stopped" : "its core thread does not answer";
    status.stopped = why_stopped.has_value();
    status.why_stopped = why_stopped.value_or("");
    return status;
}

Metrics NodeRuntime::metrics() {
    if (is_forked()) return {};
    if (!readiness_.why_stopped()) {
        const auto metrics =
            core_.questions().ask([this] { return present_metrics(); }, gate_->call_timeout());
        if (metrics) {
            last_.with([&](LastWords& last) {
                // its end stores the final ones
                if (!readiness_.why_stopped()) last.metrics = *metrics;
            });
            return *metrics;
        }
    }
    return completed(last_.with([](const LastWords& last) { return last.metrics; }));
}

std::optional<Activity> NodeRuntime::activity(std::string prefix) {
    if (is_forked() || readiness_.why_stopped()) return std::nullopt;
    return core_.questions().ask(
        [this, prefix = std::move(prefix)] { return loop().activity(prefix); },
        gate_->call_timeout());
}

// On the core thread.
Metrics NodeRuntime::present_metrics() {
    auto metrics = completed(loop().metrics());
    metrics.unsynced_age = disk_.unsynced_age(steady_now());
    return metrics;
}

// Adds what is known without the core thread. Whether there is TLS decides what others may do, so
// the figures have it also while that thread is busy.
Metrics NodeRuntime::completed(Metrics metrics) const {
    if (tls_) metrics.certificate_left = tls_->time_left();
    metrics.log_writes = disk_.counters().writes;
    metrics.log_bytes = disk_.counters().bytes;
    metrics.unsynced_writes = disk_.counters().unsynced_writes;
    metrics.background_syncs = disk_.counters().background_syncs;
    metrics.slowest_log_write = disk_.counters().slowest.load();
    metrics.log_write_time = disk_.counters().times.read();
    return metrics;
}

// In pages, so that other work of the core thread comes between them.
std::optional<std::vector<SessionInfo>> NodeRuntime::sessions() {
    std::vector<SessionInfo> all;
    while (true) {
        const SessionId after = all.empty() ? 0 : all.back().id;
        auto page = core_.questions().ask([this, after] { return loop().sessions(after); },
                                          gate_->call_timeout());
        if (!page) return std::nullopt;
        if (page->empty()) return all;
        std::ranges::move(*page, std::back_inserter(all));
    }
}

namespace {

// the caller's deadline has passed
constexpr auto answer_patience = std::chrono::milliseconds{100};

}  // namespace

std::string NodeRuntime::why_not_ready() {
    if (is_forked()) return {};
    return core_.questions()
        .ask([this] { return loop().status().why_not_ready; }, answer_patience)
        .value_or("");
}

bool NodeRuntime::is_removed() {
    if (is_forked()) return false;
    return core_.questions()
        .ask([this] { return loop().is_removed(); }, answer_patience)
        .value_or(false);
}

}  // namespace mortise::detail
