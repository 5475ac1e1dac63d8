// The entries of the log. One entry is a batch of commands, a configuration, a checksum of the
// state, the beginning of an era, or empty.
#pragma once

#include <compare>
#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"

namespace mortise::core {

struct Configuration;

// Orders logs: the term first, then the index (thesis 3.6.1).
struct LogId {
    Term term;
    LogIndex index;

    friend constexpr bool operator==(const LogId&, const LogId&) = default;
    friend constexpr auto operator<=>(const LogId&, const LogId&) = default;
};

enum class EntryKind : std::uint8_t {
    noop = 1,           // a new leader's first entry, which lets it commit inherited entries
    configuration = 2,  // payload: codec/configuration_codec; in force from its append on
    commands = 3,       // payload: codec/command_codec, a batch
    state_sum = 4,  // payload: codec/state_sum_codec; a checksum of the state, for all to compare
    sealed_commands = 5,  // payload: as that of `commands`; it is sealed
    // Without a payload. It takes the place of the empty entry if all voters elected the leader
    // because a majority may have forgotten entries.
    era = 6,
};

// A node acknowledges a sealed entry only when it is synced (docs/decisions/0095). Sessions are
// sealed, because they tell for how long somebody may rely on a grant that nobody knows any more;
// and so is the first entry of a term, because otherwise the log of a deposed leader could be the
// newest one after a loss of power.
[[nodiscard]] constexpr bool is_sealed(EntryKind kind) {
    return kind != EntryKind::commands && kind != EntryKind::state_sum;
}

[[nodiscard]] constexpr bool has_commands(EntryKind kind) {
    return kind == EntryKind::commands || kind == EntryKind::sealed_commands;
}

struct Entry {
    LogId id;
    EntryKind kind = EntryKind::noop;
    std::uint64_t checksum = 0;  // over id, kind and payload; stays with the entry everywhere
    Bytes payload;

    friend bool operator==(const Entry&, const Entry&) = default;
};

[[nodiscard]] Entry make_entry(LogId id, EntryKind kind, Bytes payload);
[[nodiscard]] bool is_intact(const Entry& entry);
// Returns entry 1 of the cluster. Any later configuration gives the same entry (S47).
[[nodiscard]] Entry founding_entry(const Configuration& of_any_time);

// Returns the size of an entry, as it is counted in memory, in messages and against limits.
[[nodiscard]] std::size_t weight(const Entry& entry);

}  // namespace mortise::core
