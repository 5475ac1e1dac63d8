"""Clients and strangers that mean no good, against a program that is a member and works on.

    hostile_test.py MORTISE CROWD CLIENT GREEDY SECONDS

Each attack goes to the leader for so many seconds. Prints what it cost: the memory of the leader's
program before, at most, and afterwards, its sockets, and the longest acquire of the others.
"""

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
import member_process  # noqa: E402
import program  # noqa: E402
import strangers  # noqa: E402
from program import HOLDER as CROWD, OK, config_text, free_ports, run  # noqa: E402

CLIENT = os.path.abspath(sys.argv.pop(1))
GREEDY = os.path.abspath(sys.argv.pop(1))
SECONDS = int(sys.argv.pop(1)) if len(sys.argv) > 1 else 5
JUDGED = "--only-print" not in sys.argv
sys.argv = [word for word in sys.argv if word != "--only-print"]

ATTACKS = [("bootstraps", 2), ("deaf-status", 4), ("deaf-list", 4), ("deaf-list", 250),
           ("unfinished-status", 4), ("kept-lists", 1), ("kept-lists", 5), ("capabilities", 4),
           ("capabilities", 16), ("chain", 1), ("silent", 10000), ("slow", 1000), ("resets", 50)]
NAMES = 1500
PREFIX = "many" + "x" * 450 + "/"  # a page of the listing has most of a megabyte
STACK = 256 << 10
# transport/README.md allows 64 MiB for clients; the database works at the same time.
GROWTH_MAX = 96


def small_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, STACK))


class Member(member_process.Member):
    def __init__(self, config):
        super().__init__(CROWD, config, small_stack)

    def memory(self):
        for line in Path(f"/proc/{self.process.pid}/status").read_text("utf-8").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) // 1024
        return 0

    def sockets(self):
        """Not all descriptors, because the database opens and closes files."""
        count = 0
        for each in Path(f"/proc/{self.process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                count += os.readlink(each).startswith("socket:")
        return count


class Peak(threading.Thread):
    def __init__(self, member):
        super().__init__()
        self.member = member
        self.most = 0
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(0.02):
            try:
                self.most = max(self.most, self.member.memory())
            except OSError:
                return


class HostileTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="mortise-hostile-")
        self.ports = free_ports(3)
        self.members = {}
        self.addCleanup(self.tear_down)
        for node in (1, 2, 3):
            path = Path(self.directory.name) / f"node-{node}.toml"
            path.write_text(config_text(node, self.ports, self.directory.name)
                            .replace('"3s"', '"10s"').replace('"500ms"', '"1s"'), encoding="utf-8")
            self.members[node] = Member(path)
        for member in self.members.values():
            member.expect("ready")

    def tear_down(self):
        for member in self.members.values():
            member.kill()
        self.directory.cleanup()

    def make_trouble(self, leader, name, connections):
        port = self.ports[leader - 1]
        if name in strangers.ATTACKS:
            return strangers.ATTACKS[name](port, connections, SECONDS)
        client = subprocess.run([CLIENT, "127.0.0.1", str(port), name, str(connections),
                                 str(SECONDS)], capture_output=True, text=True,
                                timeout=program.PATIENCE, check=False)
        return client.stdout.strip()

    def attack(self, leader, name, connections):
        attacked = self.members[leader]
        others = [node for node in self.members if node != leader]
        before = attacked.memory(), attacked.sockets()
        for node in others:
            self.members[node].ask("measure", "load")
        peak = Peak(attacked)
        peak.start()
        said = self.make_trouble(leader, name, connections)
        peak.ended.set()
        peak.join()
        self.assertIsNone(attacked.process.poll(), f"{name}: the program is dead")
        if JUDGED:
            program.wait_until(lambda: attacked.sockets() <= before[1])
        else:
            time.sleep(5)
        loads = [self.members[node].ask("measure", "load") for node in others]
        longest = max(float(load[4]) for load in loads)
        print(f"{name} x{connections}: {said}; {before[0]} -> {peak.most} -> "
              f"{attacked.memory()} MiB; sockets {before[1]} -> {attacked.sockets()}; "
              f"longest acquire {longest:.0f} ms, {sum(int(load[0]) for load in loads)} of them",
              flush=True)
        if JUDGED:
            self.assertLess(peak.most - before[0], GROWTH_MAX, name)
        result = run("status", "--peer", f"127.0.0.1:{self.ports[leader - 1]}")
        self.assertEqual(result.returncode, OK, result.stderr)

    def test_no_client_harms_the_program(self):
        only = os.environ.get("HOSTILE_ATTACK")
        result = run("members", "--json", "--peer", f"127.0.0.1:{self.ports[0]}")
        leader = next(member["id"] for member in json.loads(result.stdout)
                      if member["leads"])
        for node in self.members:
            if node != leader:
                self.members[node].ask(f"load busy{node}/ 8", "loading")
        self.members[leader].ask(f"hold {PREFIX} {NAMES}", "holding")
        for name, connections in ATTACKS:
            if not only or f"{name} {connections}" == only:
                self.attack(leader, name, connections)

    def test_greedy_clients_leave_the_others_a_share(self):
        honest = self.members[1]
        honest.ask("load busy/ 16", "loading")
        others = [f"127.0.0.1:{port}" for port in self.ports[1:]]
        cycles, longest = {}, {}
        for clients in (0, 5, 50):
            if clients:
                greedy = subprocess.Popen([GREEDY, str(clients), "20", str(SECONDS + 2), *others],
                                          stdout=subprocess.PIPE, text=True)
                self.assertEqual(greedy.stdout.readline(), "asking\n")
            honest.ask("measure", "load")
            time.sleep(SECONDS)
            load = honest.ask("measure", "load")
            cycles[clients], longest[clients] = int(load[0]), float(load[4])
            if clients:
                greedy.communicate(timeout=program.PATIENCE)
        print(f"cycles beside so many greedy clients: {cycles}; longest acquire, ms: {longest}",
              flush=True)
        if JUDGED:  # of what the machine can do, half is theirs
            self.assertGreater(cycles[5], cycles[0] / 5)
            self.assertLess(longest[50], 2_000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
