"""A thousand client nodes on three voters: what each costs a voter in memory and renewals, and what
becomes of their locks when a voter dies.

    client_crowd_test.py MORTISE CROWD CLIENTS COUNT

Prints what it measured.
"""

import re
import resource
import sys
import time
import unittest
from pathlib import Path

from nodes_case import NodesCase
from program import Talker, harness, times

CLIENTS = sys.argv.pop(1)
COUNT = int(sys.argv.pop(1))
TTL_MS = 10_000
WATCHED = 20  # seconds
# For each client, on all voters together: about twice what is seen.
MEMORY_KIB_MAX = 100
WRITTEN_A_SECOND_MAX = 300  # bytes, to disks and sockets
harness.PATIENCE = 120


def memory_kib(process):
    """What it has of its own, without the pages of its program."""
    text = Path(f"/proc/{process.pid}/smaps_rollup").read_text(encoding="utf-8")
    return int(re.search(r"Anonymous:\s+(\d+)", text)[1])


def traffic(process):
    """Bytes written to disks and sockets, and the processor time in seconds."""
    written = int(re.search(r"wchar: (\d+)", Path(f"/proc/{process.pid}/io").read_text())[1])
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return written, (int(fields[11]) + int(fields[12])) / 100


class ClientCrowdTest(NodesCase):
    timing = times("10s", "1s", "100ms")
    more = f"[limits]\nclients = {2 * COUNT}\n"

    def setUp(self):
        super().setUp()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.start_all(1, 2, 3)
        self.voters = list(self.members.values())

    def totals(self):
        return [sum(each) for each in zip(*map(traffic, self.voters))]

    def measured_for(self, seconds):
        """What all voters wrote in a second, and how much of a processor they took."""
        before = self.totals()
        time.sleep(seconds)
        return [(after - was) / seconds for after, was in zip(self.totals(), before)]

    def test_a_thousand_clients(self):
        time.sleep(5)
        idle_bytes, idle_cpu = self.measured_for(WATCHED)
        memory = sum(map(memory_kib, self.voters))
        began = time.monotonic()
        clients = self.keep(Talker([CLIENTS, COUNT, TTL_MS, *map(self.address, (1, 2, 3))]))
        self.assertEqual(clients.answer("holding"), [str(COUNT)])
        took = time.monotonic() - began
        time.sleep(5)
        bytes_a_second, cpu = self.measured_for(WATCHED)
        more = sum(map(memory_kib, self.voters)) - memory
        written = (bytes_a_second - idle_bytes) / COUNT
        print(f"\n{COUNT} clients hold a lock each after {took:.1f} s", flush=True)
        print(f"memory: {more / COUNT:.1f} KiB for each client, on all three voters together")
        print(f"renewals, each client every {TTL_MS / 3000:.1f} s: the voters write "
              f"{written:.0f} bytes a second for each, and take "
              f"{100 * (cpu - idle_cpu):.1f} % of a processor more, together", flush=True)
        self.assertLess(more / COUNT, MEMORY_KIB_MAX)
        self.assertLess(written, WRITTEN_A_SECOND_MAX)
        self.assertEqual(clients.ask("", "counted"), [str(COUNT), "0"])

        # Those that used it go to the other two, and nobody loses a lock.
        self.members[1].end()
        time.sleep(2 * TTL_MS / 1000)
        self.assertEqual(clients.ask("", "counted"), [str(COUNT), "0"])
        print("a voter was killed: no lock was lost", flush=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
