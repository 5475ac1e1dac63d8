"""Loads: callers that acquire and release at full speed, at the floor or in a cluster."""

from typing import NamedTuple

from figures import Outcome, quantile
from processes import Failed


class Load:
    """So many callers for a warm-up and some seconds. `where` is "leader", "follower" or "all"."""

    def __init__(self, name, kind, callers, where, awaited=True, one_name=False,
                 cached=False):
        self.name = name
        self.kind = kind  # the task of bench_node: blocking, async, open
        self.callers = callers
        self.where = where
        self.task = {"awaited": awaited, "one_name": one_name, "cached": cached}

    def shares(self, cluster):
        """How many callers each node has."""
        if self.where != "all":
            return {getattr(cluster, self.where)(): self.callers}
        nodes = sorted(cluster.nodes)
        return {number: self.callers // len(nodes) + (index < self.callers % len(nodes))
                for index, number in enumerate(nodes)}

    def run(self, cluster, options, **more):
        leader = cluster.leader()
        shares = self.shares(cluster)
        # A node without callers does nothing but count.
        for number, node in cluster.nodes.items():
            task = {"callers": shares.get(number, 0), "prefix": f"bench/{self.name}",
                    "warm_up": options.warm_up, "seconds": options.seconds} | self.task | more
            node.ask(self.kind if number in shares else "blocking", **task)
        patience = options.warm_up + options.seconds + 60
        outcome = Outcome([node.answer(patience) for node in cluster.nodes.values()])
        if self.where != "all" and cluster.leader() != leader:
            raise Failed("the leader changed while it was measured")
        if outcome.cycles == 0:
            raise Failed("not a single cycle was completed")
        return outcome


def probe(programs, options):
    """Medians of a sync of the disk and of a round trip on loopback, in microseconds."""
    [found] = programs.run_floor("probe", min(options.seconds, 2))
    return [quantile(dict(map(tuple, found[key])), 0.5) for key in ("sync", "round_trip")]


class Floor(NamedTuple):
    """A load of the floor. `spread`: its callers are in all three processes, as those of a cluster
    are, and not all in the one that leads."""

    callers: int
    awaited: bool = True
    spread: bool = False

    def run(self, programs, options):
        return Outcome(programs.run_floor(
            "spread" if self.spread else "load", self.callers,
            "awaited" if self.awaited else "unawaited", options.warm_up, options.seconds))

    def name(self):
        return (f"floor, {self.callers} caller{'s' * (self.callers > 1)}"
                f"{' of three processes' if self.spread else ''}"
                f"{'' if self.awaited else ', unawaited'}")


FLOOR_ONE = Floor(1)
FLOOR_MANY = Floor(64)
FLOOR_SPREAD = Floor(64, spread=True)


ON_LEADER = Load("one caller on the leader", "blocking", 1, "leader")
ON_FOLLOWER = Load("one caller on a follower", "blocking", 1, "follower")
UNAWAITED = Load("one caller, releases not awaited", "blocking", 1, "leader", awaited=False)
SIXTEEN = Load("16 callers", "blocking", 16, "all")
SIXTEEN_UNAWAITED = Load("16 callers, releases not awaited", "blocking", 16, "all", awaited=False)
MANY = Load("64 callers", "blocking", 64, "all")
MANY_UNAWAITED = Load("64 callers, releases not awaited", "blocking", 64, "all", awaited=False)
ASYNC_ONE = Load("1,024 outstanding at one node", "async", 1024, "leader")
ASYNC_ALL = Load("1,024 outstanding at three nodes", "async", 1024, "all")
HOT = Load("16 callers, one lock", "blocking", 16, "all", one_name=True)
HOT_LOCAL = Load("16 callers, one lock, handed over within a node first", "blocking", 16, "all",
                 one_name=True, cached=True)
OPEN = Load("open loop at half the rate of 64 callers", "open", 1, "all")
