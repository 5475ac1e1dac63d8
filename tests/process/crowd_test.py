"""A member is wiped while others hold very many locks and work on: it comes back by the state.

    crowd_test.py MORTISE CROWD COUNT

Prints what it took, and what the load beside it saw.
"""

import random
import shutil
import sys
import time
import unittest

from nodes_case import NodesCase
from program import harness, times, wait_until

COUNT = int(sys.argv.pop(1)) if len(sys.argv) > 1 else 3000
harness.PATIENCE = 600
LOADERS = 8  # threads of each of the two processes that continue


class CrowdTest(NodesCase):
    # A wiped node needs the whole log, from the first entry on. The others must not be cut off as
    # well while the machine is busy: a lease may not last until the snapshot is there.
    timing = times("10s", "1s", "100ms")
    more = f'[limits]\nlog_bytes = {32 << 20}\n[log]\nlevel = "info"\n'

    def setUp(self):
        super().setUp()
        self.start_all(1, 2, 3)

    def measure(self, what, nodes):
        for node in nodes:
            grants, errors, *times = self.members[node].ask("measure", "load")
            print(f"{what}: node {node}: {grants} grants, {errors} errors, "
                  "p50 {} ms, p99 {} ms, longest {} ms".format(*times), flush=True)
            self.assertGreater(int(grants), 0)
            self.assertEqual(int(errors), 0)

    def test_a_wiped_member_comes_back_beside_a_crowd(self):
        leader = self.leader(1)
        wiped = leader % 3 + 1
        working = [node for node in (1, 2, 3) if node != wiped]
        for node in working:
            self.members[node].tell(f"hold crowd{node}/ {COUNT // 2}")
        for node in working:
            held, again, took = self.members[node].answer("holding")
            print(f"node {node} holds {held} after {float(took) / 1000:.1f} s "
                  f"({again} asked again)", flush=True)
        for node in working:
            self.members[node].ask(f"load busy{node}/ {LOADERS}", "loading")
        time.sleep(5)
        self.measure("before", working)

        self.members[wiped].end()
        shutil.rmtree(self.data(wiped))
        time.sleep(5)
        self.measure("without it", working)
        begin = time.monotonic()
        self.start(wiped)
        wait_until(lambda: self.members[wiped].complains("installed the state"))
        print(f"has the state after {time.monotonic() - begin:.1f} s", flush=True)
        self.members[wiped].expect("ready")
        print(f"ready after {time.monotonic() - begin:.1f} s", flush=True)
        wait_until(lambda: self.listed(leader)[wiped]["role"] == "voter")
        print(f"votes after {time.monotonic() - begin:.1f} s", flush=True)
        self.measure("while it came back", working)

        for node in working:
            valid, = self.members[node].ask("valid", "valid")
            self.assertEqual(int(valid), COUNT // 2)
            for number in random.sample(range(COUNT // 2), 20):
                name = f"crowd{node}/{number}"
                self.assertEqual(self.members[wiped].ask(f"busy {name}", "busy"), [name, "yes"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
