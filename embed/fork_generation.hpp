// What is left of the library in the child of a fork (S25): memory, without the threads that it
// belongs to, and with locks that nobody will ever open. One of two globals; the
// other is behind FenceGate (gate_entries.cpp).
#pragma once

#include <cstdint>

namespace mortise::detail {

// Remembers the process that it was made in. Asking takes no lock, and costs one load.
class ForkGeneration {
public:
    // Throws std::system_error when there is no memory, the first time.
    ForkGeneration();
    // True in every child of that process.
    [[nodiscard]] bool is_forked() const;

private:
    std::uint64_t made_in_;
};

}  // namespace mortise::detail
