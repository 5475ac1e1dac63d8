// Every voter counts down every session, ttl*(1+rho) from when it applied the session's last
// renewal, on its own steady clock (S4, S5). A countdown that never ran, or is not running, has not
// run out.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "core/base/instant.hpp"
#include "core/leases/run_out.hpp"
#include "core/locks/command.hpp"

namespace mortise::core {

// What a voter keeps on disk every ttl/8, so that a restart does not begin again from nothing. Of a
// session, or of a closure.
struct SavedCountdown {
    SessionId session;
    LogIndex renewed_at;
    Nanoseconds elapsed{};
    ClosureId closure{};

    friend bool operator==(const SavedCountdown&, const SavedCountdown&) = default;
};

class Countdowns {
public:
    // Starts the session's countdown again, from `elapsed` on.
    void start(const OpenSession& opened, SessionId session, LogIndex renewed_at,
               Nanoseconds elapsed, Instant now);
    void stop(SessionId session);
    // How much is over of the countdown for the renewal at that index; nothing if it does not run.
    [[nodiscard]] Nanoseconds elapsed(SessionId session, LogIndex renewed_at, Instant now) const;

    // Those that ran out, until the session ends or is renewed: told again and again.
    [[nodiscard]] const std::set<RunOut>& run_out() const { return run_out_; }
    // Moves to run_out() what ran out by now.
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
// ttl*(1-rho) less a margin, rounded down: what a holder trusts. The margin covers the time between
// a look at the clock and what is done about it.
[[nodiscard]] Nanoseconds holder_trust(std::uint32_t ttl_ms, std::uint32_t rho_ppm);

}  // namespace mortise::core
