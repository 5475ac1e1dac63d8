#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/mortise/demo/fenced_log.hpp"

namespace mortise::cli {

struct Verdict {
    std::vector<std::string> violations;
    std::size_t grants = 0;  // that wrote something
    std::size_t accepted = 0;
    std::size_t refused = 0;
    std::size_t losses = 0;
    std::size_t kills = 0;
    std::size_t partitions = 0;

    [[nodiscard]] bool holds() const { return violations.empty(); }
};

// From the log alone. Nothing is taken on trust from the store: that it compared tokens well is
// judged too. A log in which nothing happened proves nothing, and that is a violation as well.
[[nodiscard]] Verdict judge(const std::vector<LogRecord>& records);

}  // namespace mortise::cli
