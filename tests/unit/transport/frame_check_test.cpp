#include "transport/wire/frame_check.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "core/base/bytes.hpp"
#include "core/base/prng.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::transport {
namespace {

std::string head(std::uint32_t segments_less_one, const std::vector<std::uint32_t>& sizes) {
    core::ByteWriter out;
    out.u32(segments_less_one);
    for (const auto size : sizes)
        out.u32(size);
    if (out.size() % word_bytes != 0) out.u32(0);
    return out.take();
}

std::string head_of(const std::vector<std::uint32_t>& sizes) {
    return head(static_cast<std::uint32_t>(sizes.size() - 1), sizes);
}

FrameCheck check(const std::string& begin, std::size_t words_max = hello_frame_words_max) {
    return check_frame(begin, words_max);
}

BadFrame refused(const FrameCheck& check) {
    return std::get<BadFrame>(check);
}

TEST(FrameCheck, AsksForTheSegmentCountFirstAndThenForTheWholeHead) {
    EXPECT_EQ(std::get<MoreNeeded>(check("")).bytes, 4U);
    EXPECT_EQ(std::get<MoreNeeded>(check(std::string(3, '\0'))).bytes, 4U);
    for (const std::uint32_t segments : {1U, 2U, 3U, 4U, 15U, 16U}) {
        const auto whole = head_of(std::vector<std::uint32_t>(segments, 1));
        for (std::size_t size = 4; size < whole.size(); ++size)
            EXPECT_EQ(std::get<MoreNeeded>(check(whole.substr(0, size))).bytes, whole.size());
    }
}

TEST(FrameCheck, CountsHeadAndBody) {
    const auto one = std::get<FrameSize>(check(head_of({7})));
    EXPECT_EQ(one.head_words, 1U);
    EXPECT_EQ(one.body_words, 7U);
    const auto three = std::get<FrameSize>(check(head_of({7, 0, 3}) + "the body"));
    EXPECT_EQ(three.head_words, 2U);
    EXPECT_EQ(three.body_words, 10U);
    EXPECT_EQ(three.words(), 12U);
}

TEST(FrameCheck, TheLimitIsForHeadAndBodyTogether) {  // P11
    EXPECT_TRUE(std::holds_alternative<FrameSize>(check(head_of({511}), 512)));
    EXPECT_EQ(refused(check(head_of({512}), 512)), BadFrame::too_long);
    EXPECT_TRUE(std::holds_alternative<FrameSize>(check(head_of({500, 10}), 512)));
    EXPECT_EQ(refused(check(head_of({500, 11}), 512)), BadFrame::too_long);
    const auto peer = static_cast<std::uint32_t>(peer_frame_words_max);
    EXPECT_TRUE(std::holds_alternative<FrameSize>(check(head_of({peer - 1}), peer)));
    EXPECT_EQ(refused(check(head_of({peer}), peer)), BadFrame::too_long);
}

TEST(FrameCheck, RefusesMoreThanSixteenSegments) {
    EXPECT_TRUE(
        std::holds_alternative<FrameSize>(check(head_of(std::vector<std::uint32_t>(16, 1)))));
    EXPECT_EQ(refused(check(head_of(std::vector<std::uint32_t>(17, 1)))),
              BadFrame::too_many_segments);
    EXPECT_EQ(refused(check(head(511, {}))), BadFrame::too_many_segments);
}

TEST(FrameCheck, RefusesTheCountThatWouldOverflowFromItsFourBytesAlone) {
    EXPECT_EQ(refused(check("\xff\xff\xff\xff")), BadFrame::too_many_segments);
    EXPECT_EQ(refused(check(std::string(8, '\xff'))), BadFrame::too_many_segments);
}

TEST(FrameCheck, SizesThatWouldOverflowTheirSumAreTooLong) {
    EXPECT_EQ(refused(check(head_of({0xffffffffU}))), BadFrame::too_long);
    EXPECT_EQ(refused(check(head_of(std::vector<std::uint32_t>(16, 0xffffffffU)))),
              BadFrame::too_long);
    // 2^32 words in total, which is zero in 32 bits.
    EXPECT_EQ(refused(check(head_of({0x80000000U, 0x80000000U}))), BadFrame::too_long);
    // Eight mebiwords, the default of the library, without any data.
    EXPECT_EQ(refused(check(head_of({8U << 20U}), peer_frame_words_max)), BadFrame::too_long);
}

TEST(FrameCheck, RefusesAFrameWithoutRoomForARoot) {
    EXPECT_EQ(refused(check(head_of({0}))), BadFrame::empty);
    EXPECT_EQ(refused(check(head_of({0, 5}))), BadFrame::empty);
}

}  // namespace
}  // namespace mortise::transport
