// Linked into a program, it counts what the program asks of operator new.
#pragma once

#include <cstdint>

namespace mortise::bench {

struct Allocations {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;

    friend Allocations operator-(const Allocations& one, const Allocations& two) {
        return {one.count - two.count, one.bytes - two.bytes};
    }
    Allocations& operator+=(const Allocations& more) {
        count += more.count;
        bytes += more.bytes;
        return *this;
    }
};

// Since the program began; for programs with one thread.
[[nodiscard]] Allocations allocations_so_far();

}  // namespace mortise::bench
