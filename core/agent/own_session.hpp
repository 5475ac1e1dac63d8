// This node's session in the cluster: how it is opened, renewed and acknowledged, and how long its
// holds may trust its lease (S1-S3, S10, S17).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "core/agent/call.hpp"
#include "core/base/instant.hpp"
#include "core/base/prng.hpp"
#include "core/leases/own_lease.hpp"
#include "core/locks/command.hpp"
#include "core/locks/outcome.hpp"

namespace mortise::core {

// A member that is cut off from the log asks so often for its session, and then lets it end
// (decision 0005).
constexpr std::uint32_t renewals_unseen_max = 16;

struct AgentOptions {
    NodeId node;
    Generation generation;
    // The former process on this directory is known to be dead (S10).
    bool former_life_ended = false;
    std::uint32_t ttl_ms = 10'000;
    std::uint32_t rho_ppm = 10'000;
    Nanoseconds call_timeout{std::chrono::seconds{10}};
    Nanoseconds resend_after{std::chrono::seconds{1}};
    Access access = Access::all();  // of this node's certificate
    // Requests that take something up, sent and not known to be applied; with those that end
    // something twice as many.
    std::size_t window = 2'048;
};

class OwnSession {
public:
    OwnSession(const AgentOptions& options, Prng prng, Now now);

    // --- what happens

    // Gives the present session up and asks for another one.
    void open(Now now);
    // The former process's sessions on this directory would be this node's own from now on.
    void former_life_is_this_one() { options_.former_life_ended = false; }
    // False when this node did not ask for that one.
    bool on_opened(const SessionOpened& opened, Now now);
    void on_refused(const OpenRefused& refused, Now now);
    void on_renewed(std::uint64_t number, Now now);
    // An answer to a request of this session was applied at that index.
    void on_answer(LogIndex at) { received_ = at; }
    void on_leader(bool known, Now now);
    // Something was applied here: this node still learns what the cluster decides.
    void on_progress(Now now);
    void on_timer(Now now);
    // A renewal goes out with this step, unless nothing can come of it.
    void renew(Now now);
    // It is about to end in an orderly way: it is renewed no more.
    void stop_renewing() { renews_ = false; }
    // True once when its lease runs out.
    [[nodiscard]] bool lapses(Now now);

    // --- what goes out

    [[nodiscard]] std::optional<OpenSession> take_opening(Now now);
    [[nodiscard]] std::optional<Renewal> take_renewal(Now now);
    // To go with what is sent anyway: that everything up to the newest answer was received. Once,
    // unless the cluster may not have heard it.
    [[nodiscard]] std::optional<Acknowledge> take_acknowledgement();
    void acknowledge_again() { acknowledged_ = {}; }
    [[nodiscard]] std::optional<LeaseChanged> take_lease_change();

    // --- what is so

    // Not set while it is being opened.
    [[nodiscard]] std::optional<SessionId> id() const { return id_; }
    [[nodiscard]] bool is_valid(Now now) const { return !lapsed_ && lease_.is_valid(now.boot); }
    // As of the newest change that was told: holds granted until its lease ran out stay lost.
    [[nodiscard]] bool has_lapsed() const { return lapsed_; }
    [[nodiscard]] bool is_leader_known() const { return leader_known_; }
    [[nodiscard]] std::uint64_t newest_renewal() const { return lease_.newest(); }
    // Of the steady clock.
    [[nodiscard]] Instant deadline(Now now) const;

private:
    void tell_lease(Now now);

    AgentOptions options_;
    Prng prng_;
    OpenSession opening_;
    std::optional<Instant> opening_sent_;  // the first time, by the boot clock
    Instant open_again_at_;
    std::optional<SessionId> id_;
    OwnLease lease_;
    bool lapsed_ = true;
    bool renews_ = true;
    bool renewal_due_ = false;
    Instant renew_at_ = Instant::never();
    std::uint32_t renewals_unseen_ = 0;  // sent since anything was applied here
    bool leader_known_ = false;
    LogIndex received_;      // the newest index at which an answer came
    LogIndex acknowledged_;  // as the cluster was told
    std::optional<LeaseChanged> changed_;
};

}  // namespace mortise::core
