// One call of one process, as seen from outside: the element of a history.
//
// All times of a history are of one clock: the simulator's true time, or CLOCK_BOOTTIME of the one
// machine on which all processes ran.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/locks/lock_mode.hpp"

namespace mortise::check {

using Time = std::int64_t;  // nanoseconds

enum class Operation : std::uint8_t {
    acquire,
    try_acquire,
    release,
    lost,   // it learned that a hold is lost: `invoked` is when the hold was last seen valid
    valid,  // it checked, and the hold was valid
    died,   // the process died; without a name: all its holds are orphaned
};

enum class Outcome : std::uint8_t {
    granted,
    busy,       // for a try: another process has it
    refused,    // certainly without effect: a wait cycle, a limit, an unknown name
    timed_out,  // the call holds nothing in the end; for a while it may have been granted
    cancelled,  // likewise
    unknown,    // may take effect at any later time, or never; likewise without an answer
    released,
    lost,      // for a release: it was lost before
    not_held,  // for a release: the cluster knows no such hold
    none,      // for operations without an outcome
};

struct Call {
    std::string process;
    Operation operation = Operation::acquire;
    std::string name;
    core::LockMode mode = core::LockMode::exclusive;
    Time invoked = 0;
    std::optional<Time> returned;  // empty: it did not return
    Outcome outcome = Outcome::none;
    std::uint64_t token = 0;
    std::optional<Time> valid_until;  // as known when the call returned
    // Which of its holds the process means, by its own number; 0: unknown. An acquire gives its
    // hold this number.
    std::uint64_t hold = 0;
    std::size_t line = 0;  // where it was read, for a message

    friend bool operator==(const Call&, const Call&) = default;
};

using Calls = std::vector<Call>;

[[nodiscard]] inline bool asks(const Call& call) {
    return call.operation == Operation::acquire || call.operation == Operation::try_acquire;
}

}  // namespace mortise::check
