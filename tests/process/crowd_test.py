"""A member is wiped while others hold very many locks and work on: it comes back by the state.

    crowd_test.py MORTISE CROWD COUNT

Prints what it took, and what the load beside it saw.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
import program  # noqa: E402
from member_process import Member  # noqa: E402
from program import HOLDER as CROWD, OK, config_text, free_ports, run  # noqa: E402

COUNT = int(sys.argv.pop(1)) if len(sys.argv) > 1 else 3000
program.PATIENCE = 600
LOADERS = 8  # threads of each of the two processes that continue


class CrowdTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="mortise-crowd-")
        self.ports = free_ports(3)
        self.members = {}
        self.addCleanup(self.tear_down)
        for node in (1, 2, 3):
            self.start(node)
        for member in self.members.values():
            member.expect("ready")

    def tear_down(self):
        for member in self.members.values():
            member.kill()
        self.directory.cleanup()

    def start(self, node):
        text = config_text(node, self.ports, self.directory.name)
        # A wiped node needs the whole log, from the first entry on. The others must not be cut off
        # as well while the machine is busy: a lease may not last until the snapshot is there.
        text += f'[limits]\nlog_bytes = {32 << 20}\n[log]\nlevel = "info"\n'
        path = Path(self.directory.name) / f"node-{node}.toml"
        path.write_text(text.replace('"3s"', '"10s"').replace('"500ms"', '"1s"')
                        .replace('"50ms"', '"100ms"'), encoding="utf-8")
        self.members[node] = Member(CROWD, path)

    def report(self, node):
        result = run("members", "--json", "--peer", f"127.0.0.1:{self.ports[node - 1]}")
        self.assertEqual(result.returncode, OK, result.stderr)
        return json.loads(result.stdout)

    def roles(self, node):
        return {member["id"]: member["role"] for member in self.report(node)}

    def measure(self, what, nodes):
        for node in nodes:
            grants, errors, *times = self.members[node].ask("measure", "load")
            print(f"{what}: node {node}: {grants} grants, {errors} errors, "
                  "p50 {} ms, p99 {} ms, longest {} ms".format(*times), flush=True)
            self.assertGreater(int(grants), 0)
            self.assertEqual(int(errors), 0)

    def test_a_wiped_member_comes_back_beside_a_crowd(self):
        leader = next(member["id"] for member in self.report(1) if member["leads"])
        wiped = leader % 3 + 1
        working = [node for node in (1, 2, 3) if node != wiped]
        for node in working:
            self.members[node].tell(f"hold crowd{node}/ {COUNT // 2}")
        for node in working:
            held, again, took = self.members[node].expect("holding")
            print(f"node {node} holds {held} after {float(took) / 1000:.1f} s "
                  f"({again} asked again)", flush=True)
        for node in working:
            self.members[node].ask(f"load busy{node}/ {LOADERS}", "loading")
        time.sleep(5)
        self.measure("before", working)

        self.members[wiped].kill()
        subprocess.run(["rm", "-r", f"{self.directory.name}/node-{wiped}"], check=True)
        time.sleep(5)
        self.measure("without it", working)
        begin = time.monotonic()
        self.start(wiped)
        program.wait_until(lambda: self.members[wiped].said("installed the state"))
        print(f"has the state after {time.monotonic() - begin:.1f} s", flush=True)
        self.members[wiped].expect("ready")
        print(f"ready after {time.monotonic() - begin:.1f} s", flush=True)
        program.wait_until(lambda: self.roles(leader)[wiped] == "voter")
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
