#include "transport/wire/frame_check.hpp"

#include <algorithm>

#include "transport/wire/message_limits.hpp"

namespace mortise::transport {

namespace {

constexpr std::size_t number_bytes = 4;

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = number_bytes; i-- > 0;)
        number = (number << 8U) | static_cast<std::uint8_t>(bytes[at + i]);
    return number;
}

std::size_t head_words(std::size_t segments) {
    return ((1 + segments) * number_bytes + word_bytes - 1) / word_bytes;
}

}  // namespace

FrameCheck check_frame(std::string_view begin, std::size_t words_max) {
    if (begin.size() < number_bytes) return MoreNeeded{number_bytes};
    const auto segments_less_one = number_at(begin, 0);
    // Compared before one is added to it, since it may be at its maximum.
    if (segments_less_one >= frame_segments_max) return BadFrame::too_many_segments;
    const std::size_t segments = std::size_t{segments_less_one} + 1;
    FrameSize size{head_words(segments), 0};
    if (begin.size() < size.head_words * word_bytes)
        return MoreNeeded{size.head_words * word_bytes};
    if (number_at(begin, number_bytes) == 0) return BadFrame::empty;
    // The sum of sixteen numbers of 32 bits cannot overflow, here or in Cap'n Proto.
    static_assert(sizeof(std::size_t) > sizeof(std::uint32_t));
    for (std::size_t segment = 0; segment < segments; ++segment)
        size.body_words += number_at(begin, number_bytes * (1 + segment));
    if (size.words() > words_max) return BadFrame::too_long;
    return size;
}

}  // namespace mortise::transport
