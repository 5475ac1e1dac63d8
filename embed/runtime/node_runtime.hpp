// A running node: its threads, its start and its stop. The public Node, its holds and its mutexes
// share it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include "core/access/identity.hpp"
#include "core/base/generation.hpp"
#include "core/base/result.hpp"
#include "embed/holds/lease_thread.hpp"
#include "embed/holds/thread_owners.hpp"
#include "embed/host/descriptor_watch.hpp"
#include "embed/host/log_sink.hpp"
#include "embed/host/tls_watch.hpp"
#include "embed/runtime/metrics_hub.hpp"
#include "embed/runtime/observer_hub.hpp"
#include "embed/threads/call_gate.hpp"
#include "embed/threads/event_hub.hpp"
#include "embed/threads/questions.hpp"
#include "embed/threads/readiness.hpp"
#include "embed/values/duration_buckets.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/node.hpp>

namespace mortise::storage {
struct Opened;
}

namespace mortise::detail {

class ClientLoop;
class CoreLoop;
class GrantCache;
class LogThread;
class NodeLoop;
class StateThread;
struct DiskEvents;
struct DiskFailure;
struct LogWrite;
struct LoopParts;
struct PassedOn;
struct Suspension;

// Counted on the log thread, over all runs in this process.
struct LogCounters {
    void count(const LogWrite& write);

    std::atomic<std::uint64_t> writes = 0;
    std::atomic<std::uint64_t> bytes = 0;
    std::atomic<std::chrono::nanoseconds> slowest{};
    SharedHistogram times;
};

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
// It owns everything that a node consists of, and is one class because the order in which these
// parts begin and end is its subject: a start, a close, a failing disk, a restart and closed
// descriptors each stop some threads and not others, and each may meet another of them. The parts
// themselves are classes of their own; the source files are named above their functions.
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
    // A client might not hear in time that others wait for a grant in its cache (S40).
    [[nodiscard]] bool may_cache() const { return config_.role != Role::client; }
    [[nodiscard]] Readiness& readiness() { return readiness_; }
    [[nodiscard]] EventHub& events() { return events_; }
    [[nodiscard]] ObserverHub& observers() { return observers_; }
    [[nodiscard]] MetricsHub& metrics_hub() { return metrics_hub_; }
    [[nodiscard]] ThreadOwners& owners() { return owners_; }

    // The status as the core thread knows it; the last known one if the node has stopped or does
    // not answer. These five members may be called in the child of a fork.
    [[nodiscard]] Status status();
    [[nodiscard]] Metrics metrics();
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
    // Runs on this thread, however long the disk takes.
    void close_here();
    [[nodiscard]] std::optional<std::future<void>> close_elsewhere() noexcept;
    void refuse_calls();
    void refuse(SubmittedCalls calls);
    void wait_released() noexcept;
    void stop_threads();
    void stop_disk_threads();
    void end_core_thread() noexcept;
    void end_loop();
    [[nodiscard]] DiskEvents disk_events(std::function<std::uint64_t()> log_bytes_max);

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
    void reopen(core::Incarnation superseded, std::chrono::milliseconds pause);
    void resume(storage::Opened opened, std::chrono::milliseconds pause);
    [[nodiscard]] bool wait_to_try(std::chrono::milliseconds time);
    void refuse_reopening();
    void await_reopening();

    void callback_slow(std::chrono::nanoseconds took) noexcept;
    void snapshot();
    [[nodiscard]] Status status_of_child() const;
    [[nodiscard]] Metrics present_metrics();
    [[nodiscard]] Metrics completed(Metrics metrics) const;

    const ForkGeneration generation_;
    const Config config_;
    const core::Access access_;
    NodeLog log_;
    const std::shared_ptr<Notifier> notifier_ =
        std::make_shared<Notifier>("mortise-notify", [this](auto took) { callback_slow(took); });
    // a separate one, so that nothing delays the notification of a loss
    Notifier losses_{"mortise-lost", [this](auto took) { callback_slow(took); }};
    EventHub events_{*notifier_};
    Readiness readiness_;
    ThreadOwners owners_;
    asio::io_context io_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
    Questions questions_{[this] { asio::post(io_, [this] { questions_.answer_all(); }); }};
    std::shared_ptr<CallGate> gate_;
    ObserverHub observers_{*notifier_, gate_};
    MetricsHub metrics_hub_{io_, *notifier_, [this] { return present_metrics(); }};
    const std::shared_ptr<GrantCache> cache_;
    std::unique_ptr<TlsWatch> tls_;  // empty without TLS
    DescriptorWatch descriptors_{io_};
    std::atomic<bool> is_watching_ = false;   // true from the end of the start on
    std::atomic<bool> is_abandoned_ = false;  // the program closed descriptors: see abandon.cpp
    LeaseThread leases_;
    std::shared_ptr<const void> directory_lock_;
    core::Incarnation incarnation_;       // of the directory
    std::unique_ptr<CoreLoop> loop_;      // empty for a client node
    std::unique_ptr<ClientLoop> client_;  // empty for any other
    std::unique_ptr<LogThread> log_thread_;
    std::unique_ptr<StateThread> state_thread_;
    std::thread core_thread_;

    // Used by the core thread: the number of runs in this process. It distinguishes a late report
    // of an earlier run from one of this run.
    std::uint64_t life_ = 0;
    bool is_suspended_ = false;
    std::thread reopener_;
    std::mutex reopening_;
    std::condition_variable reopening_changed_;
    bool reopening_stopped_ = false;

    std::mutex closing_;        // held by the thread that closes
    std::promise<void> quiet_;  // set when no code of the program runs any more
    const std::shared_future<void> is_quiet_ = quiet_.get_future().share();
    std::atomic<bool> closed_ = false;
    std::shared_ptr<NodeRuntime> kept_;  // see close()
    Guarded<Status> last_status_;
    Guarded<Metrics> last_metrics_;
    LogCounters log_counters_;
    // when a slow callback was last reported, on the steady clock
    std::atomic<std::int64_t> slow_told_at_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace mortise::detail
