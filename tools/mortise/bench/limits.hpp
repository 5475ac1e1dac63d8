// Measures the limits of this machine: a lock that a majority has on disk cannot be faster than
// these.
#pragma once

#include <chrono>
#include <filesystem>

#include "tools/mortise/bench/latency.hpp"

namespace mortise::cli {

// Appends of 256 bytes to a new file in that directory, each followed by fdatasync.
[[nodiscard]] Quantiles measure_sync(const std::filesystem::path& directory,
                                     std::chrono::seconds time);
// Round trips of 64 bytes over loopback TCP, between two threads.
[[nodiscard]] Quantiles measure_round_trip(std::chrono::seconds time);

}  // namespace mortise::cli
