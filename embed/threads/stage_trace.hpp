// When a call passes each stage of its way, for ./dev bench --trace. Built with MORTISE_TRACE only;
// otherwise stage() does nothing.
#pragma once

#include <cstdint>
#include <vector>

namespace mortise::detail {

enum class Stage : std::uint8_t {
    submitted,  // on the thread of the caller
    taken,      // by the core thread
    sent,       // messages to other nodes
    received,   // a message of another node
    writing,    // the log thread begins to write
    synced,     // the log is on this node's disk
    written,    // the core thread knows
    answered,   // the call is complete
    woken,      // the caller continues
};

struct StageTime {
    Stage stage = Stage::submitted;
    std::int64_t at_ns = 0;  // of CLOCK_MONOTONIC, which all processes of a machine share
};

#ifdef MORTISE_TRACE
// Thread-safe. What is recorded beyond a limit is dropped.
void stage(Stage stage) noexcept;
// What was recorded since the last call, in the order of the times. No stage may be passed
// meanwhile.
[[nodiscard]] std::vector<StageTime> take_stages();
#else
inline void stage(Stage /*stage*/) noexcept {}
[[nodiscard]] inline std::vector<StageTime> take_stages() {
    return {};
}
#endif

}  // namespace mortise::detail
