// Which waiters of a name are granted, and when (S28-S32). A waiter that is granted is *let in*.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/locks/table/holds.hpp"
#include "core/locks/table/name_table.hpp"
#include "core/locks/table/request_groups.hpp"
#include "core/locks/table/trace_remover.hpp"

namespace mortise::core {

// Returns whether a new request would be granted at once. The record is null if the name is
// unknown.
[[nodiscard]] bool would_admit(const LockRecord* record, LockMode mode, Priority priority);

// The same for a request for permits of a semaphore.
[[nodiscard]] bool would_admit_permits(const LockRecord* record, const Acquire& request);

// Returns whether only cached grants are in the way of such a request (S43).
[[nodiscard]] bool would_recall(const LockRecord& record, LockMode mode);

// One run over the queues of names where something changed. A grant of several names leads to their
// other queues. Before a queue is examined, traces of ended sessions are removed from its name.
class QueueAdmission {
public:
    // The operations of ended sessions that were removed, by name.
    using Gone = std::vector<std::pair<std::string, std::vector<OperationId>>>;

    QueueAdmission(TableState of, const TraceRemover& traces, Gone& gone, Grants& grants)
        : names_{of.names},
          holds_{of.holds},
          groups_{of.groups},
          traces_{traces},
          gone_{gone},
          grants_{grants} {}

    // Grants every waiter that can be granted, until nothing changes.
    void run(std::span<const RecordRef> names);

private:
    struct Entered {
        Ticket ticket;
        Priority priority = 0;
    };
    // They exist until the run ends: a record that is removed meanwhile is a change of the table.
    using Names = std::vector<NamedRecord*>;

    void add(NamedRecord& record);
    bool step(const RecordRef& record);
    bool remove_traces(const RecordRef& record);
    void tidy(const RecordRef& record);
    void look_behind_moved();
    bool let_in(NamedRecord& record);
    bool serve_conversion(NamedRecord& record);
    bool turn_phase(NamedRecord& record);
    bool enter_batch(NamedRecord& record);
    bool enter_unhindered(NamedRecord& record);
    bool enter_for_permits(NamedRecord& record);
    void enter(NamedRecord& record, const Waiter& waiter);
    void pass_turn_to_writers(NamedRecord& record);
    void count_overtakings(NamedRecord& record);
    // several_names.cpp
    [[nodiscard]] bool is_at_head(const Waiter& barrier, std::string_view name) const;
    bool clear_for(const Waiter& barrier);
    bool serve_barrier(const Waiter& barrier);
    void leave_other_queues(const Waiter& entering, std::string_view name);

    NameTable& names_;
    Holds& holds_;
    RequestGroups& groups_;
    const TraceRemover& traces_;
    Gone& gone_;
    Grants& grants_;
    std::vector<Entered> entered_;  // in the present step
    Names moved_;                   // that changed in the present step
    Names todo_;                    // to be examined: descending by name, so the last is the first
};

}  // namespace mortise::core
