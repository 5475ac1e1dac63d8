"""Members that are configured wrongly, or return at another address: the effects and messages."""

import json
import time
import unittest

from program import OK, USAGE, Cluster, config_text, free_ports, run, start, wait_until


class Mistaken(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster()
        self.addCleanup(self.cluster.__exit__)

    def text(self, node, ports=None):
        return config_text(node, ports or self.cluster.ports, self.cluster.place)

    def start(self, node, text, name=None):
        """Its log goes to a file, which a test reads while it runs."""
        config = self.cluster.write_config(text + '[log]\nlevel = "info"\n',
                                           name or f"node-{node}")
        log = config.with_suffix(f".{len(self.cluster.processes)}.log")
        return self.cluster.keep(start("node", "--config", config, log=log))

    def start_three(self):
        return [self.start(node, self.text(node)) for node in (1, 2, 3)]

    def status(self, node, ports=None):
        port = (ports or self.cluster.ports)[node - 1]
        result = run("status", "--json", "--peer", f"127.0.0.1:{port}")
        return json.loads(result.stdout)[0].get("status") if result.stdout else None

    def are_ready(self, *nodes, ports=None):
        found = [self.status(node, ports) for node in nodes]
        return all(status is not None and status["ready"] for status in found)

    def expect(self, node, *words):
        wait_until(lambda: all(word in node.logged() for word in words))

    def connected(self, node, at):
        members = {member["id"]: member for member in self.status(at)["members"]}
        return members[node]["connected"]


class ClustersOfOtherNames(Mistaken):
    def test_they_are_no_cluster_and_both_sides_say_why(self):
        first, _ = [self.start(node, f'cluster = "orders"\n{self.text(node)}') for node in (1, 2)]
        third = self.start(3, f'cluster = "payments"\n{self.text(3)}')
        differ = "configured for clusters of different names"
        self.expect(third, differ)
        self.expect(first, "node 3", "payments", "orders")
        wait_until(lambda: differ in (self.status(3) or {}).get("why_not_ready", ""))
        self.assertFalse(self.are_ready(1))
        third.end()
        self.start(3, f'cluster = "orders"\n{self.text(3)}')
        wait_until(lambda: self.are_ready(1, 2, 3))


class TimesThatDiffer(Mistaken):
    def test_one_leader_leads_on_and_each_says_what_differs(self):
        slow = self.text(1).replace('election_timeout = "500ms"', 'election_timeout = "600ms"')
        slow = slow.replace('heartbeat = "50ms"', 'heartbeat = "200ms"')
        quick = [self.text(node).replace('election_timeout = "500ms"', 'election_timeout = "150ms"')
                 for node in (2, 3)]
        nodes = [self.start(node, text) for node, text in zip((1, 2, 3), (slow, *quick))]
        wait_until(lambda: self.are_ready(1, 2, 3))
        self.expect(nodes[0], "node 2 is configured with election_timeout 150ms (here 600ms), "
                             "heartbeat 50ms (here 200ms)", "node 3 is configured")
        self.expect(nodes[2], "node 1 is configured with election_timeout 600ms (here 150ms)")
        self.assertNotIn("node 2 is configured", nodes[2].logged())
        result = run("transfer-leader", 1, *self.cluster.peers())
        self.assertEqual(result.returncode, OK, result.stderr)
        end = time.monotonic() + 5
        while time.monotonic() < end:
            self.assertEqual({self.status(node)["leader"] for node in (1, 2, 3)}, {1})


class ASecondProcessWithAMembersId(Mistaken):
    def test_it_is_refused_and_says_why_and_disturbs_nobody(self):
        nodes = self.start_three()
        wait_until(lambda: self.are_ready(1, 2, 3))
        elsewhere = [self.cluster.ports[0], *free_ports(1), self.cluster.ports[2]]
        text = self.text(2, elsewhere).replace('/node-2"', '/second"')
        before = [node.logged().count("leads") for node in nodes]
        second = self.start(2, text, "second")
        self.expect(second, "every node needs an id and a directory of its own")
        self.expect(nodes[0], "refused a second node 2")
        end = time.monotonic() + 5
        while time.monotonic() < end:
            self.assertTrue(self.connected(2, at=1) and self.connected(2, at=3))
        after = [node.logged().count("leads") for node in nodes]
        self.assertEqual(before, after)
        self.assertIn("every node needs an id and a directory of its own",
                      self.status(2, elsewhere)["why_not_ready"])


class AMemberThatComesBackUnderAnotherPort(Mistaken):
    def setUp(self):
        super().setUp()
        self.start_three()
        wait_until(lambda: self.are_ready(1, 2, 3))
        self.cluster.processes[2].end()
        self.ports = [*self.cluster.ports[:2], *free_ports(1)]
        self.address = f"127.0.0.1:{self.ports[2]}"
        self.start(3, self.text(3, self.ports))
        self.peers = self.cluster.peers()[:4]

    def move(self, node, address):
        return run("members", "move", node, address, *self.peers)

    def test_it_is_in_again_once_the_others_were_told(self):
        moved = self.move(3, self.address)
        self.assertEqual((moved.returncode, moved.stdout),
                         (OK, "node 3 has this address now\n"), moved.stderr)
        wait_until(lambda: self.are_ready(3, ports=self.ports))
        # The files of the other members still have the former port.
        for node in (1, 2):
            self.cluster.processes[node - 1].end()
        for node in (1, 2):
            self.start(node, self.text(node))
        wait_until(lambda: self.are_ready(1, 2, 3, ports=self.ports))
        members = {member["id"]: member for member in self.status(1)["members"]}
        self.assertEqual((members[3]["address"], members[3]["role"]), (self.address, "voter"))

    def test_nobody_moves_to_what_is_no_place_of_its_own(self):
        for node, address in ((4, self.address), (3, f"127.0.0.1:{self.ports[0]}"),
                              (3, "nowhere"), (3, "127.0.0.1:0"), (0, self.address)):
            moved = self.move(node, address)
            self.assertEqual(moved.returncode, USAGE, moved.stderr)
        members = {member["id"]: member for member in self.status(1)["members"]}
        self.assertEqual(members[3]["address"], f"127.0.0.1:{self.cluster.ports[2]}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
