#pragma once

#include "core/base/checksum.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/raft/message.hpp"

namespace mortise::core {

// The checksum of a chunk that follows chunks with the checksum `before`.
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
