// What readers learn about the lock machine. It reads the state and changes nothing, and it is
// valid until the machine applies the next command.
//
// A session that has ended does not count, although its holders and waiters may still be on a name:
// the next request for the name removes them first (S11).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/locks/machine/lock_view.hpp"
#include "core/locks/machine/session_view.hpp"
#include "core/locks/table/ended_sessions.hpp"
#include "core/locks/table/lock_table.hpp"
#include "core/locks/table/session_table.hpp"

namespace mortise::core {

class LockViews {
public:
    LockViews(const LockTable& table, const SessionTable& sessions, const EndedSessions& ended)
        : table_{table}, sessions_{sessions}, ended_{ended} {}

    // Whether only cached grants are in the way of an acquire (S43).
    [[nodiscard]] bool would_recall(std::string_view name, LockMode mode) const;
    // Whether an acquire would be granted at once. Also true if it may be granted after the removal
    // of ended sessions from the name, and if the name is not a lock: the log refuses it.
    [[nodiscard]] bool would_grant(std::string_view name, LockMode mode, Priority priority) const;
    // The same for a request for permits.
    [[nodiscard]] bool would_grant_permits(const Acquire& request) const;
    // The view of an unknown name is empty. At most `parties_max` holders, waiters and members of a
    // barrier are listed; holders and waiters are all counted.
    [[nodiscard]] LockView inspect(std::string_view name, std::size_t parties_max) const;
    // Names with this prefix that are greater than `after`, in byte order, at most `limit`. Ends
    // with the name that raises the number of holders and waiters to `parties_max`.
    [[nodiscard]] std::vector<LockView> list(std::string_view prefix, std::string_view after,
                                             std::size_t limit, std::size_t parties_max) const;
    // Returns those of `holds` for which a request waits.
    [[nodiscard]] Contentions contentions(std::string_view name,
                                          const std::set<OperationId>& holds) const;
    [[nodiscard]] std::optional<Contention> contention(std::string_view name,
                                                       OperationId hold) const;
    // Sessions with ids greater than `after`, ascending, at most `limit`. Ends with the session
    // that raises the number of their operations to `looks_max`.
    [[nodiscard]] std::vector<SessionView> sessions(SessionId after, std::size_t limit,
                                                    std::size_t looks_max) const;
    // The node of a session; not set if the session has ended.
    [[nodiscard]] NodeId node_of(SessionId session) const;
    // Where it comes from; null if that is unknown, or the session has ended.
    [[nodiscard]] const Origin* origin_of(SessionId session) const;

private:
    [[nodiscard]] bool is_live(OperationId operation) const;
    [[nodiscard]] bool is_clear(const LockRecord& record, const WaitQueue* queue) const;
    [[nodiscard]] bool is_in_the_way(std::string_view name, const Holder& holder) const;
    [[nodiscard]] bool is_hindered(const LockRecord& record, const WaitQueue& queue, LockMode mode,
                                   Priority priority) const;
    [[nodiscard]] bool will_be_delayed(const Holder& holder) const;
    [[nodiscard]] SessionView view_of(const Session& session) const;
    [[nodiscard]] std::string label_of(const Session& session) const;
    void add_session(SessionId session, LockView& view) const;
    void add_kind(const KindState& state, std::size_t max, LockView& view) const;
    void add_holders(const LockRecord& record, std::size_t max, LockView& view) const;
    void add_waiters(const LockRecord& record, std::size_t max, LockView& view) const;
    void add_closings(const std::vector<const Holder*>& closed, LockView& view) const;

    const LockTable& table_;
    const SessionTable& sessions_;
    const EndedSessions& ended_;
};

}  // namespace mortise::core
