"""The faults that others must not notice, and the seconds in which one of them was alone."""

import os
import time

import history
from cluster import ELECTION, now
from faults import Fault
from harness import Talker

# How long there may be no grant while one member lies (decision 0064), or clients are greedy: two
# election timeouts, and what a busy machine takes.
GAP_MAX = 2 * ELECTION + 0.5


class Watched:
    """Some seconds in which one fault was alone, so that nothing but it could stop the others."""

    def __init__(self, cluster, fault):
        self.cluster = cluster
        self.fault = fault
        before = cluster.leadership()
        self.begin = now()
        time.sleep(fault.alone)
        self.until = now()
        self.kept_leader = cluster.leadership() == before

    def judge(self, calls):
        times = history.grant_times(calls)
        gap = history.longest_gap(times, self.begin, self.until) / 1e9
        seconds = (self.until - self.begin) / 1e9
        grants = sum(self.begin < time < self.until for time in times)
        what = f"{self.fault.kind} at {self.fault.where()}"
        print(f"alone for {seconds:.1f} s: {what}: longest gap {gap:.2f} s, {GAP_MAX:.2f} s are "
              f"allowed; {grants / seconds:.0f} grants/s; the leader "
              f"{'stays' if self.kept_leader else 'changes'}", flush=True)
        if gap > GAP_MAX:
            self.cluster.complain(f"nothing was granted for {gap:.2f} s beside {what}")
        if self.fault.keeps_leader and not self.kept_leader:
            self.cluster.complain(f"the leader was replaced beside {what}")


class Nothing(Fault):
    """What the others are compared with."""

    alone = 3

    def where(self):
        return "all"

    def begin(self):
        """Nothing is wrong."""


class Liar(Fault):
    """A process in its place, with its directory, that lies in its own name (decision 0064). It is
    the same member each time: two whose words agree may end the life of a third one."""

    needs = ("mortise",)
    alone = 6  # every lie has its turn
    keeps_leader = False
    patience = 20

    def __init__(self, cluster, chance):
        super().__init__(cluster, chance)
        self.victim = cluster.seed % len(cluster.numbers) + 1
        self.node = cluster.nodes[self.victim]
        self.life = None

    def begin(self):
        self.count = 0
        if not self.can_be_missed() or not self.node.life.kill_in(1):
            return
        self.cluster.lost.add(self.victim)  # others find out that it lied, and it begins anew
        self.node.start(lies_every=self.chance.choice([5, 50]))
        self.life = self.node.life
        self.count = int(self.life.ready.wait(self.patience))

    def end(self):
        if self.life is not None:
            self.life.kill_in(1)
            self.count = self.life.lies


class Greedy(Fault):
    """Client nodes that ask for new names all the time, and release none."""

    alone = 4
    clients = 5
    names = 20  # of each, every 5 ms
    patience = 20

    def where(self):
        return "all"

    def begin(self):
        self.count = 0
        network = self.cluster.network
        credentials = self.cluster.credentials("greedy")
        self.process = Talker(
            [*network.enter(self.victim), self.cluster.programs / "greedy_clients",
             self.clients, self.names, 3600, *map(network.address, self.cluster.numbers)],
            env=os.environ | {f"GREEDY_{what.upper()}": file for what, file in credentials.items()},
            start_new_session=True)
        self.process.next("asking", self.patience)  # all of them have sessions
        self.count = self.clients

    def end(self):
        self.process.stop(self.patience)
        self.process.end()
        self.count = sum(int(words[1].rstrip(",")) for words in self.process.said("asked"))


class GreedyCrowd(Greedy):
    """They take both processors of a small machine."""

    clients = 100


KINDS = [Liar, Greedy, GreedyCrowd]
