"""Nodes of a cluster that acknowledges from memory lose their power (docs/durability.md).

    power_test.py MORTISE WORKER
"""

import time
import unittest

from nodes_case import NodesCase
from power import LossyMachine, can_boot
from program import HOLDER, OK, Talker, environment, run, wait_until

TTL = 3  # seconds
# What a node says in its log.
FORGETFUL = "the newest entries of the log may be lost"
RECOVERED = "this node has everything again"
ERA = "the machines of a majority lost power: all sessions end"


@unittest.skipUnless(can_boot(), "no process can be shown another boot id here")
class PowerLoss(NodesCase):
    size = 3
    more = '[log]\nlevel = "info"\n'

    def setUp(self):
        super().setUp()
        self.machines = {
            node: LossyMachine(f"{self.place}/node-{node}", f"{self.place}/boot-{node}")
            for node in (1, 2, 3)}
        self.texts = {}

    # What is not sealed stays unsynced for the whole test.
    def config(self, node, **changed):
        path = super().config(node, **changed)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write('durability = "replicated"\nsync_interval = "10s"\n' + text)
        return path

    def start(self, node, **changed):
        command = [*self.machines[node].runs(), HOLDER, self.config(node, **changed)]
        log = open(f"{self.place}/log-{node}", "a", encoding="utf-8")
        self.addCleanup(log.close)
        return self.keep(Talker(command, env=environment(), stderr=log), node)

    def said(self, node, words):
        with open(f"{self.place}/log-{node}", encoding="utf-8") as file:
            return file.read().count(words)

    def begin(self):
        self.start_all(1, 2, 3)
        for node in (1, 2, 3):
            self.held(node, f"warm-{node}")
        for machine in self.machines.values():
            machine.note_synced()

    # At once: otherwise those that still run elect a leader, and votes are synced.
    def kill(self, *nodes):
        for node in nodes:
            self.members[node].kill()
        for node in nodes:
            self.members[node].end()

    def lose_power(self, *nodes, left=None):
        self.kill(*nodes)
        for node in nodes:
            self.machines[node].lose_power(left)

    def test_of_one_that_comes_back(self):
        self.begin()
        leader = self.leader(1)
        other = leader % 3 + 1
        token = self.held(leader, "orders")
        self.lose_power(other, left=0)
        self.start_all(other)
        self.assertEqual(self.said(other, FORGETFUL), 1)
        self.assertEqual(self.said(other, RECOVERED), 1)
        # It has the grant again, and the holder has kept it.
        self.kill(({1, 2, 3} - {leader, other}).pop())
        self.assertIn(str(token), run("inspect", "orders", *self.peers(other)).stdout)

    def test_of_the_leader(self):
        self.begin()
        leader = self.leader(1)
        others = [node for node in (1, 2, 3) if node != leader]
        token = self.held(others[0], "orders")
        self.lose_power(leader, left=0)
        self.start_all(leader)
        self.assertIn(str(token), run("inspect", "orders", *self.peers(leader)).stdout)
        self.assertEqual(sum(self.said(node, ERA) for node in (1, 2, 3)), 0)

    def test_of_none_if_all_processes_die(self):
        self.begin()
        tokens = [self.held(node, f"orders-{node}") for node in (1, 2, 3)]
        self.kill(1, 2, 3)
        self.start_all(1, 2, 3)
        self.assertGreater(self.held(1, "orders-2"), max(tokens))
        self.assertEqual(sum(self.said(node, ERA) for node in (1, 2, 3)), 0)

    def test_of_all(self):
        self.begin()
        tokens = [self.held(node, f"orders-{node}") for node in (1, 2, 3)]
        self.lose_power(1, 2, 3)
        lost_at = time.monotonic()
        self.start_all(1, 2, 3)
        self.assertEqual(sum(self.said(node, ERA) for node in (1, 2, 3)), 1)
        # A client may have outlived the machines, and believe in a grant of the former era.
        self.assertGreater(time.monotonic() - lost_at, TTL)
        for node in (1, 2, 3):
            self.assertGreater(self.held(node, f"orders-{node}"), max(tokens))

    def test_of_all_again_and_again(self):
        self.begin()
        newest = self.held(1, "orders")
        for _ in range(3):
            for machine in self.machines.values():
                machine.note_synced()
            self.lose_power(1, 2, 3)
            self.start_all(1, 2, 3)
            token = self.held(1, "orders")
            self.assertGreater(token, newest)
            newest = token

    def test_of_all_is_in_a_dump(self):
        self.begin()
        self.held(1, "orders")
        self.kill(1, 2, 3)
        self.assertIn("were acknowledged before they were synced", self.dump(1))
        self.machines[1].lose_power()
        self.start(1)
        wait_until(lambda: self.said(1, FORGETFUL))
        self.kill(1)
        self.assertIn("that were acknowledged may be lost; not recovered yet", self.dump(1))

    def dump(self, node):
        result = run("dump", self.machines[node].data)
        self.assertEqual(result.returncode, OK, result.stderr)
        return result.stdout

    def test_of_a_majority_waits_for_the_third(self):
        self.begin()
        self.held(1, "orders")
        self.kill(1, 2, 3)
        self.lose_power(1, 2)
        self.start(1)
        self.start(2)
        time.sleep(2 * TTL)
        self.assertEqual(self.said(1, ERA) + self.said(2, ERA), 0)
        self.start(3)
        for node in (1, 2, 3):
            self.members[node].expect("ready")


if __name__ == "__main__":
    unittest.main()
