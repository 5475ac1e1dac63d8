// Frames that arrive in pieces (P11: memory for one is taken only when its header is accepted).
#include "transport/rpc/frame_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <malloc.h>

#include "transport/wire/message_limits.hpp"

namespace mortise::transport {
namespace {

using State = FrameBuffer::State;

// A frame of one segment of so many words.
std::string frame_of(std::uint32_t words) {
    std::string frame(word_bytes, '\0');
    std::memcpy(frame.data() + 4, &words, 4);
    for (std::uint32_t i = 0; i < words * word_bytes; ++i)
        frame.push_back(static_cast<char>(i % 251));
    return frame;
}

std::string bytes_of(kj::ArrayPtr<const capnp::word> words) {
    const auto bytes = words.asChars();
    return {bytes.begin(), bytes.size()};
}

class FrameBufferTest : public testing::Test {
protected:
    // At most so many bytes at a time. The state after the last one; the rest of a bad or complete
    // frame is not put.
    State put(std::string_view bytes, std::size_t piece) {
        while (true) {
            auto room = buffer_.room();
            const auto size = std::min({room.size(), bytes.size(), piece});
            if (size == 0) return State::incomplete;
            std::memcpy(room.begin(), bytes.data(), size);
            bytes.remove_prefix(size);
            const auto state = buffer_.put(size, words_max_);
            if (state != State::incomplete) return state;
        }
    }

    FrameBuffer buffer_;
    std::size_t words_max_ = 10'000;
};

TEST_F(FrameBufferTest, JoinsPiecesOfAnySize) {
    const auto frame = frame_of(20);
    for (const std::size_t piece : {1U, 3U, 7U, 8U, 100U, 1'000U}) {
        EXPECT_TRUE(buffer_.is_empty());
        ASSERT_EQ(put(frame, piece), State::complete) << piece;
        EXPECT_EQ(bytes_of(buffer_.frame()), frame);
        buffer_.drop();
    }
}

TEST_F(FrameBufferTest, HasNothingOfTheNextFrame) {
    const auto frame = frame_of(2);
    EXPECT_EQ(put(frame.substr(0, 3), 100), State::incomplete);
    EXPECT_FALSE(buffer_.is_empty());
    EXPECT_EQ(put(frame.substr(3) + frame_of(9), 100), State::complete);
    EXPECT_EQ(bytes_of(buffer_.frame()), frame);
    EXPECT_EQ(buffer_.room().size(), 0U);
}

TEST_F(FrameBufferTest, GivesAwayAFrameAndNoMoreMemoryThanIt) {
    ASSERT_EQ(put(frame_of(50), 1'000), State::complete);
    buffer_.drop();
    for (const std::uint32_t words : {5U, 49U, 50U, 51U, 3U}) {
        ASSERT_EQ(put(frame_of(words), 1'000), State::complete);
        const auto taken = buffer_.take();
        EXPECT_EQ(taken.size(), words + 1);
        EXPECT_EQ(bytes_of(taken), frame_of(words));
        EXPECT_TRUE(buffer_.is_empty());
    }
}

TEST_F(FrameBufferTest, UsesItsMemoryAgain) {
    ASSERT_EQ(put(frame_of(1'000), 10'000), State::complete);
    const auto* const first = buffer_.frame().begin();
    for (const std::uint32_t words : {7U, 1'000U}) {
        buffer_.drop();
        ASSERT_EQ(put(frame_of(words), 10'000), State::complete);
        EXPECT_EQ(buffer_.frame().begin(), first);
    }
}

TEST_F(FrameBufferTest, FreesTheMemoryOfALongFrame) {
    constexpr std::uint32_t large = 100'000;
    words_max_ = 2 * large;
    const auto in_use = [] {
        const auto info = ::mallinfo2();
        return info.uordblks + info.hblkhd;
    };
    const auto before = in_use();
    ASSERT_EQ(put(frame_of(large), large), State::complete);
    EXPECT_GT(in_use(), before + large);
    buffer_.drop();
    EXPECT_LT(in_use(), before + large);
}

TEST_F(FrameBufferTest, RefusesALongFrameByItsHeader) {
    words_max_ = 20;
    EXPECT_EQ(put(frame_of(19), 1), State::complete);
    buffer_.drop();
    EXPECT_EQ(put(frame_of(20).substr(0, word_bytes), 1), State::bad);
}

}  // namespace
}  // namespace mortise::transport
