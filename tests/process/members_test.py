"""Changes of the members while real processes work: add, promote, remove, transfer, rejoin."""

import collections
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from program import (HOLDER as WORKER, OK, TAKEN, USAGE, config_text,  # noqa: E402
                     free_ports, run, start_program, wait_until)


class Member:
    """A worker process (worker.cpp), and its output so far."""

    def __init__(self, config):
        self.config = config
        self.lines = []
        self.errors = []
        self.process = start_program(WORKER, config)
        for stream, into in ((self.process.stdout, self.lines), (self.process.stderr, self.errors)):
            threading.Thread(target=self.read, args=(stream, into), daemon=True).start()

    @staticmethod
    def read(stream, into):
        with stream:
            for line in stream:
                into.append(line.rstrip("\n"))

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def said(self, beginning):
        return [line.split() for line in list(self.lines) if line.startswith(beginning)]

    def expect(self, beginning):
        wait_until(lambda: self.said(beginning))

    def expect_more(self, beginning, count):
        before = len(self.said(beginning))
        wait_until(lambda: len(self.said(beginning)) >= before + count)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()


class MembersTest(unittest.TestCase):
    """Nodes 1 to 3 bootstrap the cluster; the others wait to be added."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="mortise-members-")
        self.ports = free_ports(5)
        self.members = {}
        self.addCleanup(self.tear_down)
        for node in (1, 2, 3):
            self.start(node)
        for node in (1, 2, 3):
            self.members[node].expect("ready")

    def tear_down(self):
        for member in self.members.values():
            if member.process.poll() is None:
                member.kill()
        self.directory.cleanup()

    def start(self, node):
        founders = self.ports[:3]
        text = config_text(node, founders if node <= 3 else self.ports[:node], self.directory.name)
        if node > 3:
            own = f'[[peer]]\nid = {node}\naddress = "127.0.0.1:{self.ports[node - 1]}"\n'
            text = 'role = "learner"\n' + text.replace(own, "")
        text += '[limits]\nlog_bytes = 1048576\n[log]\nlevel = "info"\n'
        path = Path(self.directory.name) / f"node-{node}.toml"
        path.write_text(text, encoding="utf-8")
        self.members[node] = Member(path)

    def peers(self, *nodes):
        return [word for node in nodes
                for word in ("--peer", f"127.0.0.1:{self.ports[node - 1]}")]

    def change(self, *words, at, code=OK):
        result = run(*words, *self.peers(*at))
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stderr if code else result.stdout

    def add(self, node, at):
        self.change("members", "add", node, f"127.0.0.1:{self.ports[node - 1]}", at=at)

    def listed(self, *nodes):
        result = run("members", "--json", *self.peers(*nodes))
        self.assertEqual(result.returncode, OK, result.stderr)
        return {member["id"]: member for member in json.loads(result.stdout)}

    def leader(self, *nodes):
        leading = []

        def known():
            leading[:] = [node for node, member in self.listed(*nodes).items() if member["leads"]]
            return leading
        wait_until(known)
        return leading[0]

    def assert_tokens_rise(self):
        """The tokens of each name, in the order in which one process got them."""
        for node, member in self.members.items():
            newest = collections.defaultdict(int)
            for _, name, token in member.said("grant "):
                self.assertGreater(int(token), newest[name], f"node {node}")
                newest[name] = int(token)

    def test_a_cluster_moves_on_under_load(self):
        for node in (1, 2, 3):
            self.members[node].tell(f"load name{node % 2}")
        old = self.leader(1, 2, 3)
        keeper = old % 3 + 1
        self.members[keeper].tell("acquire kept")
        self.members[keeper].expect("held kept")

        self.start(4)
        self.add(4, at=(1,))
        self.members[4].expect("ready")
        self.assertEqual(self.listed(1)[4]["role"], "learner")
        self.members[4].tell("load name0")
        self.members[4].expect("grant")
        self.change("members", "promote", 4, at=(2,))
        self.assertEqual(self.listed(3)[4]["role"], "voter")

        self.change("members", "remove", old, at=(4,))
        self.assertNotIn(old, self.listed(4))
        self.members[old].kill()
        left = [node for node in (1, 2, 3, 4) if node != old]
        for node in left:
            self.members[node].expect_more("grant", 20)
        self.change("transfer-leader", 4, at=(4,))
        self.assertEqual(self.leader(4), 4)

        # Two of the remaining three are a majority: so node 4 votes.
        third = next(node for node in left if node not in (4, keeper))
        self.members[third].kill()
        for node in (4, keeper):
            self.members[node].expect_more("grant", 20)
        self.assertEqual(self.members[keeper].said("lost kept"), [])
        self.assert_tokens_rise()

        # Its present state is in its directory: the addresses of its peers, and its vote.
        self.members[4].kill()
        self.start(4)
        self.members[4].expect("ready")
        self.assertEqual(self.listed(4)[4]["role"], "voter")

    def test_a_removed_node_is_refused_and_may_come_back(self):
        old = self.leader(1, 2, 3)
        gone = old % 3 + 1
        self.change("members", "remove", gone, at=(gone,))
        wait_until(lambda: any("not a member" in line for line in self.members[gone].errors))
        report, = json.loads(run("status", "--json", *self.peers(gone)).stdout)
        wait_until(lambda: not json.loads(
            run("status", "--json", *self.peers(gone)).stdout)[0]["status"]["ready"])
        self.assertEqual(report["status"]["id"], gone)
        self.add(gone, at=(old,))
        self.change("members", "promote", gone, at=(old,))
        self.members[gone].tell("acquire again")
        self.members[gone].expect("held again")

    def test_what_cannot_be_is_said(self):
        at = (self.leader(1, 2, 3),)
        self.assertIn("not a member", self.change("members", "promote", 5, at=at, code=USAGE))
        self.assertIn("not a voter", self.change("transfer-leader", 5, at=at, code=USAGE))
        self.assertIn("another address",
                      self.change("members", "add", 2, "127.0.0.1:1", at=at, code=USAGE))
        self.assertIn("not an address", self.change("members", "add", 5, "here", at=at, code=USAGE))
        waits = ("members", "add", 5, "127.0.0.1:1", "--timeout", "2s")
        self.assertIn("do not reach each other", self.change(*waits, at=at, code=TAKEN))
        self.change("members", "remove", 5, at=at)

    def test_a_node_that_waits_founds_nothing(self):
        self.start(4)
        self.members[4].expect("up")
        self.start(5)
        self.members[5].expect("up")
        for node in (4, 5):
            report, = json.loads(run("status", "--json", *self.peers(node)).stdout)
            self.assertEqual(report["status"]["cluster_id"], "")
            self.assertIn("until it is added", report["status"]["why_not_ready"])

    def test_a_wiped_member_whose_log_is_gone_rejoins_by_the_state(self):
        leader = self.leader(1, 2, 3)
        wiped = leader % 3 + 1
        others = [node for node in (1, 2, 3) if node != wiped]
        self.members[wiped].kill()
        subprocess.run(["rm", "-r", f"{self.directory.name}/node-{wiped}"], check=True)
        for node in others:
            for number in range(40):
                self.members[node].tell(f"load name{number}")

        def purged():
            return all(self.first_index(node) > 1 for node in others)
        wait_until(purged)
        self.start(wiped)
        self.members[wiped].expect("ready")
        errors = self.members[wiped].errors
        wait_until(lambda: any("installed the state" in line for line in errors))
        wait_until(lambda: self.listed(*others)[wiped]["role"] == "voter")
        self.members[leader].kill()
        self.members[wiped].tell("acquire after")
        self.members[wiped].expect("held after")
        self.assert_tokens_rise()

    def first_index(self, node):
        report, = json.loads(run("status", "--json", *self.peers(node)).stdout)
        return report["status"]["first_index"]


if __name__ == "__main__":
    unittest.main(verbosity=2)
