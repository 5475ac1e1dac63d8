#include "embed/runtime/node_runtime.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <future>
#include <limits>
#include <new>
#include <system_error>
#include <tuple>
#include <utility>

#include <sys/random.h>
#include <unistd.h>

#include "embed/config/config_check.hpp"
#include "embed/host/descriptor_budget.hpp"
#include "embed/host/stay_loaded.hpp"
#include "embed/host/tls_watch.hpp"
#include "embed/runtime/client_loop.hpp"
#include "embed/runtime/core_loop.hpp"
#include "embed/runtime/log_thread.hpp"
#include "embed/runtime/state_thread.hpp"
#include "embed/runtime/translate.hpp"
#include "embed/values/one_line.hpp"
#include "storage/base/descriptors.hpp"
#include "storage/base/ignored_signal.hpp"
#include "storage/directory/data_directory.hpp"
#include <mortise/certificates.hpp>
#include <mortise/directory_errc.hpp>
#include <mortise/errc.hpp>

namespace mortise::detail {

namespace {

constexpr std::uint64_t reserve_bytes = std::uint64_t{64} << 20U;
constexpr auto moment = std::chrono::seconds{1};  // the time for the threads to end

// The program may change its working directory later, as daemons do.
void make_absolute(std::filesystem::path& path) {
    if (!path.empty()) path = std::filesystem::absolute(path);
}

// The directory was bootstrapped without the list of peers, or all other members were removed. On
// its own this node would grant names that the cluster of its peers has granted (S1).
[[noreturn]] void throw_alone_by_mistake(const Config& config) {
    throw ConfigError{
        Errc::invalid_argument,
        {{}, 0, "peer"},
        config.data_dir.string() +
            " belongs to a cluster whose only member is this node. To join the "
            "cluster of these peers, remove the directory. To continue alone, list no "
            "other peer, and add the others as members later"};
}

// Called before anything is opened.
Config checked(Config config) {
    take_host_name(config);
    config.validate();
    for (auto* path : {&config.data_dir, &config.tls.certificate, &config.tls.key, &config.tls.ca,
                       &config.tls.revoked})
        make_absolute(*path);
    const auto budget = descriptor_budget(storage::descriptor_limit(), config);
    if (!budget.is_enough())
        throw std::system_error{make_error_code(DirectoryErrc::shortage), why_not_enough(budget)};
    stay_loaded();
    storage::occupy_standard_descriptors();
    return config;
}

std::string in_mebibytes(std::uint64_t bytes) {
    return std::to_string(bytes >> 20U) + " MiB";
}

// A number: looking up the name could load modules of the C library into the program.
std::string own_user() {
    return "user " + std::to_string(::geteuid());
}

// What the operator can do about it, as far as the code tells.
core::Error with_advice(core::Error error) {
    const auto add = [&](const std::string& advice) { error.what += "; " + advice; };
    if (error.code == storage::Errc::no_space)
        add("make room on the volume of data_dir");
    else if (error.code == storage::Errc::locked)
        add("end what uses it, or give this node a directory of its own");
    else if (error.code == storage::Errc::newer_format)
        add("start it with that version");
    else if (error.code == storage::Errc::not_a_directory)
        add("name a directory, or one that the node may create, as data_dir");
    else if (error.code == storage::Errc::denied)
        add("name a data_dir that " + own_user() + " may write, or give it to that user (chown)");
    return error;
}

void warn_holds_of(const Lease& lease, Notifier& notifier) {
    for (const auto& hold : lease.risk_watchers())
        notifier.post([hold] { hold->notify_trouble(); });
}

// A renewal is overdue.
LeaseThread::Told warn_holds(Notifier& notifier) {
    return [&notifier](const std::shared_ptr<Lease>& lease) {
        warn_holds_of(*lease, notifier);
        if (lease->lasting()) warn_holds_of(*lease->lasting(), notifier);
    };
}

// The lease thread ended the lease. Each hold is a job of its own, since its callbacks may take
// long.
LeaseThread::Told notify_holds(Notifier& losses) {
    return [&losses](const std::shared_ptr<Lease>& lease) {
        for (const auto& hold : lease->holds()) {
            if (hold->mark_lost(LossReason::expired)) losses.post(hold);
        }
        if (lease->lasting()) warn_holds_of(*lease->lasting(), losses);
    };
}

}  // namespace

std::uint64_t random_number() {
    std::uint64_t chance = 0;
    if (::getrandom(&chance, sizeof chance, 0) != sizeof chance)
        throw std::system_error{errno, std::generic_category(), "getrandom"};
    return chance;
}

core::Result<storage::Opened> open_directory(const Config& config, core::Incarnation superseded,
                                             Missing missing) {
    storage::OpenOptions options;
    options.create = missing == Missing::is_made;
    options.self = core::NodeId{config.own_id()};
    options.random = {random_number(), random_number()};
    options.rejoins = !config.peers.empty() || !config.peers_from.empty();
    options.superseded = superseded;
    options.reserve_bytes = reserve_bytes;
    if (config.memory_only) return storage::open_in_memory(options);
    return storage::open_directory(config.data_dir, options);
}

NodeLoop& NodeRuntime::loop() {
    if (client_) return *client_;
    return *loop_;
}

std::shared_ptr<NodeRuntime> NodeRuntime::open(Config config, core::Access access) {
    return {new NodeRuntime{std::move(config), std::move(access)}, destroy};
}

NodeRuntime::NodeRuntime(Config config, core::Access access)
    : config_{checked(std::move(config))},
      access_{std::move(access)},
      log_{config_.log, config_.own_id()},
      gate_{std::make_shared<CallGate>([this] { core_.post([this] { loop().take_calls(); }); },
                                       config_.timing.call_timeout.to_nanoseconds(),
                                       threads_.notifier(), config_.limits.calls)},
      cache_{std::make_shared<GrantCache>(gate_)},
      tls_{open_tls()},
      leases_{warn_holds(*threads_.notifier()), notify_holds(threads_.losses()), [this] {
                  if (is_watching_) std::ignore = has_descriptors();
              }} {
    const storage::IgnoredSignal file_too_large{SIGXFSZ};
    if (config_.role == Role::client) {
        begin_client();
    } else {
        open_store();
    }
    start_threads();
    is_watching_ = true;
}

NodeRuntime::~NodeRuntime() {
    if (core_.is_started()) closing_.here();
}

void NodeRuntime::report(const storage::Opened& opened) {
    if (!opened.set_aside.empty()) {
        const auto own = [this](const PeerConfig& peer) { return peer.id == config_.own_id(); };
        const bool is_sole = config_.peers_from.empty() && std::ranges::all_of(config_.peers, own);
        log_.error("directory_set_aside",
                   "the data directory cannot be used any more and is moved aside within it; this "
                   "node starts empty, without a vote, when its cluster adds it: " +
                       opened.set_aside + ". Look at that copy, and remove it when nobody " +
                       "needs it: nothing else does" +
                       (is_sole ? "; " + std::string{remedy_of_sole_node} : ""),
                   {{"path", opened.set_aside}});
    }
    if (opened.is_copy) {
        log_.warn("directory_copied",
                  "the data directory was restored or copied: if what it was copied "
                  "from is still in use, or if it is older than what this node said "
                  "last, remove it instead");
    }
}

std::unique_ptr<TlsWatch> NodeRuntime::open_tls() {
    if (!config_.tls.is_set()) return nullptr;
    TlsWatch::Parts parts{
        log_, events_, [this](const TlsWatch::Credentials& credentials) {
            core_.post([this, credentials] { loop().set_credentials(credentials); });
        }};
    return std::make_unique<TlsWatch>(config_, std::move(parts));
}

void NodeRuntime::reload_tls() {
    if (is_forked()) throw std::system_error{Errc::forked};
    if (readiness_.why_stopped()) throw std::system_error{Errc::node_stopped};
    if (!tls_) throw std::system_error{Errc::invalid_argument, "this node has no TLS"};
    if (const auto reloaded = tls_->reload(); !reloaded)
        throw CertificateError{reloaded.error().code, reloaded.error().what};
}

// Reported once, at the start.
void NodeRuntime::report_limits(std::uint64_t log_bytes_max) {
    const auto budget = descriptor_budget(storage::descriptor_limit(), config_);
    if (!budget.is_ample()) log_.warn("descriptors_scarce", why_not_ample(budget));
    if (log_bytes_max >= config_.limits.log_bytes) return;
    log_.warn("volume_small", "the volume of the data directory has little space: at most " +
                                  in_mebibytes(log_bytes_max) +
                                  " of the log are kept for slow members while that is so, and not "
                                  "limits.log_bytes = " +
                                  std::to_string(config_.limits.log_bytes));
}

void NodeRuntime::open_store() {
    auto opened = open_directory(config_, {}, Missing::is_made);
    if (!opened) throw in_one_line(with_advice(opened.error()));
    report_limits(opened->log_bytes_max ? opened->log_bytes_max()
                                        : std::numeric_limits<std::uint64_t>::max());
    begin_life(std::move(*opened), {});
    if (loop_->is_alone_by_mistake()) throw_alone_by_mistake(config_);
}

const core::Access& NodeRuntime::access_now() {
    return tls_ ? tls_->credentials()->identity().access : access_;
}

LoopParts NodeRuntime::loop_parts() {
    return {core_.io(),
            config_,
            gate_,
            *threads_.notifier(),
            threads_.losses(),
            events_,
            observers_,
            leases_,
            cache_,
            readiness_,
            log_,
            tls_ ? tls_->credentials() : nullptr,
            [this] { begin_anew(); },
            descriptors_};
}

void NodeRuntime::begin_client() {
    auto options = client_options(config_);
    options.access = access_now();
    options.seed = random_number();
    client_ = std::make_unique<ClientLoop>(loop_parts(), options);
}

std::unique_ptr<CoreLoop> NodeRuntime::begin_life(storage::Opened opened,
                                                  const PassedOn& passed_on) {
    report(opened);
    disk_.hold(std::move(opened.lock), opened.generation.incarnation);
    auto options = node_options(config_);
    options.log_bytes_for_states = std::min(options.log_bytes_for_states, options.log_bytes_max);
    options.access = access_now();
    options.prefixes = config_.observability.prefixes;
    options.generation = opened.generation;
    options.former_life_ended = opened.former_life_ended && !config_.holders_elsewhere;
    options.seed = random_number();
    options.generation.life = random_number();
    auto loop =
        std::make_unique<CoreLoop>(loop_parts(), std::move(options), random_number(), passed_on);
    loop->listen();
    const auto run = disk_.begin_run();
    disk_.start(std::move(opened.log), disk_events(run, {}), std::move(opened.state_store),
                disk_events(run, std::move(opened.log_bytes_max)));
    loop->open(std::move(opened.state), disk_.log(), disk_.state());
    disk_.watch(std::move(opened.is_held));
    std::swap(loop, loop_);
    return loop;
}

DiskEvents NodeRuntime::disk_events(std::uint64_t run,
                                    std::function<std::uint64_t()> log_bytes_max) {
    const auto tell = [this, run](auto event) {
        core_.post([this, run, event = std::move(event)]() mutable {
            if (disk_.is_run(run)) event(*loop_);
        });
    };
    return {[tell](core::WriteId id) { tell([id](CoreLoop& loop) { loop.written(id); }); },
            [tell, log_bytes_max = std::move(log_bytes_max)](core::LogIndex index) {
                core::StateDurable durable{index};
                if (log_bytes_max) durable.log_bytes_max = log_bytes_max();
                tell([durable](CoreLoop& loop) { loop.state_durable(durable); });
            },
            [tell](core::SnapshotRows rows) {
                tell([rows = std::move(rows)](CoreLoop& loop) mutable {
                    loop.snapshot_rows(std::move(rows));
                });
            },
            [tell] { tell([](CoreLoop& loop) { loop.install_taken(); }); },
            [tell](core::StateInstalled installed) {
                tell([installed](CoreLoop& loop) { loop.state_installed(installed); });
            },
            [this, tell](DiskFailure failure) {
                if (failure.is_closed) return abandon();
                tell([this, failure = std::move(failure)](CoreLoop&) { disk_failed(failure); });
            },
            [this](LogWrite write) { disk_.counters().count(write); }};
}

void NodeRuntime::start_threads() {
    if (tls_) tls_->start();  // started before the thread that must be joined if anything fails
    core_.start([this] { run_core_thread(); });
}

void NodeRuntime::run_core_thread() {
    core_.post([this] { loop().begin({}); });
    while (true) {
        try {
            run_loop();
            return;
        } catch (const std::exception& broken) {
            core_broke(broken.what());
        } catch (...) {
            core_broke("unknown");
        }
    }
}

// The library throws only std::bad_alloc there. Whatever it was, the host process must not end
// (P5).
void NodeRuntime::core_broke(const char* what) noexcept {
    try {
        loop().fail(std::string{"the core thread failed: "} + what);
        return;
    } catch (const std::exception&) {  // there is no memory for the report either
    }
    try {
        loop().fail("no memory");
    } catch (const std::exception&) {  // everything that could be reported was reported
    }
}

// --- closing -----------------------------------------------------------------------------------

bool NodeRuntime::is_own_thread() {
    return threads_.is_own() || core_.is_own();
}

core::Nanoseconds NodeRuntime::close_patience() const {
    return config_.timing.close_timeout.to_nanoseconds() + moment;
}

void NodeRuntime::close() {
    if (is_forked() || closing_.is_done()) return;
    using Outcome = Closing::Outcome;
    const auto outcome = closing_.close(shared_from_this(), is_own_thread(), close_patience());
    if (outcome == Outcome::kept) refuse_calls();
    if (outcome == Outcome::unresponsive) {
        log_.error("disk_unresponsive",
                   "its disk does not answer: the data directory stays taken until it does");
    }
}

void NodeRuntime::close_in_time() noexcept {
    if (is_forked() || closing_.is_done()) return;
    if (is_own_thread()) return close();
    closing_.close_in_time(shared_from_this(), close_patience());
}

void NodeRuntime::end_node() {
    const storage::IgnoredSignal file_too_large{SIGXFSZ};
    refuse(gate_->refuse_calls());
    wait_released();
    stop_threads();
}

void NodeRuntime::refuse_calls() {
    refuse(gate_->close());
}

void NodeRuntime::refuse(const SubmittedCalls& calls) {
    for (auto& call : calls)
        call.answer({Errc::node_stopped, {}, {}});
    cache_->close();
}

void NodeRuntime::end_core_thread() noexcept {
    bool is_asked = false;
    try {
        if (has_descriptors()) core_.post([this] { end_loop(); });
        is_asked = true;
    } catch (const std::bad_alloc&) {  // the node stops without it, and the rest is done here
        core_.io().stop();
    }
    core_.join();
    if (!is_asked) end_loop();
}

void NodeRuntime::end_loop() {
    if (!has_descriptors()) return;
    try {
        snapshot();
    } catch (const std::bad_alloc&) {  // the last known status is used
    }
    readiness_.stop("it was closed");
    core_.questions().close();
    metrics_hub_.stop();
    loop().end();
    core_.stop();
}

// Leadership is transferred; close() waits for the result only within the same time.
void NodeRuntime::wait_released() noexcept {
    constexpr auto look_again = std::chrono::milliseconds{20};
    if (!has_descriptors()) return;
    try {
        auto released = std::make_shared<std::promise<void>>();
        auto future = released->get_future();
        core_.post([this, released] { loop().begin_close([released] { released->set_value(); }); });
        const auto give_up =
            std::chrono::steady_clock::now() + config_.timing.close_timeout.to_nanoseconds();
        while (!is_abandoned_ && std::chrono::steady_clock::now() < give_up) {
            if (future.wait_for(look_again) == std::future_status::ready) return;
        }
    } catch (const std::bad_alloc&) {  // the session then expires
    }
}

// First ends the threads that run code of the program, which must get its answers whatever the disk
// does.
void NodeRuntime::stop_threads() {
    reopening_.refuse();
    if (tls_) tls_->begin_stop();
    end_core_thread();
    refuse_calls();  // nobody takes any
    leases_.stop();
    threads_.stop();
    closing_.quiet();
    stop_disk_threads();
}

void NodeRuntime::stop_disk_threads() {
    if (tls_) tls_->stop();
    reopening_.await();
    disk_.stop();
    // The next run may use the directory. Holds and mutexes may keep the rest of this object alive.
    disk_.close();
    disk_.let_go();
}

}  // namespace mortise::detail
