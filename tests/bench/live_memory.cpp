#include "tests/bench/live_memory.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace mortise::bench {

namespace {

constexpr std::size_t step = 16;       // malloc's sizes are multiples of it
constexpr std::size_t small = 65'536;  // larger blocks count as so many of this size
std::array<std::atomic<std::int64_t>, small / step + 1> blocks;

void count(void* memory, std::int64_t sign) {
    const auto size = (::malloc_usable_size(memory) + sizeof(std::size_t) + step - 1) / step * step;
    if (size < small) {
        blocks[size / step] += sign;
    } else {
        blocks.back() += sign * static_cast<std::int64_t>(size / small);
    }
}

}  // namespace

LiveBlocks live_blocks() {
    LiveBlocks live;
    for (std::size_t at = 0; at < blocks.size(); ++at) {
        if (const auto count = blocks[at].load(); count != 0) live[at * step] = count;
    }
    return live;
}

}  // namespace mortise::bench

// Not inlined, because g++ would report a mismatch of malloc and delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
    void* memory = std::malloc(size);
    if (memory == nullptr) throw std::bad_alloc{};
    mortise::bench::count(memory, 1);
    return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    if (memory != nullptr) mortise::bench::count(memory, -1);
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    operator delete(memory);
}
