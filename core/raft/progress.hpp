// The leader's record of one follower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/base/instant.hpp"
#include "core/raft/message.hpp"

namespace mortise::core {

// A snapshot that is being sent to a follower, one chunk at a time.
struct SnapshotSending {
    // distinguishes it from an earlier attempt, whose rows may still come
    std::uint64_t number = 0;
    std::optional<LogId> last;  // not set: the view is not open yet
    Configuration configuration;
    std::uint64_t position = 0;  // of the next chunk, or of the unanswered one
    std::uint64_t wanted = 0;    // the follower has the chunks before it
    std::uint64_t checksum = 0;  // of the chunks before
    std::optional<std::string> after;
    bool reading = false;
    std::vector<Row> rows;   // read and not in a chunk yet; or one row that is longer than a chunk
    std::size_t cut_at = 0;  // this much of that row's value is in chunks
    bool all_read = false;   // no row follows these
    std::optional<SnapshotChunk> chunk;  // the unanswered chunk
    std::optional<Instant> sent_at;
    bool repeated = false;  // sent again since the last useful answer
};

struct Progress {
    enum class State : std::uint8_t {
        probe,      // it is unknown where the logs agree: one message at a time
        replicate,  // it is known: entries are sent without waiting for acknowledgements
        cut_off,    // the entries that it needs are purged here
    };

    State state = State::probe;
    Incarnation incarnation;  // the incarnation of the follower
    // The entry that removes it: it still receives that entry, and counts for nothing else.
    std::optional<LogIndex> leaves_at;
    LogIndex match;        // durable at the follower, as it reported itself
    LogIndex next;         // the first entry not sent yet
    LogIndex named;        // no message had an entry above, so it can have none of those
    int denials = 0;       // how often in a row it reported that it lacks entries below `match`
    bool probing = false;  // a probe is in progress; heartbeats replace it if it is lost
    std::deque<LogIndex> in_flight;  // the last index of each unacknowledged message
    Instant heard;                   // when it last answered in this term
    LogIndex commit_sent;
    LogIndex
        commit_due;  // it is told of commits up to here at once, of others with the next message
    std::uint64_t read_round_sent = 0;
    std::uint64_t read_round_confirmed = 0;
    std::optional<SnapshotSending> sending;
    std::optional<Instant> send_state_at;  // not before this time, because the last attempt failed
};

}  // namespace mortise::core
