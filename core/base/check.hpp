// The handling of our own mistakes. A broken invariant throws out of the core; the driver catches
// the exception, never uses that core again and stops the node, not the host (P5).
#pragma once

#include <stdexcept>

namespace mortise::core {

class InvariantBroken : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

[[noreturn]] void invariant_broken(const char* expression, const char* file, int line);

}  // namespace mortise::core

// Enabled in every build. For mistakes of this library only, never for what a peer, a disk or a
// caller sent.
#define MORTISE_CHECK(expression)  \
    (static_cast<bool>(expression) \
         ? void(0)                 \
         : ::mortise::core::invariant_broken(#expression, __FILE__, __LINE__))
