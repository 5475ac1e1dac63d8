// What this machine can do at best: no lock that a majority has on disk is quicker than that.
#pragma once

#include <chrono>
#include <filesystem>

#include "tools/mortise/bench/latency.hpp"

namespace mortise::cli {

// Appends of 256 bytes to a new file there, each followed by fdatasync.
[[nodiscard]] Quantiles measure_sync(const std::filesystem::path& directory,
                                     std::chrono::seconds time);
// 64 bytes there and back over loopback TCP, between two threads.
[[nodiscard]] Quantiles measure_round_trip(std::chrono::seconds time);

}  // namespace mortise::cli
