// What the log is made of. One entry is a batch: of commands, or one configuration, or nothing.
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
    noop = 1,           // a new leader's first entry: lets it commit what it inherited
    configuration = 2,  // payload: codec/configuration; in force from its append on
    commands = 3,       // payload: codec/batch
    state_sum = 4,      // payload: codec/state_sum; what the state was, for all to compare
};

struct Entry {
    LogId id;
    EntryKind kind = EntryKind::noop;
    std::uint64_t checksum = 0;  // over id, kind and payload; travels with the entry to the end
    Bytes payload;

    friend bool operator==(const Entry&, const Entry&) = default;
};

[[nodiscard]] Entry make_entry(LogId id, EntryKind kind, Bytes payload);
[[nodiscard]] bool is_intact(const Entry& entry);
// Entry 1 of the cluster with that configuration, whatever has changed since (S47).
[[nodiscard]] Entry founding_entry(const Configuration& of_any_time);

// What an entry weighs in memory, in a message and against the limits.
[[nodiscard]] std::size_t weight(const Entry& entry);

}  // namespace mortise::core
