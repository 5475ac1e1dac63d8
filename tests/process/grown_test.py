"""A cluster of one that grew: its first member, whose file lists nobody else, loses its directory.

    grown_test.py MORTISE WORKER
"""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import recover_test  # noqa: E402
from recover_test import free_ports, wait_until  # noqa: E402


class GrownTest(unittest.TestCase):
    tear_down = recover_test.RecoverTest.tear_down
    data = recover_test.RecoverTest.data
    config = recover_test.RecoverTest.config
    start = recover_test.RecoverTest.start
    change = recover_test.RecoverTest.change
    held = recover_test.RecoverTest.held
    said_in = recover_test.RecoverTest.said_in

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="mortise-grown-")
        self.place = Path(self.directory.name)
        self.ports = free_ports(3)
        self.members = {}
        self.addCleanup(self.tear_down)
        self.start(1, (1,)).expect("ready")
        for node in (2, 3):
            self.start(node, (1,), "learner").expect("up")
            self.change("members", "add", str(node), f"127.0.0.1:{self.ports[node - 1]}")
            self.change("members", "promote", str(node))
            self.members[node].expect("ready")

    def test_it_joins_its_cluster_and_forms_none(self):
        wait_until(lambda: self.said_in(1, "lists no other member"))
        self.members[1].kill()
        self.start(1, (1,))
        wait_until(lambda: self.said_in(1, "lists no other member"))
        self.members[1].kill()
        token = self.held(2, "orders")
        shutil.rmtree(self.data(1))
        self.start(1, (1,)).expect("ready")
        self.assertFalse(self.said_in(1, "formed a cluster of its own"))
        self.assertGreater(self.held(1, "others"), token)
        self.members[1].tell("acquire orders")
        self.members[2].tell("release orders")
        wait_until(lambda: self.members[1].said("held orders"))
        self.assertGreater(int(self.members[1].said("held orders")[-1][2]), token)


if __name__ == "__main__":
    unittest.main(verbosity=2)
