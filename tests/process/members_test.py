"""Changes of the members while real processes work: add, promote, remove, transfer, rejoin."""

import collections
import json
import shutil
import unittest

from nodes_case import NodesCase
from program import HOLDER, TAKEN, USAGE, Talker, environment, run, wait_until


class MembersTest(NodesCase):
    """Nodes 1 to 3 bootstrap the cluster; the others wait to be added."""

    size = 5
    more = '[limits]\nlog_bytes = 1048576\n[log]\nlevel = "info"\n'

    def setUp(self):
        super().setUp()
        self.start_all(1, 2, 3)

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
        self.held(keeper, "kept")

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
        self.members[old].end()
        left = [node for node in (1, 2, 3, 4) if node != old]
        for node in left:
            self.members[node].expect_more("grant", 20)
        self.change("transfer-leader", 4, at=(4,))
        self.assertEqual(self.leader(4), 4)

        # Two of the remaining three are a majority: so node 4 votes.
        third = next(node for node in left if node not in (4, keeper))
        self.members[third].end()
        for node in (4, keeper):
            self.members[node].expect_more("grant", 20)
        self.assertEqual(self.members[keeper].said("lost kept"), [])
        self.assert_tokens_rise()

        # Its present state is in its directory: the addresses of its peers, and its vote.
        self.members[4].end()
        self.start(4)
        self.members[4].expect("ready")
        self.assertEqual(self.listed(4)[4]["role"], "voter")

    def test_the_durability_follows_the_files_when_all_say_the_same(self):
        def shown():
            lines = run("status", *self.peers(1, 2, 3)).stdout.splitlines()
            return [line.split()[6] for line in lines]

        self.assertEqual(shown(), ["DURABILITY"] + 3 * ["synced"])
        for node in (1, 2, 3):
            self.assertNotIn("replicated", shown())
            self.members[node].end()
            text = self.config(node).read_text(encoding="utf-8")
            path = self.write_config('durability = "replicated"\n' + text, f"node-{node}-memory")
            self.keep(Talker([HOLDER, path], env=environment()), node).expect("ready")
        wait_until(lambda: shown() == ["DURABILITY"] + 3 * ["replicated"])
        for node in (1, 2, 3):
            wait_until(lambda node=node: self.members[node].complains(
                'the durability of the cluster is now "replicated"'))

    def test_a_removed_node_is_refused_and_may_come_back(self):
        old = self.leader(1, 2, 3)
        gone = old % 3 + 1
        self.change("members", "remove", gone, at=(gone,))
        wait_until(lambda: self.members[gone].complains("not a member"))
        report, = json.loads(run("status", "--json", *self.peers(gone)).stdout)
        wait_until(lambda: not json.loads(
            run("status", "--json", *self.peers(gone)).stdout)[0]["status"]["ready"])
        self.assertEqual(report["status"]["id"], gone)
        self.add(gone, at=(old,))
        self.change("members", "promote", gone, at=(old,))
        self.held(gone, "again")

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
        self.members[wiped].end()
        shutil.rmtree(self.data(wiped))
        for node in others:
            for number in range(40):
                self.members[node].tell(f"load name{number}")

        def purged():
            return all(self.first_index(node) > 1 for node in others)
        wait_until(purged)
        self.start(wiped)
        self.members[wiped].expect("ready")
        wait_until(lambda: self.members[wiped].complains("installed the state"))
        wait_until(lambda: self.listed(*others)[wiped]["role"] == "voter")
        self.members[leader].end()
        self.held(wiped, "after")
        self.assert_tokens_rise()

    def first_index(self, node):
        report, = json.loads(run("status", "--json", *self.peers(node)).stdout)
        return report["status"]["first_index"]


if __name__ == "__main__":
    unittest.main(verbosity=2)
