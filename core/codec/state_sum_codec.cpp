#include "core/codec/state_sum_codec.hpp"

namespace mortise::core {

namespace {

constexpr std::uint8_t state_sum_version = 1;

}  // namespace

Bytes encode_state_sum(const StateSum& sum) {
    ByteWriter out;
    out.u8(state_sum_version);
    out.u64(sum.at.raw());
    out.u64(sum.sum);
    return Bytes{out.take()};
}

std::optional<StateSum> decode_state_sum(const Bytes& bytes) {
    ByteReader in{bytes.view()};
    if (in.u8() != state_sum_version) return std::nullopt;
    const StateSum sum{LogIndex{in.u64()}, in.u64()};
    if (!in.done()) return std::nullopt;
    return sum;
}

}  // namespace mortise::core
