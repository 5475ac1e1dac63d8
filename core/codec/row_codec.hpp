// The byte form of the rows that a lock machine is on disk. docs/formats.md describes it. Readers
// refuse what is malformed in itself; MachineLoader sees to it that rows agree with each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/locks/lock_record.hpp"
#include "core/locks/session_table.hpp"
#include "core/locks/wait_queue.hpp"

namespace mortise::core {

// The version of the form that this build writes, the first byte of every value.
constexpr std::uint8_t row_format = 1;

// What is not about one session or name; and how many rows there are, so that a lost one shows.
struct StateTotals {
    FencingToken newest_token;
    SessionId newest_session;
    std::uint64_t endings = 0;
    std::uint64_t sessions = 0;
    std::uint64_t names = 0;
    std::uint64_t incarnations = 0;
    std::string waited_cursor;
    bool waited_done = true;
};

struct SavedName {
    LockRecord record;
    WaitQueue queue;
};

// The first byte of a key. The rest is a name, or an id with its highest byte first.
enum class RowKind : char {
    ended_session = 'E',
    totals = 'G',
    incarnation = 'I',
    name = 'L',
    session = 'S',
};

[[nodiscard]] std::string row_key(RowKind kind, std::string_view name = {});
[[nodiscard]] std::string row_key(RowKind kind, std::uint64_t id);
// The id behind the first byte; empty when it is not one, or zero.
[[nodiscard]] std::optional<std::uint64_t> id_of_row(std::string_view key);

[[nodiscard]] std::string encode_totals(const StateTotals& totals);
[[nodiscard]] std::optional<StateTotals> decode_totals(std::string_view value);
// Without its operations: they are in the rows of their names.
[[nodiscard]] std::string encode_session(const Session& session);
[[nodiscard]] std::optional<Session> decode_session(SessionId id, std::string_view value);
[[nodiscard]] std::string encode_ended(Predecessor how);
[[nodiscard]] std::optional<Predecessor> decode_ended(std::string_view value);
[[nodiscard]] std::string encode_epoch(BootEpoch epoch);
[[nodiscard]] std::optional<BootEpoch> decode_epoch(std::string_view value);
[[nodiscard]] std::string encode_name(const LockRecord& record, const WaitQueue* queue);
[[nodiscard]] std::optional<SavedName> decode_name(std::string_view value);

}  // namespace mortise::core
