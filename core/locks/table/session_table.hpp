// The sessions of the cluster: who they belong to, what was renewed when, up to which request their
// streams are applied, and which answers were not received yet (S1, S2, S17).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/locks/limits.hpp"
#include "core/locks/outcome.hpp"
#include "core/locks/table/kept_answers.hpp"
#include "core/locks/table/wait_queue.hpp"

namespace mortise::core {

// What an Acquire of a session came to: a place in a queue, or a grant. Or an Upgrade that waits.
struct Operation {
    Names names;    // rising
    Ticket ticket;  // while it waits
    bool held = false;
    Seq upgrades;  // the hold that an Upgrade waits for
    std::uint64_t locker = 0;
    bool is_bounded = false;  // has a max_hold (S8)
};

struct Session {
    SessionId id;
    OpenSession opened;  // as asked for; nothing of it ever changes (S1)
    LogIndex renewed_at;
    std::uint64_t renewal_number = 0;
    Seq applied;  // the newest request that was; all before it were as well (S17)
    std::map<Seq, Operation> operations;
    std::size_t names = 0;  // of all operations: what it has of the table
    KeptAnswers answers;
    std::set<Seq> broken;  // its grants that were, until its node has confirmed that (S24)

    // No session makes the state grow without bound (P11). Its node refuses long before: only one
    // that goes wrong and acknowledges nothing gets here. Its stream goes on once it does.
    [[nodiscard]] bool has_too_many_answers() const {
        return answers.size() >= session_requests_max;
    }
};

class SessionTable {
public:
    // Adds a session with a new id.
    Session& open(const OpenSession& request, LogIndex at);
    [[nodiscard]] const Session* find(SessionId id) const;
    // The only way to write to a session: whatever changes is a changed row.
    [[nodiscard]] Session* change(SessionId id);
    // Whether the session was renewed at that index, and not since (S4).
    [[nodiscard]] bool is_newest_renewal(SessionId id, LogIndex renewed_at) const;
    [[nodiscard]] const Session* find_by_nonce(std::uint64_t nonce) const;
    Session remove(SessionId id);

    // The newest start of that directory that ever opened a session (S10); its boot epoch is not
    // set if there is none.
    [[nodiscard]] Generation newest_start(Incarnation incarnation) const;

    using Sessions = std::map<SessionId, Session>;
    [[nodiscard]] const Sessions& all() const { return sessions_; }
    using Epochs = std::map<Incarnation, BootEpoch>;
    [[nodiscard]] const Epochs& newest_epochs() const { return newest_epochs_; }
    [[nodiscard]] SessionId newest() const { return newest_; }

    // What was written to, or removed, since changes were last forgotten.
    struct Changes {
        std::set<SessionId> sessions;
        std::set<Incarnation> incarnations;
    };
    [[nodiscard]] const Changes& changes() const { return changes_; }
    void forget_changes() { changes_ = {}; }

    // For loading. False, and nothing happens, when it contradicts what is there.
    bool restore(Session session);
    bool restore(Incarnation incarnation, BootEpoch epoch);
    void restore_newest(SessionId id) { newest_ = id; }

private:
    Sessions sessions_;
    std::map<std::uint64_t, SessionId> by_nonce_;
    Epochs newest_epochs_;
    SessionId newest_;
    Changes changes_;
};

}  // namespace mortise::core
