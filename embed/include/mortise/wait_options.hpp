// The options of a wait that ends without a hold.
#pragma once

#include <stop_token>
#include <string>

#include <mortise/duration.hpp>

#include <mortise/detail/macros_aside.hpp>

namespace mortise {

// An aggregate: name the members that you set. New members are added at the end.
//
//   ready.wait({.label = "worker 3", .wait_max = 5s});
struct WaitOptions {
    std::string label{};                  // at most 256 bytes; inspect() shows it
    Duration wait_max = Duration::max();  // after this time the wait throws timed_out;
                                          // zero or less: it does not wait
    std::stop_token cancel{};             // a stop request ends the wait with Errc::cancelled
};

}  // namespace mortise

#include <mortise/detail/macros_back.hpp>
