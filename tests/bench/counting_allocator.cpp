#include "tests/bench/counting_allocator.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace mortise::bench {

namespace {

Allocations total;

}  // namespace

Allocations allocations_so_far() {
    return total;
}

}  // namespace mortise::bench

// Not inlined, because g++ would report a mismatch of malloc and delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
    mortise::bench::total += {1, size};
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
