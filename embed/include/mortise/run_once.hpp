// A job that runs once in a cluster, however many nodes try to run it: for cron and its like.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include <mortise/duration.hpp>
#include <mortise/fencing_token.hpp>
#include <mortise/hold.hpp>

namespace mortise {

class Node;

enum class RunEnd : std::uint8_t {
    running,      // it has not ended yet
    finished,     // the job returned
    failed,       // the job threw an exception
    interrupted,  // its process died or was cut off, or the lock was broken
};

// The newest run of a job.
struct LastRun {
    RunEnd end = RunEnd::finished;
    std::string outcome{};  // what the job returned, or the text of its exception
    FencingToken token{};   // of the hold of that run

    friend bool operator==(const LastRun&, const LastRun&) = default;
};

// What a job receives.
struct JobRun {
    const Hold& hold;  // writes of the job carry its token; hold.valid() tells whether to go on
    std::optional<LastRun> last{};  // the run before this one, if there was one
};

struct RunOptions {
    std::string label{};                     // as in AcquireOptions
    Duration lock_delay = Duration::zero();  // as in AcquireOptions
};

namespace detail {
using Job = std::function<std::string(const JobRun&)>;
bool run_once_per(Node& node, std::string_view name, Duration interval, const Job& job,
                  const RunOptions& options);
}  // namespace detail

// Runs `job` on this thread, unless a run of that name has begun less than `interval` ago anywhere
// in the cluster, or still runs. Returns whether it ran.
//
// - The clocks of a majority measure the interval, from the beginning of the run (min_hold, S8). It
//   does not matter which node the clock of whose cron is late, nor whether the process that ran
//   the job died. The interval may end about 1 % later (timing.clock_rate_bound), so make it
//   clearly shorter than the period of the schedule: 12 h for a job of each night.
// - The job is called with a `const JobRun&` and returns nothing, or a text: the outcome, which is
//   stored in the cluster as the value of the name (S36), cut after 4,000 bytes. last_run() shows
//   it, and the next run receives it.
// - If the job throws, the text of the exception is stored instead, and the exception is passed
//   on. The interval counts all the same.
// - It runs at most once in each interval, and not at all in one whose run was lost: if its process
//   died, or could not reach the cluster when it was about to begin. After Node::break_lock() of
//   the name it may run again at once.
//
// Use the name for nothing else. Blocks while the job runs, and otherwise like Node::try_acquire.
// Thread-safe. Throws LockError as Node::try_acquire and Hold::set_value do. Of these, lock_lost
// means that the job was interrupted: another node may run it once the interval is over.
// invalid_argument: the interval is not between 1 ns and 24 days. kind_mismatch: the name has a
// value that this function did not write.
template <class Job>
requires std::is_invocable_v<Job&, const JobRun&>
bool run_once_per(Node& node, std::string_view name, Duration interval, Job&& job,
                  const RunOptions& options = {}) {
    const auto call = [&job](const JobRun& run) -> std::string {
        if constexpr (std::is_void_v<std::invoke_result_t<Job&, const JobRun&>>) {
            std::invoke(job, run);
            return {};
        } else {
            return std::invoke(job, run);
        }
    };
    return detail::run_once_per(node, name, interval, call, options);
}

// The newest run of that name; empty if there was none. Blocks like Node::inspect(), and fails like
// it.
[[nodiscard]] std::optional<LastRun> last_run(Node& node, std::string_view name);
[[nodiscard]] std::optional<LastRun> last_run(Node& node, std::string_view name,
                                              std::error_code& ec);

}  // namespace mortise
