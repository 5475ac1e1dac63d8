// How far the leader has brought one follower.
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

// A state on its way to a follower, one chunk at a time.
struct SnapshotSending {
    std::uint64_t number = 0;   // tells it from an earlier attempt, whose rows may still come
    std::optional<LogId> last;  // not set: the view is not open yet
    Configuration configuration;
    std::uint64_t position = 0;  // of the next chunk, or of the one that is not answered
    std::uint64_t wanted = 0;    // the follower has those before
    std::uint64_t checksum = 0;  // of the chunks before
    std::optional<std::string> after;
    bool reading = false;
    std::vector<Row> rows;   // read, not in a chunk yet; or one row that is longer than a chunk
    std::size_t cut_at = 0;  // of that row's value so much is in chunks
    bool all_read = false;   // no row follows these
    std::optional<SnapshotChunk> chunk;  // not answered
    std::optional<Instant> sent_at;
    bool repeated = false;  // sent again since the last answer that helped
};

struct Progress {
    enum class State : std::uint8_t {
        probe,      // where the logs agree is not known: one message at a time
        replicate,  // it is known: entries are sent ahead of their acknowledgements
        cut_off,    // what it needs is purged here
    };

    State state = State::probe;
    Incarnation incarnation;  // whose progress it is
    // The entry that removes it: it is told of that, and counts for nothing else.
    std::optional<LogIndex> leaves_at;
    LogIndex match;                  // durable at the follower, as it said itself
    LogIndex next;                   // the first entry not sent yet
    LogIndex named;                  // no message named an entry above: it can have none of those
    int denials = 0;                 // in a row, it said that it lacks what is below `match`
    bool probing = false;            // a probe is under way; heartbeats stand in if it is lost
    std::deque<LogIndex> in_flight;  // the last index of each message not acknowledged
    Instant heard;                   // when it last answered in this term
    LogIndex commit_sent;
    std::uint64_t read_round_sent = 0;
    std::uint64_t read_round_confirmed = 0;
    std::optional<SnapshotSending> sending;
    std::optional<Instant> send_state_at;  // not before: the last one came to nothing
};

}  // namespace mortise::core
