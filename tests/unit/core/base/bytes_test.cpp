#include "core/base/bytes.hpp"

#include <array>
#include <limits>

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

constexpr std::uint64_t u64_max = std::numeric_limits<std::uint64_t>::max();

std::string varint_of(std::uint64_t value) {
    ByteWriter out;
    out.varint(value);
    return out.take();
}

std::string one_of_each() {
    ByteWriter out;
    out.u8(0xfe);
    out.u16(0x1234);
    out.u32(0x89abcdef);
    out.u64(0x0123456789abcdefU);
    out.varint(300);
    out.text("lock");
    return out.take();
}

// True if all of one_of_each() could be read.
bool read_one_of_each(std::string_view in) {
    ByteReader reader{in};
    (void)reader.u8();
    (void)reader.u16();
    (void)reader.u32();
    (void)reader.u64();
    (void)reader.varint();
    (void)reader.text(100);
    return reader.done();
}

TEST(Bytes, ComparesByContent) {
    EXPECT_EQ(Bytes{"a"}, Bytes{"a"});
    EXPECT_FALSE(Bytes{"a"} == Bytes{"b"});
    EXPECT_EQ(Bytes{}, Bytes{""});
    EXPECT_TRUE(Bytes{""}.empty());
    EXPECT_EQ(Bytes{std::string(3, '\0')}.size(), 3U);
}

TEST(ByteReader, ReadsWhatWasWritten) {
    const auto in = one_of_each();
    ByteReader reader{in};
    EXPECT_EQ(reader.u8(), 0xfe);
    EXPECT_EQ(reader.u16(), 0x1234);
    EXPECT_EQ(reader.u32(), 0x89abcdefU);
    EXPECT_EQ(reader.u64(), 0x0123456789abcdefU);
    EXPECT_EQ(reader.varint(), 300U);
    EXPECT_FALSE(reader.done());
    EXPECT_EQ(reader.text(4), "lock");
    EXPECT_TRUE(reader.done());
}

TEST(ByteWriter, WritesTheLowByteFirst) {
    ByteWriter out;
    out.u16(0x0102);
    out.u32(0x03040506);
    EXPECT_EQ(out.size(), 6U);
    EXPECT_EQ(out.take(), "\x02\x01\x06\x05\x04\x03");
}

TEST(ByteReader, NoticesEveryTruncation) {
    const auto in = one_of_each();
    ASSERT_TRUE(read_one_of_each(in));
    for (std::size_t size = 0; size < in.size(); ++size)
        EXPECT_FALSE(read_one_of_each(std::string_view{in}.substr(0, size))) << size;
    EXPECT_FALSE(read_one_of_each(in + "x"));
}

TEST(ByteReader, AnswersZeroForGoodAfterTheFirstFailure) {
    ByteReader reader{"\x01\x02\x03\x04\x05"};
    EXPECT_EQ(reader.u64(), 0U);
    EXPECT_FALSE(reader.ok());
    EXPECT_EQ(reader.u8(), 0);
    EXPECT_EQ(reader.varint(), 0U);
    EXPECT_EQ(reader.text(10), "");
    EXPECT_EQ(reader.count(1), 0U);
    EXPECT_FALSE(reader.done());
}

TEST(ByteReader, CanBeToldToFail) {
    ByteReader reader{"ab"};
    reader.fail();
    EXPECT_FALSE(reader.ok());
    EXPECT_EQ(reader.u8(), 0);
}

TEST(Varint, RoundTripsAtEveryWidth) {
    for (unsigned bits = 0; bits < 64; ++bits) {
        const auto power = std::uint64_t{1} << bits;
        for (const auto value : {power - 1, power, power + 1}) {
            const auto in = varint_of(value);
            ByteReader reader{in};
            EXPECT_EQ(reader.varint(), value);
            EXPECT_TRUE(reader.done()) << value;
        }
    }
    EXPECT_EQ(varint_of(0).size(), 1U);
    EXPECT_EQ(varint_of(127).size(), 1U);
    EXPECT_EQ(varint_of(128).size(), 2U);
    EXPECT_EQ(varint_of(u64_max).size(), 10U);
}

// Two encodings of one number would give one value two checksums.
TEST(Varint, HasOneFormPerNumber) {
    for (const std::string_view longer :
         {std::string_view{"\x80\x00", 2}, std::string_view{"\xff\x00", 2},
          std::string_view{"\x81\x80\x00", 3},
          std::string_view{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 10}}) {
        ByteReader reader{longer};
        EXPECT_EQ(reader.varint(), 0U);
        EXPECT_FALSE(reader.ok());
    }
    ByteReader zero{std::string_view{"\x00", 1}};
    EXPECT_EQ(zero.varint(), 0U);
    EXPECT_TRUE(zero.done());
}

TEST(Varint, EveryTwoByteFormReadBackIsTheFormItself) {
    for (unsigned form = 0; form < 0x10000; ++form) {
        const std::array<char, 2> raw{static_cast<char>(form & 0xffU),
                                      static_cast<char>(form >> 8U)};
        ByteReader reader{{raw.data(), raw.size()}};
        const auto value = reader.varint();
        if (!reader.ok()) continue;
        const auto size = raw.size() - reader.remaining();
        EXPECT_EQ(varint_of(value), std::string(raw.data(), size));
    }
}

TEST(Varint, RefusesMoreThanSixtyFourBits) {
    ByteReader widest{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"};
    EXPECT_EQ(widest.varint(), u64_max);
    EXPECT_TRUE(widest.done());
    ByteReader wider{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"};
    (void)wider.varint();
    EXPECT_FALSE(wider.ok());
    ByteReader endless{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x01"};
    (void)endless.varint();
    EXPECT_FALSE(endless.ok());
}

TEST(ByteReader, RefusesATextBeyondItsLimit) {
    ByteWriter out;
    out.text("12345");
    const auto in = out.take();
    ByteReader within{in};
    EXPECT_EQ(within.text(5), "12345");
    ByteReader beyond{in};
    EXPECT_EQ(beyond.text(4), "");
    EXPECT_FALSE(beyond.ok());
}

// A received count must not determine the size of an allocation.
TEST(ByteReader, RefusesACountThatCannotFit) {
    const auto in = varint_of(3) + std::string(12, 'x');
    ByteReader fits{in};
    EXPECT_EQ(fits.count(4), 3U);
    ByteReader too_many{in};
    EXPECT_EQ(too_many.count(5), 0U);
    EXPECT_FALSE(too_many.ok());
    const auto huge = varint_of(u64_max) + "x";
    ByteReader overflows{huge};
    EXPECT_EQ(overflows.count(17), 0U);
    EXPECT_FALSE(overflows.ok());
}

}  // namespace
}  // namespace mortise::core
