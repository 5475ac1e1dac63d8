// Linked into a program, it counts the memory that the program has from operator new.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace mortise::bench {

// Blocks by their size, as malloc takes it: with what it needs for itself.
using LiveBlocks = std::map<std::size_t, std::int64_t>;

// Those that are in use now, of all threads together.
[[nodiscard]] LiveBlocks live_blocks();

}  // namespace mortise::bench
