// The part of a node that lives on the core thread: the driver with its ports, the network, the
// calls in progress, and the holds. It handles one event at a time and waits for nothing.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "embed/holds/lease_thread.hpp"
#include "embed/host/descriptor_watch.hpp"
#include "embed/host/log_sink.hpp"
#include "embed/runtime/age_watch.hpp"
#include "embed/runtime/ahead_observers.hpp"
#include "embed/runtime/client_desk.hpp"
#include "embed/runtime/commit_times.hpp"
#include "embed/runtime/driver.hpp"
#include "embed/runtime/node_loop.hpp"
#include "embed/runtime/observer_hub.hpp"
#include "embed/runtime/program_side.hpp"
#include "embed/threads/call_gate.hpp"
#include "embed/threads/event_hub.hpp"
#include "embed/threads/readiness.hpp"
#include "transport/network/peer_network.hpp"
#include <mortise/config.hpp>
#include <mortise/info.hpp>

namespace mortise::detail {

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

// It is one class because it is the one end of four interfaces on one thread: the driver, the
// network, the timers and the calls of the program each lead to a step, whose effects concern the
// others in a fixed order. Driver, ProgramSide, ClientDesk, AgeWatch and CommitTimes have the state
// that is theirs alone; what is left here is what the reports of a node compare.
class CoreLoop final : public NodeLoop,
                       public Publisher,
                       public PeerSender,
                       public transport::NetworkEvents {
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
    // Another attempt to resume has failed.
    void stay_suspended(const std::string& why);
    [[nodiscard]] PassedOn passed_on() const { return {listening_at_, counters()}; }
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
    // True if it was removed from its cluster, as far as this node knows.
    [[nodiscard]] bool is_removed() const override;
    // True if it is a cluster of one although it is configured with peers.
    [[nodiscard]] bool is_alone_by_mistake() const;
    // What only this node knows about why it is not ready; empty if it is ready, or if the rest of
    // the status says everything.
    [[nodiscard]] std::string why_not_ready() const;
    [[nodiscard]] Metrics metrics() const override;

    // --- for the client desk
    [[nodiscard]] const Config& config() const { return parts_.config; }
    [[nodiscard]] core::NodeId self() const { return options_.self; }
    // What the certificate of this node allows.
    [[nodiscard]] const core::Access& access() const { return options_.access; }
    [[nodiscard]] bool is_ready() const { return ready_; }
    [[nodiscard]] core::Instant began() const { return began_; }
    [[nodiscard]] core::EntryLoad client_load() const {
        return {driver().core().clients().places().size(), options_.client_places};
    }
    [[nodiscard]] bool is_insecure() const {
        return network_ && !parts_.credentials && network_->is_reachable_from_outside();
    }
    [[nodiscard]] const Driver& driver() const { return *driver_; }
    [[nodiscard]] AheadObservers& ahead() { return ahead_; }
    void submit(core::Call call, std::function<void(core::CallAnswer&)> answered);
    // Answers with a Viewed when this node has applied everything that was committed before.
    void catch_up(std::function<void(core::CallAnswer&)> answered);
    void step(core::Event event);
    [[nodiscard]] bool is_connected(core::NodeId peer) const { return connected_.contains(peer); }

private:
    // suspend.cpp
    void superseded() override;
    void copied() override;
    void introduced(core::Hello caller) override;
    void refused(core::NodeId by, transport::Refusal why) override;
    void unreached(core::NodeId peer, const std::string& why) override;
    void let_calls_wait();

    // core_loop.cpp: events
    void begin_calls(SubmittedCalls taken);
    core::Hello hello() override;
    void peer_up(core::Hello peer) override;
    void peer_down(core::NodeId peer) override;
    void received(core::NodeId from, core::PeerMessage message) override;
    void after_step(core::Instant began);
    void tell_observers();
    [[nodiscard]] core::Instant deadline() const;
    void set_timer();
    void timer_fired();
    void warn_of_pause(core::Instant due);

    // report.cpp
    [[nodiscard]] std::string why_not_formed() const;
    [[nodiscard]] std::string why_not_formed_alone() const;
    [[nodiscard]] std::string why_not_brought_back(const core::ClusterId& former) const;
    [[nodiscard]] Metrics counters() const;
    void watch_leader();
    void warn_of_insecurity();
    void warn_of_timing(const core::Hello& peer);
    [[nodiscard]] std::string missing_peers() const;
    [[nodiscard]] std::string doubts_in_words() const;
    [[nodiscard]] std::string why_missing(core::NodeId peer) const;
    [[nodiscard]] std::string peers_that_disagree() const;
    void watch_ready();
    void cluster_formed();
    void members_changed();
    void warn_of_missing_peers();
    [[nodiscard]] std::map<core::NodeId, std::string> present_members() const;
    [[nodiscard]] std::string why_not_ready_now() const;
    void report_overrun(Duration took);
    void connect_to_peers();
    [[nodiscard]] bool is_member(core::NodeId id) const;
    [[nodiscard]] std::optional<std::string> moved_to(core::NodeId id) const;
    // Whether only loopback addresses are dialled of those that an unknown caller names.
    [[nodiscard]] bool dials_loopback_only() const;

    // close.cpp
    void stop_network();
    void stopped(const std::string& reason) override;
    void hand_over_leadership();
    void watch_hand_over();
    void closed();

    // publish.cpp: effects
    void send(core::NodeId to, core::PeerMessage message) override;
    void flush() override;
    void set_peers(const std::vector<core::Member>& peers) override;
    void disconnect(core::NodeId peer) override;
    void notify(core::ClientId client, const core::ClientNotice& notice) override {
        desk_.notify(client, notice);
    }
    void disconnect(core::ClientId client) override { desk_.disconnect(client); }
    void hang_up(core::ClientId client) override { desk_.hang_up(client); }
    void applied(const core::Applied& applied) override;
    void appended(core::LogIndex last) override;
    void lock_broken(const core::LockBroken& broken);
    void lost(const core::HoldLost& lost) override;
    void suspended(core::OperationId hold) override { program_.holds().suspended(hold); }
    void contended(const core::Contended& contended) override {
        program_.holds().contended(contended);
    }
    void lease_changed(const core::LeaseChanged& lease) override;
    void answered(core::CallAnswer answer) override;
    void state_replaced(core::LogId last) override;
    void noted(const core::Note& note) override;

    LoopParts parts_;
    core::NodeOptions options_;
    asio::steady_timer timer_;
    core::Instant timer_at_ = core::Instant::never();
    core::Instant fired_at_;    // when the timer fired last
    core::Nanoseconds asleep_;  // how long the machine was suspended since its start
    std::unique_ptr<Driver> driver_;
    AheadObservers ahead_;
    ClientDesk desk_;
    std::unique_ptr<transport::PeerNetwork> network_;
    std::vector<int> doors_;  // listening sockets that are watched

    ProgramSide program_;
    std::map<core::NodeId, core::Hello> connected_;
    struct Refused {
        transport::Refusal why;
        core::Instant at;
    };
    // the peers that refuse this node, until they are up again
    std::map<core::NodeId, Refused> refused_by_;
    // why the newest attempt to connect to a peer failed, until it is up
    std::map<core::NodeId, std::string> unreached_;
    // the time of day, for people, when a connection with a peer was lost
    std::map<core::NodeId, std::time_t> lost_at_;
    // the differing times that were reported
    std::map<core::NodeId, std::string> warned_of_timing_;
    std::vector<core::Member> peers_;  // the peers as the core named them
    // callers that claimed to be members since then
    std::map<core::NodeId, std::string> introduced_;
    std::map<core::NodeId, std::string> members_;  // and their addresses, as last reported
    std::optional<core::NodeId> leader_;
    core::CallTag close_tag_;
    std::function<void()> closed_;
    bool handing_over_ = false;
    bool ready_ = false;
    bool ended_ = false;
    std::optional<std::string> suspended_;  // the reason
    std::string listening_at_;              // while suspended
    core::Instant began_;
    core::Instant step_began_;
    core::Instant overrun_told_at_;  // by an event
    core::LogId had_;  // the end of its log at its start: an earlier run has reported these entries
    CommitTimes commits_;
    AgeWatch ages_;
    asio::steady_timer insecurity_;
};

}  // namespace mortise::detail
