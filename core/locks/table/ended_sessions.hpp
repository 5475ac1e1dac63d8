// The sessions that have ended, as long as names have traces of them: holders and waiters, which a
// request for the name or a Sweep removes (S11). It knows what is left, and decides which name is
// swept next.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/locks/outcome.hpp"
#include "core/locks/table/lock_table.hpp"
#include "core/locks/table/session_table.hpp"

namespace mortise::core {

class EndedSessions {
public:
    // The operations of a session that were not removed since it ended.
    struct Ended {
        Departure departure;
        Operations operations;
    };

    // Counts the end of a session. If any ended session has left traces, a new sweep begins.
    void add(SessionId id, Departure departure, Operations operations);
    // This operation, which must be known, was removed from the name.
    void forget(OperationId gone, std::string_view name);

    // No name has traces.
    [[nodiscard]] bool is_empty() const { return all_.empty(); }
    // The number of sessions that have ever ended.
    [[nodiscard]] std::uint64_t endings() const { return endings_; }
    // Null for a session that is alive, and for one that has left no traces.
    [[nodiscard]] const Departure* departure(SessionId id) const;
    // The same without the label.
    [[nodiscard]] std::optional<Predecessor> how(SessionId id) const;
    [[nodiscard]] const Operation* find(OperationId id) const;
    // The names that have traces.
    using Names = std::set<std::string_view>;
    [[nodiscard]] Names names() const;
    using All = std::map<SessionId, Ended>;
    [[nodiscard]] const All& all() const { return all_; }

    // The next name of the sweep: names that have waiters come first, in byte order. Empty if the
    // sweep is complete.
    [[nodiscard]] std::optional<std::string> next_to_sweep(const LockTable& table);
    // Called when all traces were removed from that name, which was the next one.
    void swept(std::string_view name);

    // The progress of the sweep, which is saved.
    struct Progress {
        std::string waited_cursor;  // names with waiters up to here are done
        bool waited_done = true;
    };
    [[nodiscard]] const Progress& progress() const { return progress_; }
    // Sessions that appeared here, or disappeared, since the last reset.
    [[nodiscard]] const std::set<SessionId>& changes() const { return changes_; }
    void forget_changes() { changes_.clear(); }

    // For loading. The sessions are restored first; false if one is known already. Then the second
    // function restores the rest, and returns false if that contradicts the sessions. Their
    // operations are restored with the names that they are about.
    bool restore(SessionId id, Departure departure);
    bool restore(std::uint64_t endings, Progress progress, SessionId newest);
    // Null if the session has not ended.
    [[nodiscard]] Operations* operations_to_restore(SessionId id);

    void check_invariants(const SessionTable& live) const;

private:
    void end_sweep();

    All all_;  // the ended sessions that have left traces
    std::uint64_t endings_ = 0;
    Progress progress_;
    std::set<SessionId> changes_;
};

}  // namespace mortise::core
