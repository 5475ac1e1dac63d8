// Runs that failed once, kept so that they are tried for ever. A line is what follows `./dev sim`
// to replay it, and behind a # what it was:
//
//   --seed 709 --steps 3000 --without pause,crash   # a member that is being left owes no progress
//
// Empty lines, and those of a comment alone, say nothing.
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
    std::string what;  // it was
};

// Throws BadList, which names the line.
[[nodiscard]] std::vector<Listed> read_list(std::istream& in);

}  // namespace mortise::sim
