// The output of a worker for the process that started it: lines on its standard output, from any
// thread.
#pragma once

#include <iostream>
#include <mutex>
#include <string>

#include "tests/support/history_writer.hpp"

namespace mortise::tests {

inline void say(const std::string& line) {
    static std::mutex printing;
    const std::scoped_lock lock{printing};
    std::cout << line << std::endl;
}

inline std::string boot_time() {
    return std::to_string(boot_nanoseconds());
}

}  // namespace mortise::tests
