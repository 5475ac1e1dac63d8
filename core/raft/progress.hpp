// How far the leader has brought one follower.
#pragma once

#include <cstdint>
#include <deque>

#include "core/base/instant.hpp"
#include "core/raft/entry.hpp"

namespace mortise::core {

struct Progress {
    enum class State : std::uint8_t {
        probe,      // where the logs agree is not known: one message at a time
        replicate,  // it is known: entries are sent ahead of their acknowledgements
        cut_off,    // what it needs is purged here
    };

    State state = State::probe;
    LogIndex match;                  // durable at the follower, as it said itself
    LogIndex next;                   // the first entry not sent yet
    bool probing = false;            // a probe is under way; heartbeats stand in if it is lost
    std::deque<LogIndex> in_flight;  // the last index of each message not acknowledged
    Instant heard;                   // when it last answered in this term
    LogIndex commit_sent;
    std::uint64_t read_round_sent = 0;
    std::uint64_t read_round_confirmed = 0;
};

}  // namespace mortise::core
