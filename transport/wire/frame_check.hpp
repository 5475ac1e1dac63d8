// Checks the header of a Cap'n Proto frame before Cap'n Proto reads it. Cap'n Proto would allocate
// what the header asks for, and would add one to a segment count that may be at its maximum. A
// frame consists of the number of segments less one, the size of each in words (all u32,
// little-endian), padding to a whole word, and the segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace mortise::transport {

enum class BadFrame : std::uint8_t {
    too_many_segments,
    too_long,
    empty,  // its first segment is too small for a root
};

struct MoreNeeded {
    std::size_t bytes = 0;  // the length of the beginning
};

struct FrameSize {
    std::size_t head_words = 0;
    std::size_t body_words = 0;
    [[nodiscard]] std::size_t words() const { return head_words + body_words; }
};

using FrameCheck = std::variant<MoreNeeded, FrameSize, BadFrame>;

// `begin` is what has arrived of a frame, from its first byte on. `words_max` limits header and
// body together.
[[nodiscard]] FrameCheck check_frame(std::string_view begin, std::size_t words_max);

}  // namespace mortise::transport
