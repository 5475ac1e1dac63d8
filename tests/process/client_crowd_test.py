"""A thousand client nodes on three voters: what each costs a voter in memory and renewals, and what
becomes of their locks when a voter dies.

    client_crowd_test.py MORTISE CROWD CLIENTS COUNT

Prints what it measured.
"""

import re
import resource
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
import program  # noqa: E402
from member_process import Member  # noqa: E402
from program import HOLDER as VOTER, config_text, free_ports  # noqa: E402

CLIENTS = sys.argv.pop(1)
COUNT = int(sys.argv.pop(1))
TTL_MS = 10_000
WATCHED = 20  # seconds
# For each client, on all voters together: about twice what is seen.
MEMORY_KIB_MAX = 100
WRITTEN_A_SECOND_MAX = 300  # bytes, to disks and sockets
program.PATIENCE = 120


def memory_kib(process):
    """What it has of its own, without the pages of its program."""
    text = Path(f"/proc/{process.pid}/smaps_rollup").read_text(encoding="utf-8")
    return int(re.search(r"Anonymous:\s+(\d+)", text)[1])


def traffic(process):
    """Bytes written to disks and sockets, and the processor time in seconds."""
    written = int(re.search(r"wchar: (\d+)", Path(f"/proc/{process.pid}/io").read_text())[1])
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return written, (int(fields[11]) + int(fields[12])) / 100


class Clients:
    """The process with all of them."""

    def __init__(self, count, ports):
        self.process = subprocess.Popen(
            [CLIENTS, str(count), str(TTL_MS), *(f"127.0.0.1:{port}" for port in ports)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def expect(self, word):
        line = self.process.stdout.readline().split()
        assert line and line[0] == word, line
        return [int(number) for number in line[1:]]

    def count(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.expect("counted")

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class ClientCrowdTest(unittest.TestCase):
    def setUp(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.directory = tempfile.TemporaryDirectory(prefix="mortise-clients-")
        self.addCleanup(self.directory.cleanup)
        self.ports = free_ports(3)
        self.voters = {}
        for node in (1, 2, 3):
            text = config_text(node, self.ports, self.directory.name)
            path = Path(self.directory.name) / f"node-{node}.toml"
            path.write_text(
                text.replace('"3s"', '"10s"').replace('"500ms"', '"1s"')
                .replace('"50ms"', '"100ms"') + f"[limits]\nclients = {2 * COUNT}\n",
                encoding="utf-8")
            self.voters[node] = Member(VOTER, path)
            self.addCleanup(self.kill, node)
        for voter in self.voters.values():
            voter.expect("ready")

    def kill(self, node):
        voter = self.voters.pop(node, None)
        if voter is not None:
            voter.kill()

    def totals(self):
        return [sum(each) for each in zip(*(traffic(one.process) for one in self.voters.values()))]

    def measured_for(self, seconds):
        """What all voters wrote in a second, and how much of a processor they took."""
        before = self.totals()
        time.sleep(seconds)
        return [(after - was) / seconds for after, was in zip(self.totals(), before)]

    def test_a_thousand_clients(self):
        time.sleep(5)
        idle_bytes, idle_cpu = self.measured_for(WATCHED)
        memory = sum(memory_kib(voter.process) for voter in self.voters.values())
        began = time.monotonic()
        clients = Clients(COUNT, self.ports)
        self.addCleanup(clients.end)
        holding, = clients.expect("holding")
        took = time.monotonic() - began
        self.assertEqual(holding, COUNT)
        time.sleep(5)
        bytes_a_second, cpu = self.measured_for(WATCHED)
        more = sum(memory_kib(voter.process) for voter in self.voters.values()) - memory
        written = (bytes_a_second - idle_bytes) / COUNT
        print(f"\n{COUNT} clients hold a lock each after {took:.1f} s", flush=True)
        print(f"memory: {more / COUNT:.1f} KiB for each client, on all three voters together")
        print(f"renewals, each client every {TTL_MS / 3000:.1f} s: the voters write "
              f"{written:.0f} bytes a second for each, and take "
              f"{100 * (cpu - idle_cpu):.1f} % of a processor more, together", flush=True)
        self.assertLess(more / COUNT, MEMORY_KIB_MAX)
        self.assertLess(written, WRITTEN_A_SECOND_MAX)
        self.assertEqual(clients.count(), [COUNT, 0])

        # Those that used it go to the other two, and nobody loses a lock.
        self.kill(1)
        time.sleep(2 * TTL_MS / 1000)
        self.assertEqual(clients.count(), [COUNT, 0])
        print("a voter was killed: no lock was lost", flush=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
