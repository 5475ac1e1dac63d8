#include "core/codec/configuration_codec.hpp"

#include <gtest/gtest.h>

#include "core/base/prng.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

Configuration joint() {
    return {{0x1122334455667788U, 3}, members({1, 2, 4}), members({1, 2, 3}), members({5})};
}

// Whatever the bytes are: they are refused, or are the encoding of a configuration.
void expect_refused_or_exact(const std::string& bytes) {
    const auto decoded = decode_configuration(Bytes{bytes});
    if (decoded) {
        EXPECT_EQ(encode_configuration(*decoded).view(), bytes);
    }
}

TEST(ConfigurationCodec, RoundTrips) {
    for (const auto& configuration : {voters({1}), voters({1, 2, 3, 4, 5, 6, 7, 8, 9}), joint()})
        EXPECT_EQ(decode_configuration(encode_configuration(configuration)), configuration);
}

TEST(ConfigurationCodec, RefusesEveryTruncation) {
    const std::string whole{encode_configuration(joint()).view()};
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(decode_configuration(Bytes{whole.substr(0, size)})) << size;
    EXPECT_FALSE(decode_configuration(Bytes{whole + '\0'}));
}

TEST(ConfigurationCodec, EveryChangedByteIsRefusedOrMeansExactlyItself) {
    const std::string whole{encode_configuration(joint()).view()};
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (unsigned value = 0; value < 256; ++value) {
            auto bytes = whole;
            bytes[at] = static_cast<char>(value);
            expect_refused_or_exact(bytes);
        }
    }
}

TEST(ConfigurationCodec, RandomBytesAreRefusedOrMeanExactlyThemselves) {
    Prng prng{11};
    const std::string whole{encode_configuration(joint()).view()};
    for (int i = 0; i < 20'000; ++i) {
        auto bytes = whole.substr(0, prng.below(whole.size() + 1));
        for (auto changes = prng.below(4); changes > 0 && !bytes.empty(); --changes)
            bytes[prng.below(bytes.size())] = static_cast<char>(prng.next());
        bytes.append(prng.below(3), static_cast<char>(prng.next()));
        expect_refused_or_exact(bytes);
    }
}

TEST(ConfigurationCodec, RefusesAnotherVersion) {  // P12
    std::string bytes{encode_configuration(voters({1})).view()};
    bytes[0] = 3;
    EXPECT_FALSE(decode_configuration(Bytes{bytes}));
}

// A member of version 0.2 does not read it, and would sync what nobody else syncs (P12).
TEST(ConfigurationCodec, OnlyAReplicatedClusterHasTheNewVersion) {
    auto configuration = voters({1});
    EXPECT_EQ(encode_configuration(configuration).view().front(), 1);
    configuration.durability = Durability::replicated;
    const auto bytes = encode_configuration(configuration);
    EXPECT_EQ(bytes.view().front(), 2);
    EXPECT_EQ(decode_configuration(bytes), configuration);
}

TEST(ConfigurationCodec, RefusesListsOutOfOrderOrWithRepeats) {
    auto configuration = joint();
    std::swap(configuration.voters[0], configuration.voters[1]);
    EXPECT_FALSE(decode_configuration(encode_configuration(configuration)));
    configuration = joint();
    configuration.outgoing[1] = configuration.outgoing[0];
    EXPECT_FALSE(decode_configuration(encode_configuration(configuration)));
}

TEST(ConfigurationCodec, RefusesACountBeyondTheBytes) {
    ByteWriter out;
    out.u8(1);
    out.u64(7);
    out.u64(9);
    out.varint(std::uint64_t{1} << 60U);
    EXPECT_FALSE(decode_configuration(Bytes{out.take()}));
}

TEST(ConfigurationCodec, RefusesNoClusterAndNoVoters) {
    auto unformed = voters({1, 2});
    unformed.cluster = {};
    EXPECT_FALSE(decode_configuration(encode_configuration(unformed)));
    EXPECT_FALSE(decode_configuration(encode_configuration(voters({}))));
    EXPECT_FALSE(decode_configuration(Bytes{}));
}

TEST(ConfigurationCodec, RefusesAnAddressBeyondItsLimit) {
    auto configuration = voters({1});
    configuration.voters[0].address = std::string(512, 'a');
    EXPECT_TRUE(decode_configuration(encode_configuration(configuration)));
    configuration.voters[0].address += 'a';
    EXPECT_FALSE(decode_configuration(encode_configuration(configuration)));
}

}  // namespace
}  // namespace mortise::core::test
