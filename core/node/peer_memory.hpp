// What this node remembers of the lives of others, by the incarnation of their directories, so that
// a directory that was rolled back to an earlier image of itself, or of which there is a copy, is
// found out: it is whole and in order, and only those who heard from it since know better
// (storage/README.md). Forgets nothing as long as this node lives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/node/hello.hpp"
#include "core/raft/message.hpp"

namespace mortise::core {

class PeerMemory {
public:
    enum class Verdict : std::uint8_t {
        same_life,  // as heard before
        new_life,   // of a later start
        outlived,   // of an earlier start, or of a copy that began in the same one
    };

    // A hello was heard; of a new life it may show already that it has forgotten. `newest_session`:
    // the newest epoch in which that incarnation ever opened a session, which every member knows
    // (S10).
    Verdict hear(const Hello& hello, BootEpoch newest_session);
    // Its present life said this. False: it has forgotten what a former one promised, and from now
    // on nothing counts that comes from that directory.
    bool believe(Incarnation from, const RaftMessage& message);
    // Durable there by its own word, and committed: nobody takes that back.
    void acknowledged(Incarnation by, LogId committed);
    // The same by a leader's word.
    void attested(Incarnation of, LogId committed);
    // What was said of others may have been said after they were members.
    void forget_attested_but(const Configuration& members);

    [[nodiscard]] bool has_forgotten(Incarnation incarnation) const;
    // The newest that its present life reads; empty when it never said hello.
    [[nodiscard]] std::optional<std::uint8_t> command_format(Incarnation incarnation) const;

private:
    struct Known {
        BootEpoch epoch;
        std::uint64_t life = 0;
        std::uint8_t command_format = command_format_oldest;
        // Of this life the highest term in which it spoke, durable there, and the last entry.
        Term said;
        LogId acknowledged;
        LogId attested;
        // Of those before it: whatever it says is newer, however messages overtake each other.
        Term said_before;
        LogId acknowledged_before;
        LogId attested_before;
        bool forgot = false;
    };

    std::map<Incarnation, Known> known_;
};

}  // namespace mortise::core
