// Collects the bytes of one frame after the other, and checks the header of each before it takes
// any memory for the rest. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <capnp/common.h>
#include <kj/array.h>

namespace mortise::transport {

class FrameBuffer {
public:
    enum class State : std::uint8_t { incomplete, complete, bad };

    // Where the next bytes of the frame belong. Not empty unless it is complete or bad.
    [[nodiscard]] kj::ArrayPtr<kj::byte> room();
    // So many bytes were put there. `words_max` limits header and body of the frame together.
    [[nodiscard]] State put(std::size_t bytes, std::size_t words_max);
    // Nothing of the next frame has arrived.
    [[nodiscard]] bool is_empty() const { return got_ == 0; }

    // The complete frame, until one of the following two.
    [[nodiscard]] kj::ArrayPtr<const capnp::word> frame() const {
        return words_.slice(0, frame_words_);
    }
    // Begins the next frame, in the same memory unless that is large.
    void drop();
    // Gives the frame away, and begins the next one.
    [[nodiscard]] kj::Array<capnp::word> take();

private:
    // The longest header: a count of segments, sixteen sizes, and padding.
    static constexpr std::size_t head_bytes_max = 72;
    // More is not kept between two frames.
    static constexpr std::size_t spare_words_max = std::size_t{2} << 10U;

    [[nodiscard]] State check_head(std::size_t words_max);
    void begin();

    std::array<kj::byte, head_bytes_max> head_{};
    std::size_t head_bytes_ = 4;    // of the header, as far as its length is known
    kj::Array<capnp::word> words_;  // of the frame, and perhaps more
    std::size_t frame_words_ = 0;   // zero until the header is complete
    std::size_t got_ = 0;
};

}  // namespace mortise::transport
