"""A cluster of one that grew: its first member, whose file lists nobody else, loses its directory.

    grown_test.py MORTISE WORKER
"""

import shutil
import unittest

from nodes_case import NodesCase
from program import times, wait_until


class GrownTest(NodesCase):
    timing = times("2500ms")

    def setUp(self):
        super().setUp()
        self.start(1, peers=(1,)).expect("ready")
        for node in (2, 3):
            self.start(node, peers=(1,), role="learner").expect("up")
            self.add(node)
            self.change("members", "promote", node)
            self.members[node].expect("ready")

    def test_it_joins_its_cluster_and_forms_none(self):
        wait_until(lambda: self.members[1].complains("lists no other member"))
        self.members[1].end()
        self.start(1, peers=(1,))
        wait_until(lambda: self.members[1].complains("lists no other member"))
        self.members[1].end()
        token = self.held(2, "orders")
        shutil.rmtree(self.data(1))
        self.start(1, peers=(1,)).expect("ready")
        self.assertFalse(self.members[1].complains("formed a cluster of its own"))
        self.assertGreater(self.held(1, "others"), token)
        self.members[1].tell("acquire orders")
        self.members[2].tell("release orders")
        self.members[1].expect("held orders")
        self.assertGreater(int(self.members[1].said("held orders")[-1][2]), token)


if __name__ == "__main__":
    unittest.main(verbosity=2)
