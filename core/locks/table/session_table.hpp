// The sessions of the cluster: the node of each, when it was last renewed, up to which request its
// stream is applied, and which answers its node has not received yet (S1, S2, S17).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/locks/limits.hpp"
#include "core/locks/outcome.hpp"
#include "core/locks/table/kept_answers.hpp"
#include "core/locks/table/operations.hpp"

namespace mortise::core {

struct Session {
    SessionId id;
    OpenSession opened;  // the command that opened it; it never changes (S1)
    LogIndex opened_at;  // of the entry that opened it, if that has a time
    LogIndex renewed_at;
    std::uint64_t renewal_number = 0;
    Seq applied;  // the newest applied request; all earlier ones are applied too (S17)
    Operations operations;
    std::size_t names = 0;  // the names of all operations together
    KeptAnswers answers;
    std::set<Seq> broken;  // its broken grants that its node has not confirmed yet (S24)

    // True if a client node opened it. A member names itself in the opening; a client does not.
    [[nodiscard]] bool is_clients() const { return !opened.node.is_set(); }

    // This bounds the state that a session can use (P11). Only a faulty node that acknowledges
    // nothing reaches this limit. Its stream continues after it acknowledges.
    [[nodiscard]] bool has_too_many_answers() const {
        return answers.size() >= session_requests_max;
    }
};

class SessionTable {
public:
    // Adds a session with a new id.
    Session& open(const OpenSession& request, LogIndex at);
    [[nodiscard]] const Session* find(SessionId id) const;
    // The only way to write to a session, because it notes the row as changed.
    [[nodiscard]] Session* change(SessionId id);
    // Returns whether the renewal at that index is the newest of the session (S4).
    [[nodiscard]] bool is_newest_renewal(SessionId id, LogIndex renewed_at) const;
    [[nodiscard]] const Session* find_by_nonce(std::uint64_t nonce) const;
    Session remove(SessionId id);

    // The newest start of that directory that ever opened a session (S10); its boot epoch is not
    // set if there is none.
    [[nodiscard]] Generation newest_start(Incarnation incarnation) const;

    using Sessions = std::map<SessionId, Session>;
    [[nodiscard]] const Sessions& all() const { return sessions_; }
    // How many of them are sessions of client nodes.
    [[nodiscard]] std::size_t clients() const { return clients_; }
    using Epochs = std::map<Incarnation, BootEpoch>;
    [[nodiscard]] const Epochs& newest_epochs() const { return newest_epochs_; }
    [[nodiscard]] SessionId newest() const { return newest_; }

    // The sessions and incarnations that were changed or removed since forget_changes().
    struct Changes {
        std::set<SessionId> sessions;
        std::set<Incarnation> incarnations;
    };
    [[nodiscard]] const Changes& changes() const { return changes_; }
    void forget_changes() { changes_ = {}; }

    // For loading. Returns false, without an effect, if it contradicts what is there.
    bool restore(Session session);
    bool restore(Incarnation incarnation, BootEpoch epoch);
    void restore_newest(SessionId id) { newest_ = id; }

private:
    Sessions sessions_;
    std::size_t clients_ = 0;
    std::map<std::uint64_t, SessionId> by_nonce_;
    Epochs newest_epochs_;
    SessionId newest_;
    Changes changes_;
};

}  // namespace mortise::core
