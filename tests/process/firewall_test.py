"""What a node and `mortise doctor` say about firewalls between hosts (network namespaces).

    firewall_test.py MORTISE
"""

import json
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
sys.path.insert(0, str(HERE.parent / "torture"))

from namespaces import Network, run_inside  # noqa: E402

run_inside()  # before the next import, which takes arguments away
from program import PROGRAM, environment, wait_until  # noqa: E402

NOT_READY = "mortise: not ready: "


class FirewallTest(unittest.TestCase):
    """Nodes 1 and 2 of a cluster of two, each on its host."""

    network = None

    @classmethod
    def setUpClass(cls):
        cls.network = Network(2)

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="mortise-firewall-")
        self.addCleanup(directory.cleanup)
        self.place = Path(directory.name)

    def config(self, node):
        path = self.place / f"node-{node}.toml"
        text = (f'node_id = {node}\ndata_dir = "{self.place}/data-{node}"\n'
                'listen = "0.0.0.0:7401"\n')
        for peer in (1, 2):
            text += f'[[peer]]\nid = {peer}\naddress = "{self.network.address(peer)}"\n'
        path.write_text(text + "[tls]\ninsecure = true\n", encoding="utf-8")
        return path

    def start(self, node):
        log = open(self.place / f"node-{node}.log", "w", encoding="utf-8")
        process = subprocess.Popen([*self.network.enter(node), PROGRAM, "node", "--config",
                                    self.config(node)], stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=log, env=environment())
        self.addCleanup(lambda: (process.kill(), process.wait(), log.close()))

    def lines(self, node, *words):
        text = (self.place / f"node-{node}.log").read_text(encoding="utf-8")
        return [line for line in text.splitlines() if all(word in line for word in words)]

    def says(self, node, *words):
        wait_until(lambda: self.lines(node, NOT_READY, *words))
        time.sleep(3)
        self.assertEqual(len(self.lines(node, NOT_READY)), 1, self.lines(node))

    def filter(self, node, rule):
        """The verdict of `rule` for what arrives at the node."""
        self.network.at(node, "nft", "add", "table", "inet", "wall")
        self.addCleanup(self.network.at, node, "nft", "delete", "table", "inet", "wall")
        self.network.at(node, "nft", "add", "chain", "inet", "wall", "in",
                        "{ type filter hook input priority 0; }")
        self.network.at(node, "nft", "add", "rule", "inet", "wall", "in", rule)

    def found(self, text):
        result = subprocess.run([*self.network.enter(1), PROGRAM, "doctor", "--json", "--config",
                                 self.config(1)], env=environment(), capture_output=True,
                                text=True, timeout=60, check=False)
        findings = json.loads(result.stdout)["findings"]
        return [each for each in findings if each["about"] == "node 2" and text in each["text"]]

    def test_packets_that_are_dropped(self):
        self.filter(2, "tcp dport 7401 drop")
        self.start(2)
        self.start(1)
        self.says(1, "2 (10.77.0.2:7401: it does not answer: open its port in the firewalls")
        self.assertTrue(self.found("a firewall drops the packets"))

    def test_packets_that_are_rejected(self):
        self.filter(2, "tcp dport 7401 reject with icmpx type admin-prohibited")
        self.start(1)
        self.says(1, "there is no route to it: check its address, the network, and the firewalls")
        self.assertTrue(self.found("there is no way to 10.77.0.2:7401"))

    def test_connections_that_are_reset(self):
        self.filter(2, "tcp dport 7401 reject with tcp reset")
        self.start(1)
        self.says(1, "nothing listens there: start it")
        self.assertTrue(self.found("a firewall rejects it"))

    def test_one_direction_alone(self):
        self.filter(1, "tcp dport 7401 drop")
        self.start(2)
        self.start(1)
        self.says(1, "2 (10.77.0.2:7401: it is reached, and does not reach this node: check the")
        self.says(2, "1 (10.77.0.1:7401: it does not answer: open its port in the firewalls")


if __name__ == "__main__":
    unittest.main(verbosity=2)
