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
    // It distinguishes this attempt from an earlier one, whose rows may still come.
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
    // The follower is being removed, by the entry at this index. It still receives that entry, and
    // counts for nothing else.
    std::optional<LogIndex> leaves_at;
    // Its directory has forgotten something. It counts for nothing until it has this entry, which
    // was appended since, and a majority has it without this follower (docs/decisions/0077).
    std::optional<LogIndex> counts_from;
    LogIndex match;  // durable at the follower, as it reported itself
    LogIndex next;   // the first entry not sent yet
    // The highest index that this leader can have sent to it. It can acknowledge none above.
    LogIndex named;
    int denials = 0;       // how often in a row it reported that it lacks entries below `match`
    bool probing = false;  // a probe is in progress; heartbeats replace it if it is lost
    std::deque<LogIndex> in_flight;  // the last index of each unacknowledged message
    Instant heard;                   // when it last answered in this term
    LogIndex commit_sent;            // the commit index in the last message
    // The commit index is sent at once up to here, and beyond it with the next message, unless
    // RaftOptions::tells_every_commit is set.
    LogIndex commit_due;
    std::uint64_t read_round_sent = 0;
    std::uint64_t read_round_confirmed = 0;
    std::optional<SnapshotSending> sending;
    std::optional<Instant> send_state_at;  // not before this time, because the last attempt failed
};

}  // namespace mortise::core
