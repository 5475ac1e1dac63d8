// Whether the run measures a cluster that acknowledges from memory (bench/run.py --durability).
#pragma once

#include <cstdlib>
#include <string_view>

namespace mortise::bench {

[[nodiscard]] inline bool is_replicated() {
    const auto* wanted = std::getenv("MORTISE_BENCH_DURABILITY");
    return wanted != nullptr && std::string_view{wanted} == "replicated";
}

}  // namespace mortise::bench
