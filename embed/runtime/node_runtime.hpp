// A running node: its threads, its start and its stop. The public Node, its holds and its mutexes
// share it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/access/identity.hpp"
#include "core/base/generation.hpp"
#include "core/base/result.hpp"
#include "embed/holds/lease_thread.hpp"
#include "embed/holds/thread_owners.hpp"
#include "embed/host/descriptor_watch.hpp"
#include "embed/host/log_sink.hpp"
#include "embed/runtime/closing.hpp"
#include "embed/runtime/core_thread.hpp"
#include "embed/runtime/disk_side.hpp"
#include "embed/runtime/metrics_hub.hpp"
#include "embed/runtime/observer_hub.hpp"
#include "embed/runtime/reopening.hpp"
#include "embed/threads/call_gate.hpp"
#include "embed/threads/event_hub.hpp"
#include "embed/threads/program_threads.hpp"
#include "embed/threads/readiness.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/node.hpp>

namespace mortise::storage {
struct Opened;
}

namespace mortise::detail {

class ClientLoop;
class CoreLoop;
class GrantCache;
class NodeLoop;
class TlsWatch;
struct DiskEvents;
struct DiskFailure;
struct LoopParts;
struct PassedOn;
struct Suspension;

// Only the first start creates a missing data directory. Later a missing directory was moved away,
// or its disk is not mounted, and an empty one in its place would forget what the node
// acknowledged.
enum class Missing : bool { is_error, is_made };

// Opens the data directory. Throws std::system_error with one line.
[[nodiscard]] core::Result<storage::Opened> open_directory(const Config& config,
                                                           core::Incarnation superseded,
                                                           Missing missing);
[[nodiscard]] std::uint64_t random_number();

// Thread-safe. In the child of a fork most members must not be called, and the object is never
// destroyed there: see is_forked().
//
// It owns everything that a node consists of, and its subject is the order in which these parts
// begin and end: a start, a close, a failing disk, a restart and closed descriptors each stop some
// threads and not others, and each may meet another of them. The parts themselves are classes of
// their own; the source files are named above their functions.
class NodeRuntime : public std::enable_shared_from_this<NodeRuntime> {
public:
    // Throws std::system_error: see Node's constructor. `access` is what the certificate of this
    // node allows.
    static std::shared_ptr<NodeRuntime> open(Config config,
                                             core::Access access = core::Access::all());
    // It must be closed; Node ensures that.
    ~NodeRuntime();
    NodeRuntime(const NodeRuntime&) = delete;
    NodeRuntime& operator=(const NodeRuntime&) = delete;

    static const std::shared_ptr<NodeRuntime>& of(const Node& node) { return node.runtime_; }
    static Node node_of(std::shared_ptr<NodeRuntime> runtime) { return Node{std::move(runtime)}; }

    // If true, only the members that say so may be called.
    [[nodiscard]] bool is_forked() const { return generation_.is_forked(); }

    [[nodiscard]] const Config& config() const { return config_; }
    [[nodiscard]] const std::shared_ptr<CallGate>& gate() const { return gate_; }
    [[nodiscard]] const std::shared_ptr<GrantCache>& cache() const { return cache_; }
    [[nodiscard]] Readiness& readiness() { return readiness_; }
    [[nodiscard]] EventHub& events() { return events_; }
    [[nodiscard]] ObserverHub& observers() { return observers_; }
    [[nodiscard]] MetricsHub& metrics_hub() { return metrics_hub_; }
    [[nodiscard]] ThreadOwners& owners() { return owners_; }

    // The status as the core thread knows it; the last known one if the node has stopped or does
    // not answer. These six members may be called in the child of a fork.
    [[nodiscard]] Status status();
    [[nodiscard]] Metrics metrics();
    // As this node knows them now; empty if its core thread does not answer.
    [[nodiscard]] std::optional<std::vector<SessionInfo>> sessions();
    // Empty if the node has stopped or does not answer.
    [[nodiscard]] std::optional<Activity> activity(std::string prefix);
    // The reason in words; empty if the node is ready, or if the core thread does not answer at
    // once.
    [[nodiscard]] std::string why_not_ready();
    // Also false if the core thread does not answer at once.
    [[nodiscard]] bool is_removed();
    // See Node::reload_tls().
    void reload_tls();
    void close();
    // For a destructor: does not throw, and does not wait much longer than close_timeout.
    void close_in_time() noexcept;

private:
    NodeRuntime(Config config, core::Access access);
    [[nodiscard]] std::unique_ptr<TlsWatch> open_tls();
    void open_store();
    void begin_client();
    // The parameters of a loop, with what this node's certificate allows.
    [[nodiscard]] LoopParts loop_parts();
    [[nodiscard]] const core::Access& access_now();
    [[nodiscard]] NodeLoop& loop();
    // Returns the loop of the previous run, if there was one.
    std::unique_ptr<CoreLoop> begin_life(storage::Opened opened, const PassedOn& passed_on);
    void report(const storage::Opened& opened);
    void report_limits(std::uint64_t log_bytes_max);
    void start_threads();
    void run_core_thread();
    void run_loop();
    void core_broke(const char* what) noexcept;
    [[nodiscard]] bool is_own_thread();
    // How long a close waits for the disk.
    [[nodiscard]] core::Nanoseconds close_patience() const;
    // For closing_.
    void end_node();
    void refuse_calls();
    void refuse(const SubmittedCalls& calls);
    void wait_released() noexcept;
    void stop_threads();
    void stop_disk_threads();
    void end_core_thread() noexcept;
    void end_loop();
    [[nodiscard]] DiskEvents disk_events(std::uint64_t run,
                                         std::function<std::uint64_t()> log_bytes_max);

    // abandon.cpp
    static void destroy(NodeRuntime* node) noexcept;
    [[nodiscard]] bool has_descriptors() noexcept;
    void abandon() noexcept;
    void lose_holds();

    // disk_failure.cpp
    void disk_failed(const DiskFailure& failure);

    // restart.cpp
    void begin_anew();
    void suspend(const Suspension& cause, core::Incarnation superseded);
    void begin_reopening(core::Incarnation superseded, std::chrono::milliseconds pause);
    [[nodiscard]] bool reopen(core::Incarnation superseded, std::chrono::milliseconds pause);
    void resume(storage::Opened opened, std::chrono::milliseconds pause);

    void snapshot();
    [[nodiscard]] Status status_of_child() const;
    [[nodiscard]] Metrics present_metrics();
    [[nodiscard]] Metrics completed(Metrics metrics) const;

    // What a node says of itself after its end.
    struct LastWords {
        Status status;
        Metrics metrics;
    };

    // the process in which the node was opened: set by the constructor
    const ForkGeneration generation_;
    // the configuration, checked: set by the constructor
    const Config config_;
    // the rights without a certificate: set by the constructor
    const core::Access access_;
    // the lines for the operator
    NodeLog log_;
    // run code of the program; they end before the disk threads
    ProgramThreads threads_{[this](auto took) {
        events_.publish({.kind = NodeEvent::Kind::slow_callback, .took = took});
    }};
    // the subscribers of events
    EventHub events_{*threads_.notifier()};
    // whether calls can be answered, and why the node stopped: told by the loop, by an abandon and
    // by the end
    Readiness readiness_;
    // which threads hold which names
    ThreadOwners owners_;
    // the core thread, with its loop: from start_threads() to end_core_thread()
    CoreThread core_;
    // the calls of the program; holds and mutexes share it, and it outlives the node
    std::shared_ptr<CallGate> gate_;
    // the observers of locks
    ObserverHub observers_{*threads_.notifier(), gate_};
    // the subscribers of metrics
    MetricsHub metrics_hub_{core_.io(), *threads_.notifier(), [this] { return present_metrics(); }};
    // the cached grants
    const std::shared_ptr<GrantCache> cache_;
    // reads the files of TLS again: set by the constructor; null without TLS
    std::unique_ptr<TlsWatch> tls_;
    // checks whether the descriptors are still the node's own
    DescriptorWatch descriptors_{core_.io()};
    // the lease thread checks them as well: true from the end of the start on
    std::atomic<bool> is_watching_ = false;
    // the program closed descriptors: set by abandon(), for ever
    std::atomic<bool> is_abandoned_ = false;
    // ends the lease of the session in time, on a thread of its own
    LeaseThread leases_;
    // the present run: set by begin_life(); null for a client node
    std::unique_ptr<CoreLoop> loop_;
    // the only run of a client node: set by begin_client(); null for any other
    std::unique_ptr<ClientLoop> client_;
    // attempts at another run: from suspend() until one succeeds, or until the node ends
    Reopening reopening_;
    // the data directory and its threads: nothing of it is in use in a client node. If a start
    // fails, these threads end here, and until then they may call abandon(), which uses what is
    // above
    DiskSide disk_{descriptors_, IdlePoll{config_.limits.polling},
                   config_.sync_interval.to_nanoseconds()};
    // the end of the node, once
    Closing closing_{[this] { end_node(); }};
    // what the core thread said last: set by each answer, and for ever by snapshot()
    Guarded<LastWords> last_;
};

}  // namespace mortise::detail
