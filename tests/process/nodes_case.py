"""Tests of clusters whose nodes are processes of a test program, HOLDER."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
from program import (HOLDER, OK, Members, Talker, config_text, environment, run,  # noqa: E402
                     times, wait_until)


class Nodes(Members):
    """Nodes 1 to 3 found the cluster; the others wait to be added."""

    within = ()  # the beginning of a command that runs the program
    timing = times()
    more = ""  # the last lines of each file

    def config(self, node, peers=None, role=None, data=None, port=None):
        text = config_text(
            node, self.ports, self.place, peers=peers or range(1, max(node, 4)), data_dir=data,
            listen=port and f"127.0.0.1:{port}", timing=self.timing,
            role=f'"{role or ("voter" if node <= 3 else "learner")}"')
        return self.write_config(text + self.more, f"node-{node}{'-other' if data else ''}")

    def start(self, node, **changed):
        return self.keep(Talker([*self.within, HOLDER, self.config(node, **changed)],
                                env=environment()), node)

    def start_all(self, *nodes):
        for node in nodes:
            self.start(node)
        for node in nodes:
            self.members[node].expect("ready")

    def change(self, *words, at=(1,), code=OK):
        result = run(*words, *self.peers(*at))
        assert result.returncode == code, f"{result.returncode}: {result.stderr}"
        return result.stderr if code else result.stdout

    def add(self, node, at=(1,)):
        self.change("members", "add", node, self.address(node), at=at)

    def listed(self, *at):
        return {member["id"]: member
                for member in json.loads(self.change("members", "--json", at=at))}

    def leader(self, *at):
        def leading():
            listed = json.loads(run("members", "--json", *self.peers(*at)).stdout or "[]")
            return [member["id"] for member in listed if member["leads"]]
        return wait_until(leading)[0]

    def held(self, node, name):
        """The token of the lock, which the node takes and keeps."""
        member = self.members[node]
        member.tell(f"acquire {name}")
        member.expect(f"held {name}")
        return int(member.said(f"held {name}")[-1][2])


class NodesCase(Nodes, unittest.TestCase):
    def setUp(self):
        self.prepare()
        self.addCleanup(self.__exit__)
