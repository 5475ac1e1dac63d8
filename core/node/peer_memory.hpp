// What this node remembers about the generations of its peers, by the incarnation of their
// directories. So a directory that was rolled back, or of which there is a copy, is detected: it is
// undamaged in itself, and only nodes that have heard from it since know more (storage/README.md).
// Nothing is forgotten while this node runs, unless it does not matter any more
// (docs/decisions/0077, 0089).
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/base/instant.hpp"
#include "core/node/hello.hpp"
#include "core/raft/message.hpp"

namespace mortise::core {

class PeerMemory {
public:
    // `patience`: a statement that still contradicts a leader's word after this time cannot be an
    // old message.
    explicit PeerMemory(Nanoseconds patience) : patience_{patience} {}

    enum class Verdict : std::uint8_t {
        same_life,  // heard before
        new_life,   // of a later start
        outlived,   // of an earlier start, or of a copy of the same start
    };

    // A hello was received. A hello of a new run may already show that the directory has lost
    // something. `newest_session` is the newest start of that directory that opened a session,
    // which every member knows (S10).
    Verdict hear(const Hello& hello, const Generation& newest_session);
    enum class Belief : std::uint8_t {
        sound,
        doubtful,   // it does not count, and the next statement may clear it up
        forgotten,  // the directory lost what an earlier run acknowledged: nothing from it counts
    };

    // A statement of the peer's present run. It may be older than the leader's word that it seems
    // to contradict, if both came before the hello of that run. So the first contradiction is only
    // a doubt. A statement that shows the entry ends the doubt; another contradiction after
    // `patience` is evidence.
    Belief believe(Incarnation from, const RaftMessage& message, Instant now);
    // Nothing that former runs of this directory said matters any more. Its present run has shown
    // this term. Returns true if it had forgotten something.
    bool counts(Incarnation incarnation, Term said);
    // All entries from the returned index on are newer than the present run of the directory. Empty
    // if that is unknown, or if nothing is known of former runs. The state of this node, up to
    // `applied`, has the session of the newest start.
    [[nodiscard]] std::optional<LogIndex> newer_than_run(Incarnation incarnation,
                                                         const Generation& newest_session,
                                                         LogIndex applied);
    // The peer itself acknowledged this entry, and it is committed: nothing can undo that.
    void acknowledged(Incarnation by, LogId committed);
    // The same according to a leader.
    void attested(Incarnation of, LogId committed);
    // A leader's statement about a node may have been made after the node's removal.
    void forget_attested_but(const Configuration& members);

    [[nodiscard]] bool has_forgotten(Incarnation incarnation) const;
    // The directory has forgotten something, and its node goes on although it was told so a while
    // ago. So nobody else says that: the node would begin anew (LifeDoubts).
    [[nodiscard]] bool is_only_witness(Incarnation incarnation, Instant now) const;
    // The newest format that its present run reads; empty if it has not said hello.
    [[nodiscard]] std::optional<std::uint8_t> command_format(Incarnation incarnation) const;

private:
    struct Shown {
        Term said;  // the highest term in which it spoke, durable there
        LogId acknowledged;
        LogId attested;
        void include(const Shown& other);
        friend bool operator==(const Shown&, const Shown&) = default;
    };
    struct Known {
        Generation generation;  // of its present run; not set: no hello yet
        std::uint8_t command_format = command_format_oldest;
        Shown now;
        // By earlier runs: everything that the present one says is newer, even if messages
        // overtake each other.
        Shown before;
        std::optional<Instant> lacking_since;  // what a leader attested
        bool forgot = false;
        std::optional<Instant> told_since;  // in its present run
        std::optional<LogIndex> newer_from;
    };

    Belief judge(Known& known, const RaftMessage& message, Instant now) const;

    Nanoseconds patience_;
    std::map<Incarnation, Known> known_;
};

}  // namespace mortise::core
