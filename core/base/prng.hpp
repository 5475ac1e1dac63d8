// The only source of randomness in core: a small seeded generator (SplitMix64, Steele, Lea and
// Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). Not for secrets.
#pragma once

#include <cstdint>

namespace mortise::core {

class Prng {
public:
    explicit Prng(std::uint64_t seed) : state_{seed} {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }

    // In [0, bound); 0 when bound is 0. The bias of the multiplication is below 2^-32 for bounds
    // that fit in 32 bits.
    std::uint64_t below(std::uint64_t bound) {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64U);
    }

    // In [low, high].
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
    }

    // True once in `n` calls on average; never when n is 0.
    bool one_in(std::uint64_t n) { return n != 0 && below(n) == 0; }

private:
    std::uint64_t state_;
};

}  // namespace mortise::core
