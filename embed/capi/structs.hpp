// Structs that begin with their size, so that they can grow: a caller that was compiled against
// another version of the header has fewer members, or more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "embed/capi/calls.hpp"

namespace mortise::capi {

// No struct will ever be larger; a greater size is a mistake, and not a later version.
constexpr std::size_t struct_bytes_max = 4096;

inline void require_size(std::size_t size, std::size_t oldest) {
    require(size >= oldest && size <= struct_bytes_max,
            "the member `size` of a struct is wrong: set it to the sizeof of the struct");
}

// What the caller's struct says. `oldest` is the size of its first version. Members that the caller
// does not know are zero; what this library does not know must be zero.
template <class T>
[[nodiscard]] T read_struct(const T& given, std::size_t oldest) {
    static_assert(std::is_trivially_copyable_v<T>);
    require_size(given.size, oldest);
    T known{};
    std::memcpy(&known, &given, std::min(given.size, sizeof(T)));
    const auto* bytes = reinterpret_cast<const unsigned char*>(&given);
    for (std::size_t i = sizeof(T); i < given.size; ++i) {
        require(bytes[i] == 0, "a struct sets a member that this version does not know");
    }
    return known;
}

// Fills the caller's struct as far as both know it, and the rest with zeros; its size tells the
// caller which members this library knows.
template <class T>
void write_struct(const T& known, T& output, std::size_t oldest) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t size = output.size;
    require_size(size, oldest);
    std::memset(static_cast<void*>(&output), 0, size);
    std::memcpy(&output, &known, std::min(size, sizeof(T)));
    output.size = std::min(size, sizeof(T));
}

}  // namespace mortise::capi
