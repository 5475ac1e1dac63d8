#include "core/node/commit_audience.hpp"

#include "core/base/overloaded.hpp"

namespace mortise::core {

namespace {

// If a name has more holders than this, every node is told of a waiter.
constexpr std::size_t holders_told_max = 8;

class Collector {
public:
    Collector(const LockMachine& machine, const SessionMembers& members, CommitAudience& audience)
        : machine_{machine}, members_{members}, audience_{audience} {}

    void operator()(const Answered& answered) { add(answered.operation); }
    // The holders may have asked to be told of contention.
    void operator()(const Queued& queued) {
        add(queued.operation);
        const auto* session = machine_.sessions().find(queued.operation.session);
        if (session == nullptr) return;
        const auto* found = session->operations.find(queued.operation.seq);
        if (found == nullptr) return;
        for (const auto& record : found->names())
            add_holders(*record);
    }
    void operator()(const ReleaseAsked& asked) {
        add(asked.by);
        for (const auto hold : asked.holds)
            add(hold);
    }
    // Each voter counts the times of sessions and quorum timers from when it learns of them, and
    // events of broken locks are published on each node. All of these are rare.
    template <class Other>
    void operator()(const Other& /*other*/) {
        audience_.everybody = true;
    }

private:
    void add(OperationId operation) {
        const auto* session = machine_.sessions().find(operation.session);
        if (session == nullptr) return;
        const auto node = session->opened.node;
        // A client has no copy of the log: the member that it uses waits for the commit.
        const auto waits = node.is_set() ? node : members_.of(session->id);
        if (waits.is_set()) {
            audience_.nodes.insert(waits);
        } else {
            audience_.everybody = true;
        }
    }
    void add_holders(const LockRecord& record) {
        if (record.holders().size() > holders_told_max) audience_.everybody = true;
        if (audience_.everybody) return;
        for (const auto& holder : record.holders())
            add(holder.operation);
    }

    const LockMachine& machine_;
    const SessionMembers& members_;
    CommitAudience& audience_;
};

}  // namespace

CommitAudience audience_of(const Applied& applied, const LockMachine& machine,
                           const SessionMembers& session_members, std::size_t members) {
    CommitAudience audience;
    audience.everybody = !has_commands(applied.entry.kind);
    for (const auto& outcome : applied.outcomes) {
        if (audience.nodes.size() >= members) audience.everybody = true;
        if (audience.everybody) break;
        std::visit(Collector{machine, session_members, audience}, outcome);
    }
    return audience;
}

}  // namespace mortise::core
