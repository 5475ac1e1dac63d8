// One call of one process, as it saw it from outside: what a history is made of.
//
// Times are of one clock for the whole history: the simulator's true time, or CLOCK_BOOTTIME of the
// one machine that all processes ran on.
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
    lost,   // it learned that a hold is lost: `invoked` is when it last saw it valid
    valid,  // it looked, and the hold was valid
    died,   // the process; without a name: all its holds are on their own
};

enum class Outcome : std::uint8_t {
    granted,
    busy,       // of a try: somebody else has it
    refused,    // definitely without effect: a circle, too many, no such thing
    timed_out,  // nobody has it by this call in the end; for a while it may have been granted
    cancelled,  // the same
    unknown,    // may take effect at any later time, or never. No answer came: the same
    released,
    lost,      // of a release: it was lost before
    not_held,  // of a release: the cluster knows of no such hold
    none,      // of what has no outcome
};

struct Call {
    std::string process;
    Operation operation = Operation::acquire;
    std::string name;
    core::LockMode mode = core::LockMode::exclusive;
    Time invoked = 0;
    std::optional<Time> returned;  // empty: it never did
    Outcome outcome = Outcome::none;
    std::uint64_t token = 0;
    std::optional<Time> valid_until;  // as the holder knew it when the call returned
    // Which of its holds the process means, by a number of its own; 0: it does not say. A call that
    // asks for one says here what it will be called.
    std::uint64_t hold = 0;
    std::size_t line = 0;  // where it was read, for a person

    friend bool operator==(const Call&, const Call&) = default;
};

using Calls = std::vector<Call>;

[[nodiscard]] inline bool asks(const Call& call) {
    return call.operation == Operation::acquire || call.operation == Operation::try_acquire;
}

}  // namespace mortise::check
