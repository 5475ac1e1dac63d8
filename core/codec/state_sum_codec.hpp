// The sum over the rows of a state as bytes: the payload of an entry of that kind.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"

namespace mortise::core {

struct StateSum {
    LogIndex at;  // after the entry at this index was applied
    std::uint64_t sum = 0;

    friend bool operator==(const StateSum&, const StateSum&) = default;
};

[[nodiscard]] Bytes encode_state_sum(const StateSum& sum);
[[nodiscard]] std::optional<StateSum> decode_state_sum(const Bytes& bytes);

}  // namespace mortise::core
