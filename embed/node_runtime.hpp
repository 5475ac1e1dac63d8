// A node at work: its threads, and how it starts and stops. The public Node, its holds and its
// mutexes share it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include "embed/core_loop.hpp"
#include "embed/log_thread.hpp"
#include "embed/questions.hpp"
#include "embed/state_thread.hpp"
#include "embed/thread_owners.hpp"
#include "embed/tls_watch.hpp"
#include "storage/data_directory.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/node.hpp>

namespace mortise::detail {

// Counted on the log thread, of all lives in this process.
struct LogCounters {
    void count(const LogWrite& write);

    std::atomic<std::uint64_t> writes = 0;
    std::atomic<std::uint64_t> bytes = 0;
    std::atomic<std::chrono::nanoseconds> slowest{};
};

// A data directory that is not there is made by the first start only: later it was moved away, or
// its disk is not mounted, and an empty one in its place would forget what the node promised.
enum class Missing : bool { is_error, is_made };

// What a store is opened with. Throws std::system_error with one clear line.
[[nodiscard]] core::Result<storage::Opened> open_directory(const Config& config,
                                                           core::Incarnation superseded,
                                                           Missing missing);
[[nodiscard]] std::uint64_t true_chance();

// Thread-safe. In the child of a fork most of it must not be touched, and it is never destroyed
// there: see is_forked().
class NodeRuntime : public std::enable_shared_from_this<NodeRuntime> {
public:
    // Throws std::system_error: see Node's constructor.
    // `access` is what the certificate of this node allows.
    static std::shared_ptr<NodeRuntime> open(Config config,
                                             core::Access access = core::Access::all());
    // Requires that it was closed; a Node sees to that.
    ~NodeRuntime();
    NodeRuntime(const NodeRuntime&) = delete;
    NodeRuntime& operator=(const NodeRuntime&) = delete;

    static const std::shared_ptr<NodeRuntime>& of(const Node& node) { return node.runtime_; }
    static Node node_of(std::shared_ptr<NodeRuntime> runtime) { return Node{std::move(runtime)}; }

    // Then nothing may be asked of it but what its members say.
    [[nodiscard]] bool is_forked() const { return generation_.is_forked(); }

    [[nodiscard]] const Config& config() const { return config_; }
    [[nodiscard]] const std::shared_ptr<CallGate>& gate() const { return gate_; }
    [[nodiscard]] Readiness& readiness() { return readiness_; }
    [[nodiscard]] EventHub& events() { return events_; }
    [[nodiscard]] ThreadOwners& owners() { return owners_; }

    // As the core thread knows it; as it was last, of a node that stopped or does not answer. These
    // five may be called in the child of a fork.
    [[nodiscard]] Status status();
    [[nodiscard]] Metrics metrics();
    // In words; empty if it is ready, or if the core thread does not say so at once.
    [[nodiscard]] std::string why_not_ready();
    // False as well when the core thread does not say so at once.
    [[nodiscard]] bool is_removed();
    // As Node::reload_tls().
    void reload_tls();
    void close();
    // For a destructor: does not throw, and does not wait much longer than close_timeout.
    void close_in_time() noexcept;

private:
    NodeRuntime(Config config, core::Access access);
    [[nodiscard]] std::unique_ptr<TlsWatch> open_tls();
    void open_store();
    // Answers the life before it, if any.
    std::unique_ptr<CoreLoop> begin_life(storage::Opened opened, const Estate& estate);
    void report(const storage::Opened& opened);
    void report_limits();
    void start_threads();
    void run_core_thread();
    void run_loop();
    void core_broke(const char* what) noexcept;
    [[nodiscard]] bool is_own_thread();
    // On this thread, however long the disk takes.
    void close_here();
    [[nodiscard]] std::optional<std::future<void>> close_elsewhere() noexcept;
    void refuse_calls();
    void wait_released() noexcept;
    void stop_threads();
    void stop_disk_threads();
    void end_core_thread() noexcept;
    void end_loop();
    [[nodiscard]] DiskEvents disk_events();

    // abandoning.cpp
    static void destroy(NodeRuntime* node) noexcept;
    [[nodiscard]] bool has_descriptors() noexcept;
    void abandon() noexcept;
    void lose_holds();

    // reopening.cpp
    void disk_failed(const DiskFailure& failure);
    void begin_anew();
    void suspend(const std::string& why, core::Incarnation superseded);
    void begin_reopening(core::Incarnation superseded, std::chrono::milliseconds pause);
    void reopen(core::Incarnation superseded, std::chrono::milliseconds pause);
    void resume(storage::Opened opened, std::chrono::milliseconds pause);
    [[nodiscard]] bool wait_to_try(std::chrono::milliseconds time);
    void refuse_reopening();
    void await_reopening();

    void snapshot();
    [[nodiscard]] Status status_of_child() const;
    [[nodiscard]] Metrics with_log(Metrics metrics) const;

    const ForkGeneration generation_;
    const Config config_;
    const core::Access access_;
    NodeLog log_;
    const std::shared_ptr<Notifier> notifier_ = std::make_shared<Notifier>("mortise-notify");
    Notifier losses_{"mortise-lost"};  // apart: nothing may hold up what is said of a loss
    EventHub events_{*notifier_};
    Readiness readiness_;
    ThreadOwners owners_;
    asio::io_context io_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
    Questions questions_{[this] { asio::post(io_, [this] { questions_.answer_all(); }); }};
    std::shared_ptr<CallGate> gate_;
    std::unique_ptr<TlsWatch> tls_;  // empty without TLS
    DescriptorWatch descriptors_{io_};
    std::atomic<bool> is_watching_ = false;   // from the end of the start on
    std::atomic<bool> is_abandoned_ = false;  // the program closed descriptors: see abandoning.cpp
    LeaseThread leases_;
    std::shared_ptr<const void> directory_lock_;
    core::Incarnation incarnation_;  // of the directory
    std::unique_ptr<CoreLoop> loop_;
    std::unique_ptr<LogThread> log_thread_;
    std::unique_ptr<StateThread> state_thread_;
    std::thread core_thread_;

    // Of the core thread: counts the lives in this process, so that nothing that a former one still
    // has to tell is taken for news of this one.
    std::uint64_t life_ = 0;
    bool is_suspended_ = false;
    std::thread reopener_;
    std::mutex reopening_;
    std::condition_variable reopening_changed_;
    bool reopening_stopped_ = false;

    std::mutex closing_;        // held by the one who closes
    std::promise<void> quiet_;  // nothing of the program's runs any more
    const std::shared_future<void> is_quiet_ = quiet_.get_future().share();
    std::atomic<bool> closed_ = false;
    std::shared_ptr<NodeRuntime> kept_;  // see close()
    Guarded<Status> last_status_;
    Guarded<Metrics> last_metrics_;
    LogCounters log_counters_;
};

}  // namespace mortise::detail
