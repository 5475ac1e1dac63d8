// Which waiters of a name are granted, and when (S28-S32). A waiter that is granted is *let in*.
#pragma once

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/locks/table/holds.hpp"
#include "core/locks/table/name_table.hpp"
#include "core/locks/table/request_groups.hpp"
#include "core/locks/table/trace_remover.hpp"

namespace mortise::core {

// Returns whether a new request would be granted at once. The record is null if the name is not
// held, the queue if no request waits for it.
[[nodiscard]] bool would_admit(const LockRecord* record, const WaitQueue* queue, LockMode mode,
                               Priority priority);

// The same for a request for permits of a semaphore.
[[nodiscard]] bool would_admit_permits(const LockRecord* record, const WaitQueue* queue,
                                       const Acquire& request);

// Returns whether only cached grants are in the way of such a request (S43).
[[nodiscard]] bool would_recall(const LockRecord& record, const WaitQueue* queue, LockMode mode);

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
    using Slot = NameTable::Slot;
    struct Entered {
        Ticket ticket;
        Priority priority = 0;
    };

    bool step(std::string_view name);
    bool remove_traces(std::string_view name);
    void look_behind_moved();
    bool let_in(Slot& slot);
    bool serve_conversion(Slot& slot);
    bool turn_phase(Slot& slot);
    bool enter_batch(Slot& slot);
    bool enter_unhindered(Slot& slot);
    bool enter_for_permits(Slot& slot);
    void enter(Slot& slot, const Waiter& waiter);
    void pass_turn_to_writers(Slot& slot);
    void count_overtakings(Slot& slot);
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
    struct ByName {
        bool operator()(const RecordRef& a, const RecordRef& b) const {
            return a->name() < b->name();
        }
    };
    using Names = std::set<RecordRef, ByName>;
    Names moved_;  // names that changed in the present step
    Names todo_;   // names to be examined
};

}  // namespace mortise::core
