#include "tests/conversations/scenes.hpp"

#include "tests/conversations/small_cluster.hpp"

namespace mortise::conversations {

// The leader is cut off, the others elect another one, and the first one comes back.
Transcript election() {
    SmallCluster it;
    it.transcript.news().renewals_are_routine(true);
    it.transcript.draws_acknowledgements(true);
    it.begin();
    it.remark("every message to and from node 1 is lost from now on");
    it.stage.isolate(n1);
    it.stage.run_until([&] { return !it.leads(n1) && (it.leads(n2) || it.leads(n3)); });
    it.stage.run_for(1s);
    it.remark("messages to and from node 1 arrive again");
    it.stage.rejoin(n1);
    it.stage.run_for(150ms);
    return std::move(it.transcript);
}

// Node 2 acquires a lock, node 3 waits for it, node 2 releases it.
Transcript acquire() {
    SmallCluster it;
    it.transcript.draws_acknowledgements(true);
    it.begin();
    it.acquire(n2, 1, "jobs/1");
    it.until_answered(n2, 1);
    it.remark("node 3 wants the same lock");
    it.acquire(n3, 1, "jobs/1");
    it.stage.run_for(30ms);
    it.remark("node 2 releases it");
    it.release(n2, 2, it.stage.granted(n2, 1));
    it.until_answered(n3, 1);
    return std::move(it.transcript);
}

// The leader has a lock and is cut off: another node leads, and the waiter gets the lock.
Transcript failover() {
    SmallCluster it;
    it.acquire(n1, 1, "jobs/1");
    it.until_answered(n1, 1);
    it.acquire(n3, 1, "jobs/1");
    it.stage.run_for(3s);
    it.begin();
    const auto before = it.stage.core(n2).applied_index();
    it.stage.run_until([&] { return it.stage.core(n2).applied_index() > before; });
    it.transcript.news().renewals_are_routine(true);
    it.stage.run_for(1s);
    it.remark("every message to and from node 1 is lost from now on");
    it.stage.isolate(n1);
    it.until_answered(n3, 1);
    return std::move(it.transcript);
}

// A third node becomes a learner, and then a voter.
Transcript membership() {
    SmallCluster it{{1, 2}};
    it.stage.add(core::test::node_options(3, {}));
    it.stage.run_for(100ms);
    it.transcript.news().renewals_are_routine(true);
    it.begin();
    it.change(n2, 1, {core::MembershipGoal::Kind::learner, n3, "host3:7000"});
    it.until_answered(n2, 1);
    it.remark("node 3 is a learner, and is to be a voter");
    it.change(n2, 2, {core::MembershipGoal::Kind::voter, n3, {}});
    it.until_answered(n2, 2);
    return std::move(it.transcript);
}

// Node 3 is away for so long that the log is purged meanwhile.
Transcript snapshot() {
    SmallCluster it{{1, 2, 3}, [](core::NodeOptions& options) {
                        options.log_bytes_max = 100;
                        options.snapshot_bytes_max = 150;
                    }};
    it.stage.isolate(n3);
    it.stage.run_for(1200ms);  // longer than a leader waits for a member before it sends a state
    for (std::uint64_t tag = 1; tag <= 6; ++tag) {
        it.acquire(n1, tag, "jobs/" + std::to_string(tag));
        it.until_answered(n1, tag);
    }
    it.transcript.shows_state(true);
    it.transcript.news().renewals_are_routine(true);
    it.begin();
    it.stage.run_for(400ms);
    it.remark("messages to and from node 3 arrive again");
    it.stage.rejoin(n3);
    it.stage.run_for(180ms);
    it.remark("the log goes on");
    it.transcript.shows_state(false);
    it.acquire(n3, 1, "jobs/7");
    it.until_answered(n3, 1);
    return std::move(it.transcript);
}

}  // namespace mortise::conversations
