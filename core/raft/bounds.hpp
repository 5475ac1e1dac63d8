// The limits of terms and indexes. A log that gains an entry every nanosecond reaches them in 146
// years; beyond them the next number could wrap. No greater value is accepted from a peer or from a
// disk.
#pragma once

#include <cstdint>

#include "core/base/ids.hpp"
#include "core/raft/entry.hpp"

namespace mortise::core {

// The limit is absolute and the same for everybody. If messages with a term far above the own one
// were refused, two members with very different terms would never agree again. Instead, one message
// raises the own term by at most a step: as much as an election each second in eight years.
constexpr std::uint64_t term_end = std::uint64_t{1} << 62U;  // every term is below it
constexpr std::uint64_t term_step_max = std::uint64_t{1} << 28U;
constexpr std::uint64_t log_index_max = std::uint64_t{1} << 62U;  // no index is above it
// The state of another node ends at most so far beyond the own log, which needs 890 years at 10,000
// entries a second. So a member that lies about its log does not use up the indexes of others.
constexpr std::uint64_t log_index_step_max = std::uint64_t{1} << 48U;

constexpr bool is_in_bounds(Term term) {
    return term.raw() < term_end;
}
constexpr bool is_in_bounds(LogIndex index) {
    return index.raw() <= log_index_max;
}
constexpr bool is_in_bounds(const LogId& id) {
    return is_in_bounds(id.term) && is_in_bounds(id.index);
}

}  // namespace mortise::core
