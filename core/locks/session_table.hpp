// The sessions of the cluster: who they belong to, what was renewed when, which requests were seen
// and which answers were not received yet (S1, S2, S17).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "core/locks/outcome.hpp"
#include "core/locks/wait_queue.hpp"

namespace mortise::core {

// Which numbers of a rising sequence were seen, in a space of the gaps only.
class SeqSet {
public:
    // False when it was there.
    bool insert(Seq seq);
    [[nodiscard]] bool contains(Seq seq) const;
    // Runs of numbers without a gap.
    [[nodiscard]] std::size_t runs() const { return runs_.size(); }

private:
    std::map<Seq, Seq> runs_;  // the last of each run, and its first
};

// What an Acquire of a session came to: a place in a queue, or a grant.
struct Operation {
    std::string name;
    LockMode mode = LockMode::exclusive;
    Ticket ticket;
    bool held = false;
};

struct Session {
    SessionId id;
    OpenSession opened;  // as asked for; nothing of it ever changes (S1)
    LogIndex renewed_at;
    std::uint64_t renewal_number = 0;
    SeqSet seen;
    std::map<Seq, Operation> operations;
    std::map<Seq, Answer> answers;

    void keep_answer(LogIndex at, Seq seq, Answer answer);
    // Forgets the answers given at or below `received`.
    void acknowledge(LogIndex received);

private:
    std::deque<std::pair<LogIndex, Seq>> answered_;  // in the order of the log
};

class SessionTable {
public:
    // Adds a session with a new id.
    Session& open(const OpenSession& request, LogIndex at);
    [[nodiscard]] Session* find(SessionId id);
    [[nodiscard]] const Session* find(SessionId id) const;
    [[nodiscard]] const Session* find_by_nonce(std::uint64_t nonce) const;
    Session remove(SessionId id);

    // The newest boot epoch that an incarnation ever opened a session with (S10).
    [[nodiscard]] BootEpoch newest_epoch(Incarnation incarnation) const;

    using Sessions = std::map<SessionId, Session>;
    [[nodiscard]] const Sessions& all() const { return sessions_; }

private:
    Sessions sessions_;
    std::map<std::uint64_t, SessionId> by_nonce_;
    std::map<Incarnation, BootEpoch> newest_epochs_;
    SessionId newest_;
};

}  // namespace mortise::core
