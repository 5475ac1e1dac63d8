#include "embed/node_runtime.hpp"

#include <cerrno>
#include <random>
#include <system_error>
#include <utility>

#include "embed/thread_start.hpp"
#include "embed/translate.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {

namespace {

constexpr std::uint64_t reserve_bytes = std::uint64_t{64} << 20U;

std::uint64_t true_chance() {
    std::random_device device;
    return std::uint64_t{device()} << 32U | device();
}

Config checked(Config config) {
    config.validate();
    return config;
}

storage::Opened open_directory(const Config& config) {
    storage::OpenOptions options;
    options.self = core::NodeId{config.own_id()};
    options.random = {true_chance(), true_chance()};
    options.rejoins = !config.peers.empty();
    options.reserve_bytes = reserve_bytes;
    if (config.memory_only) return storage::open_in_memory(options);
    auto opened = storage::open_directory(config.data_dir, options);
    if (!opened) throw std::system_error{opened.error().code, opened.error().what};
    return std::move(*opened);
}

// The lease ran out while nobody else was looking: one task each, since any of them may take its
// time.
std::function<void(std::shared_ptr<Lease>)> tell_holds(Notifier& notifier) {
    return [&notifier](const std::shared_ptr<Lease>& lease) {
        for (auto& hold : lease->take_holds()) {
            if (!hold->mark_lost(LossReason::expired)) continue;  // given back just before
            notifier.post([hold = std::move(hold)] { hold->request_stop(); });
        }
    };
}

}  // namespace

NodeRuntime::NodeRuntime(Config config)
    : config_{checked(std::move(config))},
      log_{config_.log, config_.own_id()},
      gate_{std::make_shared<CallGate>([this] { asio::post(io_, [this] { loop_->take_calls(); }); },
                                       config_.timing.call_timeout.to_nanoseconds(), notifier_)},
      leases_{tell_holds(*notifier_)} {
    open_store();
    start_threads();
}

NodeRuntime::~NodeRuntime() {
    if (core_thread_.joinable()) close_here();
}

void NodeRuntime::report(const storage::Opened& opened) {
    if (!opened.set_aside.empty()) {
        log_.error("storage",
                   "the data directory was damaged and is put aside within it; this "
                   "node begins anew, without a vote, when its cluster takes it: " +
                       opened.set_aside);
    }
    if (opened.is_copy) {
        log_.warn("storage",
                  "the data directory was restored or copied: if what it was copied "
                  "from is still in use, or if it is older than what this node said "
                  "last, remove it instead");
    }
}

void NodeRuntime::open_store() {
    auto opened = open_directory(config_);
    report(opened);
    directory_lock_ = std::move(opened.lock);
    auto options = node_options(config_);
    options.incarnation = opened.incarnation;
    options.boot_epoch = opened.boot_epoch;
    options.former_life_ended = opened.former_life_ended;
    options.seed = true_chance();
    const LoopParts parts{io_, config_, gate_, *notifier_, events_, leases_, readiness_, log_};
    loop_ = std::make_unique<CoreLoop>(parts, std::move(options), true_chance());
    loop_->listen();
    log_thread_ = std::make_unique<LogThread>(std::move(opened.log), disk_events());
    state_thread_ =
        std::make_unique<StateThread>(std::move(opened.state_store), *log_thread_, disk_events());
    loop_->open(std::move(opened.state), *log_thread_, *state_thread_);
}

DiskEvents NodeRuntime::disk_events() {
    return {[this](core::WriteId id) { asio::post(io_, [this, id] { loop_->written(id); }); },
            [this](core::LogIndex index) {
                asio::post(io_, [this, index] { loop_->state_durable(index); });
            },
            [this](core::SnapshotRows rows) {
                asio::post(io_, [this, rows = std::move(rows)]() mutable {
                    loop_->snapshot_rows(std::move(rows));
                });
            },
            [this](core::StateInstalled installed) {
                asio::post(io_, [this, installed] { loop_->state_installed(installed); });
            },
            [this](std::string why) {
                asio::post(io_, [this, why = std::move(why)] { loop_->fail(why); });
            }};
}

void NodeRuntime::start_threads() {
    core_thread_ = start_thread_named("mortise-core", [this] { run_core_thread(); });
}

void NodeRuntime::run_core_thread() {
    asio::post(io_, [this] { loop_->begin(); });
    while (true) {
        try {
            io_.run();
            return;
        } catch (const std::exception& broken) {
            // Nothing of ours throws here. Whatever did: the host must not end for it (P5).
            loop_->fail(std::string{"the core thread broke: "} + broken.what());
        }
    }
}

// --- questions ---------------------------------------------------------------------------------

template <class Answer>
std::optional<Answer> NodeRuntime::ask(std::function<Answer()> question) {
    auto answer = std::make_shared<std::promise<Answer>>();
    auto future = answer->get_future();
    asio::post(io_, [answer, question = std::move(question)] { answer->set_value(question()); });
    if (future.wait_for(gate_->call_timeout()) != std::future_status::ready) return std::nullopt;
    return future.get();
}

void NodeRuntime::snapshot() {
    last_status_.with([&](Status& last) { last = loop_->status(); });
    last_metrics_.with([&](Metrics& last) { last = loop_->metrics(); });
}

Status NodeRuntime::status() {
    const auto why_stopped = readiness_.why_stopped();
    if (!why_stopped) {
        auto status = ask<Status>([this] { return loop_->status(); });
        if (status) {
            last_status_.with([&](Status& last) { last = *status; });
            return *status;
        }
    }
    auto status = last_status_.with([](const Status& last) { return last; });
    status.id = config_.own_id();
    status.ready = false;
    status.why_not_ready = why_stopped ? "it stopped" : "its core thread does not answer";
    status.stopped = why_stopped.has_value();
    status.why_stopped = why_stopped.value_or("");
    return status;
}

Metrics NodeRuntime::metrics() {
    if (!readiness_.why_stopped()) {
        if (auto metrics = ask<Metrics>([this] { return loop_->metrics(); })) return *metrics;
    }
    return last_metrics_.with([](const Metrics& last) { return last; });
}

// --- the end -----------------------------------------------------------------------------------

void NodeRuntime::close() {
    const bool own =
        notifier_->is_own_thread() || core_thread_.get_id() == std::this_thread::get_id();
    if (!own) {
        close_here();
        return;
    }
    // A thread cannot wait for itself.
    std::thread{[self = shared_from_this()] { self->close_here(); }}.detach();
}

void NodeRuntime::close_here() {
    const std::scoped_lock lock{closing_};
    if (std::exchange(closed_, true)) return;
    refuse_calls();
    wait_released();
    stop_threads();
}

void NodeRuntime::refuse_calls() {
    for (auto& submitted : gate_->close()) {
        if (submitted.completion) submitted.completion->complete({Errc::node_stopped, {}, {}});
    }
}

// Leadership is handed over without waiting for the result beyond the same time.
bool NodeRuntime::wait_released() {
    auto released = std::make_shared<std::promise<void>>();
    auto future = released->get_future();
    asio::post(io_,
               [this, released] { loop_->begin_close([released] { released->set_value(); }); });
    const auto patience = config_.timing.close_timeout.to_nanoseconds();
    return future.wait_for(patience) == std::future_status::ready;
}

void NodeRuntime::stop_threads() {
    asio::post(io_, [this] {
        snapshot();
        readiness_.stop("it was closed");
        loop_->end();
        work_.reset();
        io_.stop();
    });
    core_thread_.join();
    state_thread_->stop();
    log_thread_->stop();
    leases_.stop();
    notifier_->stop();
    // The directory is free for the next life; holds and mutexes may keep the rest.
    state_thread_.reset();
    log_thread_.reset();
    directory_lock_.reset();
}

}  // namespace mortise::detail
