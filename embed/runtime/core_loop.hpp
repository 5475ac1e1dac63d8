// The part of a node that lives on the core thread: the driver with its ports, the network, the
// calls in progress, and the holds. It handles one event at a time and waits for nothing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <asio/io_context.hpp>

#include "embed/holds/lease_thread.hpp"
#include "embed/host/descriptor_watch.hpp"
#include "embed/host/log_sink.hpp"
#include "embed/runtime/age_watch.hpp"
#include "embed/runtime/ahead_observers.hpp"
#include "embed/runtime/client_desk.hpp"
#include "embed/runtime/close_steps.hpp"
#include "embed/runtime/driver.hpp"
#include "embed/runtime/entry_report.hpp"
#include "embed/runtime/loop_timer.hpp"
#include "embed/runtime/membership_report.hpp"
#include "embed/runtime/node_loop.hpp"
#include "embed/runtime/observer_hub.hpp"
#include "embed/runtime/pause_watch.hpp"
#include "embed/runtime/program_side.hpp"
#include "embed/runtime/unready_watch.hpp"
#include "embed/threads/call_gate.hpp"
#include "embed/threads/event_hub.hpp"
#include "embed/threads/readiness.hpp"
#include "embed/values/at_most_every.hpp"
#include <mortise/config.hpp>
#include <mortise/info.hpp>

namespace mortise::detail {

class NetworkSide;
class OwnJoining;

// The parameters of the loop. All of them outlive the loop.
struct LoopParts {
    asio::io_context& io;
    const Config& config;
    std::shared_ptr<CallGate> gate;
    Notifier& notifier;
    Notifier& losses;  // runs what the program registered with Hold::lost()
    EventHub& events;
    ObserverHub& observers;
    LeaseThread& leases;
    std::shared_ptr<GrantCache> cache;
    Readiness& readiness;
    NodeLog& log;
    // Empty without TLS. These are the credentials at the start; new ones come with
    // set_credentials().
    std::shared_ptr<const transport::TlsCredentials> credentials;
    // Called when the data directory must not be used as it is any more
    // (core::Effects::superseded).
    std::function<void()> begin_anew;
    DescriptorWatch& descriptors;

    void say_stopped(const std::string& reason) const;
};

// Why a node takes no part for now.
struct Suspension {
    std::string why;
    std::error_code code{};  // what is missing, if anything is
};

// What one run of the node passes on to the next one in the same process.
struct PassedOn {
    std::string listening_at;
    Metrics counters;
};

// It connects the driver with its two sides: ProgramSide has the calls and holds of the program,
// NetworkSide the peers and clients. Whatever arrives leads to a step, and every step ends with the
// same checks in a fixed order (after_step()). What is left here is what these checks compare, and
// how a run of the node ends.
class CoreLoop final : public NodeLoop, public Publisher {
public:
    CoreLoop(LoopParts parts, core::NodeOptions options, std::uint64_t seed,
             const PassedOn& passed_on);
    ~CoreLoop() override;

    // --- before the thread runs
    // Binds the configured addresses. Throws std::system_error with one line.
    void listen();
    void open(core::NodeState state, LogWriter& log, StateWriter& writer);

    // --- on the core thread
    // Starts with calls that were taken from the gate before.
    void begin(SubmittedCalls calls) override;
    void take_calls() override;
    void written(core::WriteId id);
    void set_credentials(std::shared_ptr<const transport::TlsCredentials> credentials) override;
    void state_durable(core::StateDurable durable) { step(durable); }
    void snapshot_rows(core::SnapshotRows rows) { step(std::move(rows)); }
    void install_taken() { step(core::InstallTaken{}); }
    void state_installed(core::StateInstalled installed) { step(installed); }
    // The node stops for good (P5).
    void fail(const std::string& reason) override;
    // The node stops communicating and holds nothing from here on. Calls wait until it runs again,
    // or until they can no longer be answered in time.
    void suspend(const Suspension& cause);
    // From suspend() until the next run takes the calls over.
    [[nodiscard]] bool is_suspended() const { return suspended_.has_value(); }
    // Another attempt to resume has failed.
    void stay_suspended(const std::string& why);
    [[nodiscard]] PassedOn passed_on() const {
        return {suspended_ ? suspended_->listened_at : std::string{}, counters()};
    }
    // Hands the calls over to the next run of the node. This loop does nothing any more.
    [[nodiscard]] SubmittedCalls leave_calls();
    // Releases everything, transfers leadership, and calls `done`, perhaps at once.
    void begin_close(std::function<void()> done) override;
    // Closes sockets and timers. This loop does nothing any more.
    void end() override;
    // Stops the node for good without closing, cancelling or sending anything: the program has
    // closed its descriptors.
    void abandon(const std::string& reason) override;
    [[nodiscard]] Status status() const override;
    [[nodiscard]] std::vector<SessionInfo> sessions(SessionId after) const override {
        return desk_.sessions_after(after);
    }
    // True if it was removed from its cluster, as far as this node knows.
    [[nodiscard]] bool is_removed() const override;
    // True if it is a cluster of one although it is configured with peers.
    [[nodiscard]] bool is_alone_by_mistake() const;
    // What only this node knows about why it is not ready; empty if it is ready, or if the rest of
    // the status says everything.
    [[nodiscard]] std::string why_not_ready() const;
    [[nodiscard]] Metrics metrics() const override;
    [[nodiscard]] Activity activity(std::string_view prefix) const override;

    // --- for the client desk
    [[nodiscard]] const Config& config() const { return parts_.config; }
    [[nodiscard]] core::NodeId self() const { return options_.self; }
    // What the certificate of this node allows.
    [[nodiscard]] const core::Access& access() const { return options_.access; }
    [[nodiscard]] bool is_ready() const { return ready_; }
    [[nodiscard]] core::Instant began() const { return began_; }
    [[nodiscard]] core::MemberLoad client_load() const {
        return {driver().core().clients().places().size(), options_.client_places};
    }
    [[nodiscard]] bool is_insecure() const;
    [[nodiscard]] const Driver& driver() const { return *driver_; }
    [[nodiscard]] AheadObservers& ahead() { return ahead_; }
    void submit(core::Call call, std::function<void(core::CallAnswer&)> answered);
    // Answers with a Viewed when this node has applied everything that was committed before.
    void catch_up(std::function<void(core::CallAnswer&)> answered);
    void begin_warnings();
    void step(core::Event event);
    [[nodiscard]] bool is_connected(core::NodeId peer) const;

private:
    // suspend.cpp
    void superseded() override;
    void copied() override;
    void let_calls_wait();

    // core_loop.cpp: events
    void begin_calls(SubmittedCalls taken);
    void after_step(core::Instant began);
    void tell_observers();
    [[nodiscard]] core::Instant deadline() const;
    void set_timer();
    void timer_fired(core::Instant due);
    void warn_of_pause(core::Nanoseconds late);

    // report.cpp
    [[nodiscard]] std::string why_in_no_cluster_now() const;
    [[nodiscard]] std::string why_no_leader_now() const;
    [[nodiscard]] std::string why_closed_now() const;
    [[nodiscard]] std::string missing_peers() const;
    [[nodiscard]] Metrics counters() const;
    void watch_leader();
    void watch_ready();
    [[nodiscard]] std::string why_not_ready_now() const;
    void report_overrun(Duration took);

    // close.cpp
    void stopped(const std::string& reason) override;
    void hand_over_leadership();
    void watch_close();
    [[nodiscard]] bool reaches_majority() const;

    // publish.cpp: effects
    void applied(const core::Applied& applied) override { entries_.applied(applied); }
    void appended(core::LogIndex last) override;
    void lost(const core::HoldLost& lost) override;
    void suspended(core::OperationId hold) override { program_.holds().suspended(hold); }
    void contended(const core::Contended& contended) override {
        program_.holds().contended(contended);
    }
    void lease_changed(const core::LeaseChanged& lease) override;
    void answered(std::vector<core::CallAnswer> answers) override;
    void state_replaced(core::LogId last) override;
    void noted(const core::Note& note) override;

    // Why this run takes no part any more, while another one is prepared (suspend.cpp).
    struct Suspended {
        std::string why;  // why it was suspended, or why the newest attempt to resume failed
        std::string listened_at;  // its address, for the next run; empty if it does not listen
    };

    // what it uses of the node: set by the constructor
    LoopParts parts_;
    // the options of this run: set by the constructor
    core::NodeOptions options_;
    // when this run began, on the steady clock: set by the constructor
    const core::Instant began_;
    // the next look at what is due: set after each step, and for calls that wait while suspended
    LoopTimer timer_;
    // how long this thread did not run: asked whenever the timer fires
    PauseWatch pauses_;
    // the core with its ports: set by open(), as soon as the state was read
    std::unique_ptr<Driver> driver_;
    // observers that know more than this node
    AheadObservers ahead_;
    // the service for clients
    ClientDesk desk_;
    // the peers, and the connections with them and with clients
    const std::unique_ptr<NetworkSide> network_;
    // the calls and holds of the program
    ProgramSide program_;
    // who the members are, as they were reported last
    MembershipReport membership_;
    // how found nodes become members
    const std::unique_ptr<OwnJoining> joining_;
    // the leader as it was reported last: set after each step
    std::optional<core::NodeId> leader_;
    // whether the node was reported ready: set after each step; false again once it has stopped
    bool ready_ = false;
    // the close of the node: from begin_close() on
    CloseSteps closing_;
    // no step happens any more: set by suspend(), end() and abandon()
    bool ended_ = false;
    // set by suspend(), until the next run takes the calls over, or until the node stops
    std::optional<Suspended> suspended_;
    // what became of the entries of the log
    EntryReport entries_;
    // events of slow steps: one a second, because more would add load to a node that is slow
    // already
    AtMostEvery overruns_;
    // warnings of holds and calls that last long
    AgeWatch ages_;
    // warnings that this node is not ready for long
    UnreadyWatch unready_;
};

}  // namespace mortise::detail
