// The checksum over the chunks of a snapshot. The receiver compares it with that of the sender.
#pragma once

#include "core/base/checksum.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/raft/message.hpp"

namespace mortise::core {

// Returns the checksum of all chunks up to this one; `before` is that of the chunks before it.
[[nodiscard]] inline std::uint64_t sum_with(std::uint64_t before, const SnapshotChunk& chunk) {
    Checksum sum;
    sum.number(before);
    sum.number(chunk.last.term.raw());
    sum.number(chunk.last.index.raw());
    sum.text(encode_configuration(chunk.configuration).view());
    sum.number(chunk.position);
    sum.number(chunk.rows.size() << 2U | (chunk.cut ? 2U : 0U) | (chunk.done ? 1U : 0U));
    for (const auto& row : chunk.rows) {
        sum.text(row.key);
        sum.number(row.value ? 1 : 0);
        sum.text(row.value.value_or(std::string{}));
    }
    return sum.value();
}

}  // namespace mortise::core
