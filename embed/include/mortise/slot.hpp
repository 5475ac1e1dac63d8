// A permit of a semaphore.
#pragma once

#include <cstdint>

#include <mortise/fencing_token.hpp>

namespace mortise {

// One permit of a semaphore that is held (S15): nobody else has a permit with this number
// meanwhile. The tokens of a number rise from holder to holder, so a resource that compares them
// per number refuses a stale holder: see FenceGate. The numbers are the lowest that were free at
// the grant, from zero on.
struct Slot {
    std::uint32_t number = 0;
    FencingToken token{};

    friend bool operator==(const Slot&, const Slot&) = default;
};

}  // namespace mortise
