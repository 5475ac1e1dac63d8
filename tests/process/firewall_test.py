"""What a node and `mortise doctor` say about firewalls between hosts (network namespaces).

    firewall_test.py MORTISE
"""

import json
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
sys.path.insert(0, str(HERE.parent / "torture"))

from namespaces import Network, run_inside  # noqa: E402

run_inside()  # before the next import, which takes arguments away
from program import PROGRAM, Case, Process, environment, harness, run, wait_until  # noqa: E402

NOT_READY = "mortise: not ready: "


class FirewallTest(Case):
    """Nodes 1 and 2 of a cluster of two, each on its host."""

    network = None

    @classmethod
    def setUpClass(cls):
        cls.network = Network(2)

    def config(self, node):
        path = self.directory / f"node-{node}.toml"
        path.write_text(harness.config_text(
            node, {peer: self.network.address(peer) for peer in (1, 2)},
            self.directory / f"data-{node}", "0.0.0.0:7401", ["[tls]", "insecure = true"]),
                        encoding="utf-8")
        return path

    def start(self, node):
        return self.keep(Process(
            [*self.network.enter(node), PROGRAM, "node", "--config", self.config(node)],
            env=environment(), output=self.directory / f"node-{node}.log"))

    def says(self, node, *words):
        wait_until(lambda: node.lines_with(NOT_READY, *words))
        time.sleep(3)
        self.assertEqual(len(node.lines_with(NOT_READY)), 1, node.logged())

    def filter(self, node, rule):
        """The verdict of `rule` for what arrives at the node."""
        self.network.at(node, "nft", "add", "table", "inet", "wall")
        self.addCleanup(self.network.at, node, "nft", "delete", "table", "inet", "wall")
        self.network.at(node, "nft", "add", "chain", "inet", "wall", "in",
                        "{ type filter hook input priority 0; }")
        self.network.at(node, "nft", "add", "rule", "inet", "wall", "in", rule)

    def found(self, text):
        result = run("doctor", "--json", "--config", self.config(1), within=self.network.enter(1))
        findings = json.loads(result.stdout)["findings"]
        return [each for each in findings if each["about"] == "node 2" and text in each["text"]]

    def test_packets_that_are_dropped(self):
        self.filter(2, "tcp dport 7401 drop")
        self.start(2)
        first = self.start(1)
        self.says(first, "2 (10.77.0.2:7401: it does not answer: open its port in the firewalls")
        self.assertTrue(self.found("a firewall drops the packets"))

    def test_packets_that_are_rejected(self):
        self.filter(2, "tcp dport 7401 reject with icmpx type admin-prohibited")
        first = self.start(1)
        self.says(first, "there is no route to it: check its address, the network, and the "
                         "firewalls")
        self.assertTrue(self.found("there is no way to 10.77.0.2:7401"))

    def test_connections_that_are_reset(self):
        self.filter(2, "tcp dport 7401 reject with tcp reset")
        self.says(self.start(1), "nothing listens there: start it")
        self.assertTrue(self.found("a firewall rejects it"))

    def test_one_direction_alone(self):
        self.filter(1, "tcp dport 7401 drop")
        second, first = self.start(2), self.start(1)
        self.says(first, "2 (10.77.0.2:7401: it is reached, and does not reach this node: check")
        self.says(second, "1 (10.77.0.1:7401: it does not answer: open its port in the firewalls")


if __name__ == "__main__":
    unittest.main(verbosity=2)
