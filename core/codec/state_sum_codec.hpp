// The encoding of a checksum over the rows of a state, which is the payload of an entry of that
// kind.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"

namespace mortise::core {

struct StateSum {
    LogIndex at;  // the checksum is of the state after this entry
    std::uint64_t sum = 0;

    friend bool operator==(const StateSum&, const StateSum&) = default;
};

[[nodiscard]] Bytes encode_state_sum(const StateSum& sum);
[[nodiscard]] std::optional<StateSum> decode_state_sum(const Bytes& bytes);

}  // namespace mortise::core
