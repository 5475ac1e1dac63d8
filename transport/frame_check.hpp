// Looks at the head of a Cap'n Proto frame before Cap'n Proto does, which would allocate what the
// head asks for, and add one to a segment count that is at its maximum. A frame is: the number of
// segments less one, the size of each in words (all u32, little-endian), padding to a whole word,
// the segments.
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
    empty,  // its first segment has no room for a root
};

struct MoreNeeded {
    std::size_t bytes = 0;  // of the frame's beginning, in all
};

struct FrameSize {
    std::size_t head_words = 0;
    std::size_t body_words = 0;
    [[nodiscard]] std::size_t words() const { return head_words + body_words; }
};

using FrameCheck = std::variant<MoreNeeded, FrameSize, BadFrame>;

// `begin` is what there is of a frame, from its first byte on. `words_max` is for head and body.
[[nodiscard]] FrameCheck check_frame(std::string_view begin, std::size_t words_max);

}  // namespace mortise::transport
