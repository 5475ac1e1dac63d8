// A voter's part of the quorum timers: it counts each of them down on its own steady clock (S5).
// There are two kinds. The lease of a session runs for ttl*(1+rho) from when its last renewal was
// applied (S4); a closure keeps a name closed, or limits a hold (S8, S9, S24). A countdown that
// never ran, or is not running, has not elapsed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/base/instant.hpp"
#include "core/leases/renewed_lease.hpp"
#include "core/locks/command.hpp"

namespace mortise::core {

// What a voter saves on disk again and again, so that a restart does not begin from zero.
template <typename Timer>
struct SavedCountdown {
    Timer timer;
    Nanoseconds elapsed{};

    friend bool operator==(const SavedCountdown&, const SavedCountdown&) = default;
};
struct SavedCountdowns {
    std::vector<SavedCountdown<RenewedLease>> leases{};
    std::vector<SavedCountdown<ClosureId>> closures{};

    friend bool operator==(const SavedCountdowns&, const SavedCountdowns&) = default;
};

struct CountdownTimes {
    Nanoseconds patience;
    Nanoseconds save_period;  // a node that restarts counts less than this time twice
};
[[nodiscard]] CountdownTimes lease_times(const OpenSession& opened);
[[nodiscard]] CountdownTimes closure_times(std::uint32_t time_ms, std::uint32_t rho_ppm);

// `Timer` is RenewedLease or ClosureId. Of one session only the newest lease is counted down.
template <typename Timer>
class Countdowns {
public:
    using Id = decltype(id_of(std::declval<Timer>()));

    // Starts the countdown with `elapsed` already over. None of that id may be running.
    void start(const Timer& timer, const CountdownTimes& times, Nanoseconds elapsed, Instant now);
    void stop(Id id);

    // The elapsed part of the countdown; zero if it does not run.
    [[nodiscard]] Nanoseconds elapsed(const Timer& timer, Instant now) const;
    // The rest of it; empty if it does not run.
    [[nodiscard]] std::optional<Nanoseconds> left(const Timer& timer, Instant now) const;

    // The elapsed ones, until they are stopped; they are reported again and again.
    [[nodiscard]] const std::set<Timer>& run_out() const { return run_out_; }
    // Moves the countdowns that have elapsed by now to run_out().
    void advance(Instant now);
    // When the next one elapses, or all have to be saved again.
    [[nodiscard]] Instant deadline() const;

    [[nodiscard]] std::vector<SavedCountdown<Timer>> save(Instant now) const;
    // When the next save is due; never while nothing runs.
    [[nodiscard]] Instant save_at() const { return save_at_; }
    void saved(Instant now);

private:
    struct Running {
        Timer timer;
        Instant started;
        Instant ends;
        Nanoseconds save_period{};
    };
    [[nodiscard]] const Running* find(const Timer& timer) const;

    std::map<Id, Running> running_;
    std::set<std::pair<Instant, Id>> by_end_;
    std::set<Timer> run_out_;
    Instant save_at_ = Instant::never();
};

extern template class Countdowns<RenewedLease>;
extern template class Countdowns<ClosureId>;

}  // namespace mortise::core
