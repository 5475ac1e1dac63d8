"""What is not a load: failovers, locks that stay held, a cluster that does nothing."""

import signal
import time

import loads
from processes import Cluster, Failed

NAME = "bench/event"


def failovers(cluster, runs, how):
    """Milliseconds from the moment when the leader is killed or stopped to the end of an acquire
    that begins at that moment on another node."""
    times = []
    for run in range(runs):
        leader = cluster.leader()
        others = sorted(number for number in cluster.nodes if number != leader)
        caller = cluster.nodes[others[run % 2]]
        caller.do("once", name=NAME)
        # Another place in the heartbeat's period for each run.
        time.sleep(0.5 + 0.037 * (run % 10))
        begin = time.monotonic_ns()
        cluster.nodes[leader].send_signal(how)
        times.append((caller.do("once", name=NAME)["granted_at_ns"] - begin) / 1e6)
        if how == signal.SIGKILL:
            cluster.nodes[leader].end()
            cluster.start(leader)
        else:
            cluster.thaw(leader)
        cluster.await_ready()
    return times


def cached(cluster, options):
    """Nanoseconds to take a lock that a follower has cached."""
    return cluster.nodes[cluster.follower()].do("cached", name="cached", seconds=options.seconds)


class Held:
    """A cluster in which one follower holds many locks."""

    FEW = 1000

    def __init__(self, cluster, options):
        self.cluster = cluster
        self.options = options
        self.leader = cluster.leader()
        self.holder = cluster.follower()
        self.replica = ({1, 2, 3} - {self.leader, self.holder}).pop()

    def hold(self, count):
        patience = 60 + count / 500
        self.cluster.nodes[self.holder].do("hold", patience, prefix="held", count=count)

    def memory(self):
        """Once the state is on disk and what can be forgotten is forgotten."""
        time.sleep(self.options.settle)
        return self.cluster.do_all("memory")

    def growth(self):
        """Bytes for each lock beyond the first few, at the replica and at the holder."""
        # The log and the buffers of the storage fill up before anything is compared.
        self.cluster.nodes[self.holder].do("async", callers=256, seconds=self.options.seconds)
        self.hold(self.FEW)
        before = self.memory()
        log_before = self.cluster.do_all("counters")
        self.hold(self.options.locks)
        log = self.cluster.do_all("counters")
        after = self.memory()
        locks = self.options.locks - self.FEW

        def of(number, key):
            return (after[number][key] - before[number][key]) / locks

        result = {"log_bytes": (log[self.replica]["log_bytes"]
                                - log_before[self.replica]["log_bytes"]) / locks}
        for role, number in (("replica", self.replica), ("holder", self.holder)):
            result[role] = of(number, "resident_bytes")
            result[f"{role}_heap"] = of(number, "heap_bytes")
        return result

    def rates(self):
        """Cycles a second of 64 callers beside a few held locks, and beside many."""
        self.hold(self.FEW)
        few = loads.MANY.run(self.cluster, self.options).rate
        self.hold(self.options.locks)
        # Otherwise the second load also pays for the end of the acquires.
        time.sleep(self.options.settle)
        return few, loads.MANY.run(self.cluster, self.options).rate

    def end_of_session(self):
        """The longest step of a node, in milliseconds, and the changes of leader, until the locks
        of a holder that was killed are free."""
        self.hold(self.options.locks)
        self.cluster.nodes[self.holder].end()
        left = [self.cluster.nodes[number] for number in (self.leader, self.replica)]
        before = [node.do("counters") for node in left]
        left[1].do("once", 90, name=f"held/{self.options.locks - 1:015}")
        time.sleep(self.options.settle)
        after = [node.do("counters") for node in left]
        return (max(counters["slowest_step_ns"] for counters in after) / 1e6,
                sum(late["leader_changes"] - early["leader_changes"]
                    for early, late in zip(before, after)))

    def restart(self):
        """Seconds from the start of a replica's process to an acquire that it was granted."""
        self.hold(self.options.locks)
        self.cluster.nodes[self.replica].end()
        begin = time.monotonic_ns()
        self.cluster.start(self.replica)
        node = self.cluster.nodes[self.replica]
        if not node.do("ready", 130, seconds=120)["ready"]:
            raise Failed("the restarted node was not ready within 120 s")
        return (node.do("once", name=NAME)["granted_at_ns"] - begin) / 1e9


def queues(cluster, options):
    """Hand-overs a second of one lock, with few waiters and with many."""
    return [loads.Load(f"{waiters} waiters", "async", waiters, "all", one_name=True)
            .run(cluster, options).rate for waiters in (10, options.waiters)]


def voters(cluster, options):
    """Cycles a second with five voters, for each with three: of one caller, and of 64."""
    three = [load.run(cluster, options).rate for load in (loads.ON_LEADER, loads.MANY)]
    with Cluster(cluster.programs, 5) as five:
        return [load.run(five, options).rate / of_three
                for load, of_three in zip((loads.ON_LEADER, loads.MANY), three)]


def idle(cluster, options):
    """Of each node: the share of a core, in per cent, and synced writes of the log a second."""
    time.sleep(options.settle / 4)
    before, begin = cluster.do_all("counters"), time.monotonic()
    time.sleep(max(options.seconds, options.settle))
    after, took = cluster.do_all("counters"), time.monotonic() - begin

    def rates(key):
        return [(after[number][key] - before[number][key]) / took for number in sorted(before)]

    return {"cpu_percent": [rate / 1e7 for rate in rates("cpu_ns")], "syncs": rates("syncs"),
            "messages": rates("messages"), "wakeups": rates("wakeups")}
