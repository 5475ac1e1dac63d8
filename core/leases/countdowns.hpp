// Every voter counts down every session for ttl*(1+rho) from when it applied the session's last
// renewal, on its own steady clock (S4, S5). A countdown that never ran, or is not running, has not
// elapsed.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "core/base/instant.hpp"
#include "core/leases/run_out.hpp"
#include "core/locks/command.hpp"

namespace mortise::core {

// What a voter saves on disk every ttl/8, so that a restart does not begin from zero. For a session
// or for a quorum timer.
struct SavedCountdown {
    SessionId session;
    LogIndex renewed_at;
    Nanoseconds elapsed{};
    ClosureId closure{};

    friend bool operator==(const SavedCountdown&, const SavedCountdown&) = default;
};

class Countdowns {
public:
    // Restarts the countdown of the session with `elapsed` already over.
    void start(const OpenSession& opened, SessionId session, LogIndex renewed_at,
               Nanoseconds elapsed, Instant now);
    void stop(SessionId session);
    // The elapsed part of the countdown for the renewal at that index; zero if it does not run.
    [[nodiscard]] Nanoseconds elapsed(SessionId session, LogIndex renewed_at, Instant now) const;

    // The elapsed ones, until the session ends or is renewed; they are reported again and again.
    [[nodiscard]] const std::set<RunOut>& run_out() const { return run_out_; }
    // Moves the countdowns that have elapsed by now to run_out().
    void advance(Instant now);
    [[nodiscard]] Instant deadline() const;

    [[nodiscard]] std::vector<SavedCountdown> save(Instant now) const;
    // When the next save is due; never while nothing runs.
    [[nodiscard]] Instant save_at() const { return save_at_; }
    void saved(Instant now);

private:
    struct Running {
        LogIndex renewed_at;
        Instant started;
        Instant ends;
        Nanoseconds ttl{};
    };

    std::map<SessionId, Running> running_;
    std::set<std::pair<Instant, SessionId>> by_end_;
    std::set<RunOut> run_out_;
    Instant save_at_ = Instant::never();
};

// ttl*(1+rho), rounded up: what a voter waits.
[[nodiscard]] Nanoseconds cluster_patience(std::uint32_t ttl_ms, std::uint32_t rho_ppm);
// ttl*(1-rho) less a margin, rounded down: the time that a holder trusts its lease. The margin
// covers the time between a reading of the clock and the action that depends on it.
[[nodiscard]] Nanoseconds holder_trust(std::uint32_t ttl_ms, std::uint32_t rho_ppm);

}  // namespace mortise::core
