// What this node remembers about the generations of its peers, by the incarnation of their
// directories. So a directory that was rolled back, or of which there is a copy, is detected: it is
// undamaged in itself, and only nodes that have heard from it since know more (storage/README.md).
// Nothing is forgotten while this node runs.
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
        same_life,  // heard before
        new_life,   // of a later start
        outlived,   // of an earlier start, or of a copy of the same start
    };

    // A hello was received. A hello of a new run may already show that the directory has lost
    // something. `newest_session` is the newest start of that directory that opened a session,
    // which every member knows (S10).
    Verdict hear(const Hello& hello, const Generation& newest_session);
    // A statement of the peer's present run. Returns false if it shows that the directory has lost
    // what an earlier run acknowledged; from then on nothing from that directory counts.
    bool believe(Incarnation from, const RaftMessage& message);
    // The peer itself acknowledged this entry, and it is committed: nothing can undo that.
    void acknowledged(Incarnation by, LogId committed);
    // The same according to a leader.
    void attested(Incarnation of, LogId committed);
    // A leader's statement about a node may have been made after the node's removal.
    void forget_attested_but(const Configuration& members);

    [[nodiscard]] bool has_forgotten(Incarnation incarnation) const;
    // The newest format that its present run reads; empty if it has not said hello.
    [[nodiscard]] std::optional<std::uint8_t> command_format(Incarnation incarnation) const;

private:
    struct Known {
        Generation generation;  // of its present run; not set: no hello yet
        std::uint8_t command_format = command_format_oldest;
        // For this run: the highest term in which it spoke, durable there, and the last entry.
        Term said;
        LogId acknowledged;
        LogId attested;
        // For earlier runs: everything that the present one says is newer, even if messages
        // overtake each other.
        Term said_before;
        LogId acknowledged_before;
        LogId attested_before;
        bool forgot = false;
    };

    std::map<Incarnation, Known> known_;
};

}  // namespace mortise::core
