// What the machine itself costs: the floor is judged by it.
#pragma once

#include <filesystem>

#include "bench/measure/histogram.hpp"
#include "bench/measure/window.hpp"

namespace mortise::bench {

// Appends of 256 bytes to a new file there, each with a sync.
[[nodiscard]] Histogram measure_sync(const std::filesystem::path& directory, Seconds time);
// 64 bytes there and back between two threads.
[[nodiscard]] Histogram measure_round_trip(Seconds time);

}  // namespace mortise::bench
