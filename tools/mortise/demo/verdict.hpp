#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/mortise/demo/fenced_log.hpp"

namespace mortise::cli {

struct Verdict {
    std::vector<std::string> violations;
    std::size_t grants = 0;  // grants with at least one write
    std::size_t accepted = 0;
    std::size_t refused = 0;
    std::size_t losses = 0;
    std::size_t kills = 0;
    std::size_t partitions = 0;
    std::size_t power_cuts = 0;
    std::size_t eras = 0;
    std::size_t grants_after = 0;  // those that began after the newest power cut

    [[nodiscard]] bool holds() const { return violations.empty(); }
};

// What is to happen.
enum class Story : std::uint8_t { faults, power_cut };

// Judges by the log alone. The store is not trusted: whether it compared tokens correctly is
// judged, too. A log without events proves nothing, so it is a violation as well.
[[nodiscard]] Verdict judge(const std::vector<LogRecord>& records, Story story);

}  // namespace mortise::cli
