"""The rounds of ./dev bench --peers: the floor, Mortise, and every service, in turn."""

import signal
import sys

import events
import loads
import report as around
from clients import Client
from figures import Range
from processes import Cluster, Failed, Programs
from results import Outcomes
from systems import (FLOOR, LOCAL, MORTISE, PEERS, REPLICATED, REPLICATED_FOLLOWER, SCENARIOS,
                     UNAWAITED)
from targets import Rounds

ALONE, SIXTEEN, MANY, HOT = SCENARIOS
OWN_LOADS = [
    (MORTISE, ALONE, loads.ON_LEADER), (MORTISE, SIXTEEN, loads.SIXTEEN),
    (MORTISE, MANY, loads.MANY), (MORTISE, HOT, loads.HOT),
    (UNAWAITED, ALONE, loads.UNAWAITED), (UNAWAITED, SIXTEEN, loads.SIXTEEN_UNAWAITED),
    (UNAWAITED, MANY, loads.MANY_UNAWAITED), (LOCAL, HOT, loads.HOT_LOCAL),
]
# In a cluster that acknowledges from memory.
MEMORY_LOADS = [
    (REPLICATED, ALONE, loads.ON_LEADER), (REPLICATED_FOLLOWER, ALONE, loads.ON_FOLLOWER),
    (REPLICATED, SIXTEEN, loads.SIXTEEN), (REPLICATED, MANY, loads.MANY),
    (REPLICATED, HOT, loads.HOT),
]


class Comparison:
    def __init__(self, options):
        self.options = options
        self.programs = Programs(options.programs, options.directory)
        self.in_memory = Programs(options.programs, options.directory, "replicated")
        self.outcomes = Outcomes()
        self.rounds = Rounds()  # of the floor, by which it is judged
        self.sync, self.trip = [], []
        self.peers = [peer for peer in PEERS
                      if peer.client in options.peers and self.is_built(peer)]

    def is_built(self, peer):
        built = Client(self.programs, peer.client).is_built()
        if not built:
            print(f"{peer.client} is skipped: its client library is not installed",
                  file=sys.stderr)
        return built

    def measured_peers(self):
        return sorted({peer.client for peer in self.peers})

    def run(self):
        for number in range(1, self.options.rounds + 1):
            self.run_floor(number)
            self.run_mortise(self.programs, OWN_LOADS, number)
            self.run_mortise(self.in_memory, MEMORY_LOADS, number)
            for peer in self.peers:
                self.run_peer(peer, number)
        wrong, floor = around.judge_floor(Range(self.sync), Range(self.trip), self.rounds)
        around.progress("")
        return {"rows": self.outcomes.rows(), "failovers": self.outcomes.failovers, "void": wrong,
                "floor": floor}

    def is_last(self, number):
        """Failovers are measured once, with the servers of the last round."""
        return number == self.options.rounds and self.options.failovers > 0

    def run_floor(self, number):
        sync, trip = loads.probe(self.programs, self.options)
        self.sync.append(sync)
        self.trip.append(trip)
        for scenario in (ALONE, SIXTEEN, MANY):
            around.progress(f"round {number}: floor, {scenario.name}")
            floor = loads.Floor(scenario.callers)
            outcome = floor.run(self.programs, self.options)
            self.rounds.floor.setdefault(floor, []).append(outcome)
            self.outcomes.add(FLOOR, scenario, outcome)

    def run_mortise(self, programs, own, number):
        left = list(own)
        while left:
            with Cluster(programs) as cluster:
                # After a failure its nodes may be busy with anything.
                while left and self.run_own_load(cluster, left.pop(0), number):
                    pass
        if self.is_last(number):
            self.try_failovers(own[0][0], lambda: self.own_failovers(programs))

    def own_failovers(self, programs):
        with Cluster(programs) as cluster:
            return events.failovers(cluster, self.options.failovers, signal.SIGKILL)

    def run_own_load(self, cluster, own, number):
        system, scenario, load = own
        return self.attempt(system, scenario, number, lambda: load.run(cluster, self.options))

    def attempt(self, system, scenario, number, run):
        around.progress(f"round {number}: {system.name}, {scenario.name}")
        try:
            self.outcomes.add(system, scenario, run())
        except Failed as failed:
            self.outcomes.fail(system, scenario, str(failed))
            return False
        return True

    def run_peer(self, peer, number):
        client = Client(self.programs, peer.client)
        left = [(system, scenario) for system in peer.systems for scenario in SCENARIOS]
        around.progress(f"round {number}: {peer.systems[0].name}, start")
        try:
            with peer.start(self.programs) as servers:
                self.warm_up(peer, client, servers)
                while left:
                    self.run_load(client, servers, *left.pop(0), number)
                if peer.survives and self.is_last(number):
                    self.try_failovers(peer.systems[0],
                                       lambda: client.failovers(servers, self.options.failovers))
        except Failed as failed:  # at the start
            for system, scenario in left:
                self.outcomes.fail(system, scenario, str(failed))

    def run_load(self, client, servers, system, scenario, number):
        times = (self.options.warm_up, self.options.seconds)
        self.attempt(system, scenario, number,
                     lambda: client.load(servers, system.recipe, scenario, times))

    def warm_up(self, peer, client, servers):
        if peer.is_java:
            client.load(servers, peer.systems[0].recipe, MANY, (self.options.java_warm_up, 0.1))

    def try_failovers(self, system, run):
        around.progress(f"{system.name}, failovers")
        try:
            self.outcomes.add_failovers(system, run())
        except Failed as failed:
            print(f"{system.name}, failover: {failed}", file=sys.stderr)
