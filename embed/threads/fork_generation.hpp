// Detects the child of a fork (S25), in which only the memory of the library exists: its threads do
// not, and locks may be held for ever. This is one of two globals; the other belongs to FenceGate
// (gated_resources.cpp).
#pragma once

#include <atomic>
#include <cstdint>

namespace mortise::detail {

// Remembers the process in which it was made. The check takes no lock and costs one load.
class ForkGeneration {
public:
    // Throws std::system_error without memory, the first time.
    ForkGeneration();
    // True in every child of that process.
    [[nodiscard]] bool is_forked() const {
        return present_.load(std::memory_order_relaxed) != made_in_;
    }

private:
    static std::atomic<std::uint64_t> present_;
    static void forked();
    static bool watch_forks();

    std::uint64_t made_in_;
};

}  // namespace mortise::detail
