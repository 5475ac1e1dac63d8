// Checks the head of a Cap'n Proto frame before Cap'n Proto reads it. Cap'n Proto would allocate
// what the head asks for, and would add one to a segment count that may be at its maximum. A frame
// consists of the number of segments less one, the size of each in words (all u32, little-endian),
// padding to a whole word, and the segments.
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

// `begin` is what has arrived of a frame, from its first byte on. `words_max` limits head and body
// together.
[[nodiscard]] FrameCheck check_frame(std::string_view begin, std::size_t words_max);

// The same for a stream that arrives in pieces of any size.
class FrameGuard {
public:
    explicit FrameGuard(std::size_t words_max) : words_max_{words_max} {}

    // From the next head on.
    void set_limit(std::size_t words_max) { words_max_ = words_max; }
    // False when these bytes contain, or complete, a head that is refused: read no more. Stays so.
    [[nodiscard]] bool take(std::string_view bytes);
    // Not inside a frame: here the stream may end.
    [[nodiscard]] bool is_between_frames() const { return head_.empty() && body_bytes_left_ == 0; }
    [[nodiscard]] std::uint64_t frames() const { return frames_; }

private:
    [[nodiscard]] bool take_head(std::string_view& bytes);

    std::size_t words_max_;
    std::string head_;  // of the frame that is beginning; never more than the longest head
    std::size_t body_bytes_left_ = 0;
    std::uint64_t frames_ = 0;
    bool bad_ = false;
};

}  // namespace mortise::transport
