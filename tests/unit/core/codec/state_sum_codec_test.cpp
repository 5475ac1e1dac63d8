#include "core/codec/state_sum_codec.hpp"

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

TEST(StateSumCodec, ComesBackAsItWas) {
    const StateSum sum{LogIndex{1'024}, 0xfedcba9876543210U};
    EXPECT_EQ(decode_state_sum(encode_state_sum(sum)), sum);
}

TEST(StateSumCodec, RefusesWhatIsNone) {
    const std::string good{encode_state_sum({LogIndex{7}, 9}).view()};
    EXPECT_FALSE(decode_state_sum(Bytes{good + "x"}));
    EXPECT_FALSE(decode_state_sum(Bytes{good.substr(1)}));
    EXPECT_FALSE(decode_state_sum(Bytes{std::string{"\2"} + good.substr(1)}));
    EXPECT_FALSE(decode_state_sum(Bytes{}));
}

}  // namespace
}  // namespace mortise::core
