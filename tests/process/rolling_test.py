"""A cluster is restarted node by node while members take locks (docs/rolling.md).

    rolling_test.py MORTISE STEADY_LOAD [FORMER]

FORMER is the mortise program of a former version, from which the cluster is upgraded; without it,
it is the present one at another place.
"""

import os
import shutil
import subprocess
import sys
import time
import unittest

# program takes the first two arguments.
from nodes_case import NodesCase
from program import HOLDER as LOAD, OK, PROGRAM, Talker, environment, run, wait_until

FORMER = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else None
# The longest acquire during an orderly restart, in ms. The nodes have the default timing, of which
# a crash of the leader would take up to 2 s. Measured: docs/rolling.md.
PAUSE_MAX = 1500


class Rolling(NodesCase):
    """Nodes 1 to 3 vote and have no application; 4 and 5 are learners with applications."""

    size = 5
    timing = {}  # the default

    def is_ready(self, *nodes):
        return run("status", "--ready", *self.peers(*nodes)).returncode == OK

    def start_node(self, node, program):
        self.keep(Talker([program, "node", "--config", self.config(node)], env=environment(),
                         stderr=subprocess.STDOUT), node)

    def begin(self, program):
        for node in (1, 2, 3):
            self.start_node(node, program)
        wait_until(lambda: self.is_ready(1, 2, 3))
        for node in (4, 5):
            # Both have "shared"; each has a name of its own.
            worker = self.keep(Talker([LOAD, self.config(node, peers=(1, 2, 3)), "shared",
                                       f"own-{node}"], env=environment(),
                                      stderr=subprocess.STDOUT), node)
            self.add(node)
            worker.expect("ready")
        self.figures("before")

    def figures(self, when, seconds=2):
        """Calls go on for some time; none of them fails, and no hold is lost."""
        time.sleep(seconds)
        longest = 0
        total = 0
        for worker in (self.members[4], self.members[5]):
            # Calls, failed ones, the longest in ms, and lost holds, since the last time.
            calls, failed, pause, lost = map(int, worker.ask("report", "report")[:4])
            total += calls
            self.assertGreater(calls, 0)
            self.assertEqual((failed, lost), (0, 0), worker.said("failed"))
            longest = max(longest, pause)
        print(f"{when}: {total} acquires, the longest of them took {longest} ms", flush=True)
        return longest

    def restart(self, node, program):
        """As the page says: an orderly end, a start, and a wait until all are ready."""
        self.assertEqual(self.members[node].stop(), OK, self.members[node].lines)
        self.start_node(node, program)
        wait_until(lambda: self.is_ready(1, 2, 3))

    def roll(self, order, program, what):
        longest = 0
        for node in order:
            role = "the leader" if node == self.leader(1, 2, 3) else "a follower"
            self.restart(node, program)
            longest = max(longest, self.figures(f"{what} of node {node}, {role}"))
        return longest

    def test_a_rolling_restart_fails_no_acquire(self):
        self.begin(PROGRAM)
        leader = self.leader(1, 2, 3)
        followers = [node for node in (1, 2, 3) if node != leader]
        longest = self.roll([*followers, leader], PROGRAM, "restart")
        # The other order meets a leader more often.
        longest = max(longest, self.roll([self.leader(1, 2, 3), 1, 2, 3], PROGRAM, "restart"))
        self.assertLess(longest, PAUSE_MAX)

    def test_a_rolling_upgrade_fails_no_acquire_and_neither_does_the_way_back(self):
        former = FORMER
        if former is None:
            former = str(self.place / "former")
            shutil.copy(PROGRAM, former)
        version = subprocess.run([former, "--version"], capture_output=True, text=True,
                                 env=environment(), check=True).stdout.strip()
        print(f"from {version}", flush=True)
        self.begin(former)
        longest = self.roll([1, 2], PROGRAM, "upgrade")
        # Before the last member is upgraded: then the leader writes format 2 of commands, which
        # 0.2 does not read (decision 0080).
        longest = max(longest, self.roll([2], former, "way back"))
        longest = max(longest, self.roll([2, 3], PROGRAM, "upgrade"))
        self.assertLess(longest, PAUSE_MAX)


if __name__ == "__main__":
    unittest.main(verbosity=2)
