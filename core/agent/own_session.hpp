// This node's session in the cluster: how it is opened, renewed and acknowledged, and how long its
// holds may rely on its lease (S1-S3, S10, S17).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "core/agent/call.hpp"
#include "core/base/instant.hpp"
#include "core/base/prng.hpp"
#include "core/leases/own_lease.hpp"
#include "core/locks/command.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/outcome.hpp"

namespace mortise::core {

// A member that does not receive the log sends this many renewals, and then lets its session end
// (decision 0005).
constexpr std::uint32_t renewals_unseen_max = 16;

struct AgentOptions {
    NodeId node;
    Generation generation;
    // The earlier process on this directory is known to have ended (S10).
    bool former_life_ended = false;
    std::uint32_t ttl_ms = 10'000;
    std::uint32_t rho_ppm = 10'000;
    Nanoseconds call_timeout{std::chrono::seconds{10}};
    Nanoseconds resend_after{std::chrono::seconds{1}};
    // How long a try waits for the nodes that have the name cached (S43).
    Nanoseconds recall_timeout{std::chrono::seconds{1}};
    Access access = Access::all();  // by this node's certificate
    // The number of acquiring requests that may be sent and not known to be applied.
    // Including releases and cancels it is twice as many.
    std::size_t window = 2'048;
    // A call with less time than this may be over before an answer can come.
    Nanoseconds answer_time{std::chrono::milliseconds{100}};
    std::size_t batch_bytes = batch_bytes_max / 4;  // a batch ends with the request that exceeds it
    Origin origin{};                                // of the sessions that it opens
};

class OwnSession {
public:
    OwnSession(const AgentOptions& options, Prng prng, Now now);

    // --- events

    // Abandons the present session and requests another one.
    void open(Now now);
    // This process has had a session by now. The next opening must not end the former sessions of
    // this directory, because one of them is its own.
    void former_run_is_this_one() { options_.former_life_ended = false; }
    // False if this node did not request that session, or does not use it.
    bool on_opened(const SessionOpened& opened, Now now);
    void on_refused(const OpenRefused& refused, Now now);
    void on_renewed(std::uint64_t number, Now now);
    // The answer to a request of this session was applied at that index.
    void on_answer(LogIndex at) { received_ = at; }
    void on_leader(bool known, Now now);
    // An entry was applied here, so this node still receives the log.
    void on_progress(Now now);
    void on_timer(Now now);
    // A renewal is sent with this step, unless it would be useless.
    void renew(Now now);
    // The session is about to be closed, so it is not renewed any more.
    void stop_renewing() { renews_ = false; }
    // The cluster does not renew the session any more (S24), so nothing may rely on its lease.
    void evicted() {
        stop_renewing();
        renewal_due_ = false;
        lapsed_ = true;
    }
    // True once, when its lease has ended.
    [[nodiscard]] bool lapses(Now now);

    // --- what is sent

    [[nodiscard]] std::optional<OpenSession> take_opening(Now now);
    [[nodiscard]] std::optional<Renewal> take_renewal(Now now);
    // An acknowledgement, sent together with other requests, that everything up to the newest
    // answer was received. It is sent once, unless it may have been lost.
    [[nodiscard]] std::optional<Acknowledge> take_acknowledgement();
    void acknowledge_again() { acknowledged_ = {}; }
    [[nodiscard]] std::optional<LeaseChanged> take_lease_change();

    // --- queries

    // The nonce of the present session, or of the one that is being opened.
    [[nodiscard]] std::uint64_t nonce() const { return opening_.nonce; }
    // Not set while the session is being opened.
    [[nodiscard]] std::optional<SessionId> id() const { return id_; }
    [[nodiscard]] bool is_valid(Now now) const { return !lapsed_ && lease_.is_valid(now.boot); }
    // True from when the end of the lease is noticed until a renewal extends it. Holds that were
    // granted before the end stay lost.
    [[nodiscard]] bool has_lapsed() const { return lapsed_; }
    [[nodiscard]] bool is_leader_known() const { return leader_known_; }
    [[nodiscard]] std::uint64_t newest_renewal() const { return lease_.newest(); }
    // On the steady clock.
    [[nodiscard]] Instant deadline(Now now) const;

private:
    void report_lease(Now now);

    AgentOptions options_;
    Prng prng_;
    OpenSession opening_;
    std::optional<Instant> opening_sent_;  // the first time, on the boot clock
    Instant open_again_at_;
    // Not before, whatever else happens (P11).
    Instant refused_until_{std::numeric_limits<std::int64_t>::min()};
    std::optional<SessionId> former_;  // the session before
    std::optional<SessionId> id_;
    OwnLease lease_;
    bool lapsed_ = true;
    bool renews_ = true;
    bool renewal_due_ = false;
    Instant renew_at_ = Instant::never();
    std::uint32_t renewals_unseen_ = 0;  // sent since an entry was last applied here
    bool leader_known_ = false;
    LogIndex received_;      // the newest index with an answer
    LogIndex acknowledged_;  // the index that the cluster was sent
    std::optional<LeaseChanged> changed_;
};

}  // namespace mortise::core
