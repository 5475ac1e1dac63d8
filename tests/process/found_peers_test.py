"""Clusters whose nodes and clients find each other by a name, while its addresses change.

    found_peers_test.py MORTISE WORKER
"""

import json
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
sys.path.insert(0, str(HERE.parent / "torture"))

from namespaces import PORT, run_inside_or_skip  # noqa: E402

run_inside_or_skip()  # before the next imports, which take arguments away
from name_server import NameServer  # noqa: E402
from nodes_case import Nodes  # noqa: E402
from program import (HOLDER, OK, Talker, certificates, environment, run, times,  # noqa: E402
                     tls_lines, wait_until)

NAME = "mortise.test"
SERVER = None


def setUpModule():
    global SERVER
    SERVER = NameServer()


class FoundPeers(Nodes, unittest.TestCase):
    """Node N is at 127.0.G.N, with a generation G of addresses; all have one port."""

    size = 5
    expect = 3

    def setUp(self):
        self.prepare()
        self.addCleanup(self.__exit__)
        self.generation = 1
        SERVER.is_broken = SERVER.is_silent = False
        self.lists(1, 2, 3)

    def ip(self, node):
        return f"127.0.{self.generation}.{node}"

    def address(self, node):
        return f"{self.ip(node)}:{PORT}"

    def lists(self, *nodes):
        SERVER.addresses[NAME] = [self.ip(node) for node in nodes]

    def text(self, node=None, **more):
        name = f"node-{node}" if node else "client"
        keys = {"peers": f'"dns:{NAME}:{PORT}"', **more}
        if node:
            keys = {"node_id": node, "data_dir": f'"{self.data(more.pop("data", node))}"',
                    "listen": f'"{self.address(node)}"', "expect": self.expect, **keys}
        lines = [f"{key} = {value}" for key, value in keys.items() if key != "data"]
        secured = certificates(node or 1, self.place)
        if secured and not node:
            self.issue_for_client()
            secured = tls_lines(self.place, "user-app")
        lines += secured
        lines += ["[log]", 'level = "info"', "[timing]"]
        lines += [f'{key} = "{value}"' for key, value in self.timing.items()]
        return self.write_config("\n".join(lines) + "\n", name)

    timing = times()

    def start(self, node, **changed):
        return self.keep(Talker([HOLDER, self.text(node, **changed)], env=environment()), node)

    def issue_for_client(self):
        if not (self.place / "user-app.pem").exists():
            run("cert", "issue", "--dir", self.place, "--user", "app", "--role",
                "client").check_returncode()

    def client(self):
        config = self.text(role='"client"')
        return self.keep(Talker([HOLDER, config], env=environment()), "client")

    def role(self, node, at=1):
        return self.listed(at).get(node, {}).get("role")

    def status(self, node):
        report, = json.loads(run("status", "--json", *self.peers(node)).stdout)
        return report["status"]

    def is_in_no_cluster(self, *nodes):
        return all(not self.status(node)["cluster_id"] for node in nodes)

    # --- the first start

    def test_a_cluster_is_formed_by_those_who_are_expected(self):
        self.start_all(1, 2, 3)
        self.assertEqual(set(self.listed(1)), {1, 2, 3})
        self.assertEqual(len({self.status(node)["cluster_id"] for node in (1, 2, 3)}), 1)
        self.assertEqual(self.listed(1)[2]["address"], self.address(2))
        found = run("members", "--json", "--config", self.text(role='"client"'))
        self.assertEqual(found.returncode, OK, found.stderr)

    def test_nothing_is_formed_while_the_answers_are_wrong(self):
        """No answer, an empty one, half of the nodes, and others: each alone forms nothing."""
        SERVER.is_broken = True
        for node in (1, 2, 3):
            self.start(node)
            self.members[node].expect("up")
        wrong = [lambda: setattr(SERVER, "is_silent", True), lambda: self.lists(),
                 lambda: SERVER.addresses.pop(NAME), lambda: self.lists(1, 2),
                 lambda: self.lists(4, 5, 1), lambda: self.lists(3)]
        for answer in wrong:
            SERVER.is_broken = SERVER.is_silent = False
            answer()
            seen = SERVER.questions + 6
            wait_until(lambda: SERVER.questions >= seen)
            # What was found stays known: so the last answer completes the three.
            if answer != wrong[-1]:
                self.assertTrue(self.is_in_no_cluster(1, 2, 3))
                self.assertIn(f"3 (not found at {NAME}:{PORT}", self.status(1)["why_not_ready"])
        for node in (1, 2, 3):
            self.members[node].expect("ready")
        self.assertEqual(len({self.status(node)["cluster_id"] for node in (1, 2, 3)}), 1)

    def test_two_nodes_with_one_id_form_nothing(self):
        for node in (1, 2):
            self.start(node)
        self.start(3)
        self.members[3].end()
        SERVER.addresses[NAME] = [self.ip(1), self.ip(2)]
        twin = self.text(3)
        text = twin.read_text(encoding="utf-8")
        other = text.replace(self.ip(3), self.ip(33)).replace(str(self.data(3)) + '"',
                                                              str(self.data(33)) + '"')
        # Both are there before anybody finds one of them.
        self.members[1].end()
        SERVER.addresses[NAME] = [self.ip(node) for node in (1, 2, 3, 33)]
        for path in (self.write_config(text, "three"), self.write_config(other, "twin")):
            self.keep(Talker([HOLDER, path], env=environment()), path).expect("up")
        self.start(1)
        wait_until(lambda: self.members[1].complains("are both node 3"))
        self.assertTrue(self.is_in_no_cluster(1, 2, 3))

    # --- a running cluster

    def test_a_cluster_grows_from_three_to_five_and_shrinks_under_load(self):
        self.start_all(1, 2, 3)
        for node in (1, 2, 3):
            self.members[node].tell(f"load name{node % 2}")
        kept = self.held(2, "kept")
        self.lists(1, 2, 3, 4, 5)
        for node in (4, 5):
            self.start(node)
        for node in (4, 5):
            self.members[node].expect("ready")
            wait_until(lambda node=node: self.role(node) == "voter")
            self.members[node].tell("load name0")
            self.members[node].expect_more("grant", 5)
        self.assertEqual(set(self.listed(1)), {1, 2, 3, 4, 5})
        for node in (5, 4):
            self.change("members", "remove", node, at=(1,))
            self.members[node].end()
            self.lists(*range(1, node))
        for node in (1, 2, 3):
            self.members[node].expect_more("grant", 20)
        self.assertEqual(set(self.listed(1)), {1, 2, 3})
        self.assertEqual(self.members[2].said("lost kept"), [])
        self.assertIn(str(kept), run("inspect", "kept", *self.peers(1)).stdout)

    def test_a_node_that_the_name_does_not_have_yet_says_so(self):
        self.start_all(1, 2, 3)
        self.start(4)
        wait_until(lambda: self.members[4].complains(
            f"not ready for 3s: in no cluster yet: the name {NAME}:{PORT} does not have its "
            "address yet; the leader adds it when it finds it there"))
        self.assertFalse(self.members[4].complains("not a member"))
        self.lists(1, 2, 3, 4)
        self.members[4].expect("ready")

    def test_a_learner_stays_one(self):
        self.start_all(1, 2, 3)
        self.lists(1, 2, 3, 4)
        self.start(4, role='"learner"').expect("ready")
        self.assertEqual(self.role(4), "learner")

    def test_a_member_that_lost_its_directory_joins_again(self):
        self.start_all(1, 2, 3)
        self.members[3].end()
        self.start(3, data=33).expect("ready")
        wait_until(lambda: self.role(3) == "voter")

    def test_a_node_that_runs_on_after_its_removal_is_not_added_again(self):
        """One that joined, and one that formed the cluster, as the name still has both."""
        self.start_all(1, 2, 3)
        self.lists(1, 2, 3, 4)
        self.start(4).expect("ready")
        wait_until(lambda: self.role(4) == "voter")
        for node in (4, 3):
            self.change("members", "remove", node, at=(1,))
            self.let_all_look()
            self.assertNotIn(node, self.listed(1))
        self.assertEqual(set(self.listed(1)), {1, 2})
        # Its old directory keeps it out, and an empty one does not.
        for data, members in ((4, {1, 2}), (44, {1, 2, 4})):
            self.members[4].end()
            self.start(4, data=data)
            self.let_all_look()
            wait_until(lambda expected=members: set(self.listed(1)) == expected)

    def let_all_look(self):
        """Until each has looked the name up, found who is there, and could have acted on it."""
        seen = SERVER.questions + 8 * len(self.members)
        wait_until(lambda: SERVER.questions >= seen)

    def test_members_and_a_client_follow_when_all_addresses_change(self):
        self.start_all(1, 2, 3)
        client = self.client()
        client.expect("ready")
        client.tell("acquire kept")
        client.expect("held kept")
        client.tell("load name0")
        client.expect("grant")
        # One after the other, as pods do; the log has the former addresses.
        addresses = {node: self.ip(node) for node in (1, 2, 3)}
        for node in (1, 2, 3):
            self.members[node].end()
            self.generation = 2
            addresses[node] = self.ip(node)
            SERVER.addresses[NAME] = list(addresses.values())
            self.start(node).expect("ready")
            self.generation = 1
            client.expect_more("grant", 5)
        self.generation = 2
        self.assertEqual(client.said("lost kept"), [])
        self.assertEqual(set(self.listed(1)), {1, 2, 3})

    def test_a_name_server_that_is_gone_takes_nothing_away(self):
        self.start_all(1, 2, 3)
        SERVER.is_silent = True
        client = self.client()
        self.members[2].end()
        self.start(2).expect("ready")
        leader = self.leader(1, 2, 3)
        self.members[leader].end()
        other = leader % 3 + 1
        self.held(other, "after")
        SERVER.is_silent = False
        client.expect("ready")


if __name__ == "__main__":
    unittest.main(verbosity=2)
