// Histories as JSON lines, one call a line:
//
//   {"process": "a", "operation": "acquire", "name": "x", "mode": "exclusive", "invoke": 10,
//    "return": 20, "outcome": "granted", "token": "7", "valid_until": 900}
//
// Words are those of the enumerators, with `try` for try_acquire. Left out where there is none:
// `return` (the call never did), `mode` (exclusive), `outcome`, `token`, `valid_until`, `hold`
// (a number). Tokens are strings, as everywhere in JSON. Times are nanoseconds.
#pragma once

#include <iosfwd>
#include <stdexcept>
#include <string>

#include "tests/check/call.hpp"

namespace mortise::check {

class BadHistory : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Throws BadHistory, which names the line.
[[nodiscard]] Calls read_history(std::istream& in);
// Without the newline.
[[nodiscard]] std::string to_line(const Call& call);

}  // namespace mortise::check
