// Runs that failed once, which are kept and repeated. A line is what follows `./dev sim` to replay
// it, and after a # its cause:
//
//   --seed 709 --steps 3000 --without pause,crash   # a member that is being left owes no progress
//
// Empty lines and comment lines are skipped.
#pragma once

#include <iosfwd>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/sim/run/simulation.hpp"

namespace mortise::sim {

class BadList : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct Listed {
    RunOptions options;
    std::string what;  // the cause of the failure
};

// Throws BadList, which names the line.
[[nodiscard]] std::vector<Listed> read_list(std::istream& in);

}  // namespace mortise::sim
