"""The client programs: their loads, and what they print."""

import json
import subprocess
import time

from figures import Outcome
from processes import Failed, Node


def outcome_of(printed):
    """The last line is the object that closed_loop() in bench/measure makes."""
    lines = printed.strip().splitlines()
    try:
        part = json.loads(lines[-1] if lines else "")
        outcome = Outcome([part])
    except (ValueError, KeyError, TypeError):
        raise Failed(f"the client printed no result: {lines[-1:]}") from None
    if part["failure"]:
        raise Failed(f"a call failed: {part['failure']}")
    if outcome.cycles == 0:
        raise Failed("not a single cycle was completed")
    return outcome


class Client:
    def __init__(self, programs, name):
        self.program = programs.node.with_name(f"bench_{name}")

    def is_built(self):
        return self.program.exists()

    def load(self, servers, recipe, scenario, times):
        """`times` are the seconds of the warm-up and of the load."""
        words = [self.program, recipe, ",".join(servers.addresses()), scenario.callers,
                 "one" if scenario.one_name else "own", *times, *servers.pids()]
        try:
            done = subprocess.run(list(map(str, words)), capture_output=True, text=True,
                                  check=False, timeout=sum(times) + 120)
        except subprocess.TimeoutExpired:
            raise Failed("the client did not end") from None
        if done.returncode != 0:
            raise Failed((done.stderr.strip().splitlines() or ["it said nothing"])[-1])
        return outcome_of(done.stdout)

    def failovers(self, servers, runs):
        """Milliseconds from the death of the leader to the end of an acquire that begins at that
        moment at the other servers, as events.failovers() measures it with Mortise."""
        return [self.failover(servers, run) for run in range(runs)]

    def failover(self, servers, run):
        leader, *others = servers.addresses()
        number = next(it for it in servers.ports if servers.address(it) == leader)
        caller = Node([self.program, "once", ",".join(others)], log=servers.folder / "caller.log")
        try:
            caller.do("once")
            time.sleep(0.5 + 0.037 * (run % 10))
            begin = time.monotonic_ns()
            servers.kill(number)
            took = (caller.do("once")["granted_at_ns"] - begin) / 1e6
        finally:
            caller.end()
        servers.start(number)
        servers.await_ready()
        return took
