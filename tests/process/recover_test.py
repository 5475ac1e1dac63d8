"""Disaster recovery (`mortise recover`): of three directories two are lost, one continues.

    recover_test.py MORTISE WORKER
"""

import json
import random
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from nodes_case import NodesCase
from program import (DATA_ERROR, OK, PROGRAM, TAKEN, USAGE, environment, run, start, times,
                     wait_until)

RAISED = 2 ** 48


class RecoverTest(NodesCase):
    """Nodes 1 to 3 are a cluster; node 1 is left of it."""

    size = 5
    timing = times("2500ms")

    def setUp(self):
        super().setUp()
        self.start_all(1, 2, 3)

    def lose_the_majority(self):
        for node in (3, 2, 1):
            self.members[node].end()

    def dumped(self):
        result = run("dump", "--json", self.data(1))
        self.assertEqual(result.returncode, OK, result.stderr)
        return json.loads(result.stdout)

    def recover(self, *words, **options):
        return subprocess.run([PROGRAM, "recover", self.data(1), *words], env=environment(),
                              capture_output=True, text=True, timeout=60, check=False, **options)

    def recovered(self):
        cluster = self.dumped()["cluster_id"]
        result = self.recover("--no-wait", "--yes-i-lose-what-others-had", cluster)
        self.assertEqual(result.returncode, OK, result.stderr)
        return result.stdout

    def test_the_third_member_continues_and_the_others_are_replaced(self):
        self.held(1, "mine")
        newest = max(self.held(2, "theirs"), self.held(3, "others"))
        self.lose_the_majority()
        shutil.copytree(self.data(2), self.place / "old-2")
        for node in (2, 3):
            shutil.rmtree(self.data(node))
        self.assertIn("is the only voter of the cluster", self.recovered())
        # It does not start as a cluster of three.
        refused = run("node", "--config", self.config(1, (1, 2, 3)))
        self.assertIn("whose only member is this node", refused.stderr)
        began = time.monotonic()
        self.start(1, peers=(1,)).expect("ready")
        # A lock of a lost member is held until its session has expired.
        self.assertGreater(self.held(1, "theirs"), newest + RAISED)
        self.assertGreater(time.monotonic() - began, 2.0)
        self.assertGreater(self.held(1, "free"), newest + RAISED)
        for node in (4, 5):
            self.start(node, peers=(1,)).expect("up")
            self.add(node)
            self.change("members", "promote", node)
            self.members[node].expect("ready")
        self.members[1].end()
        self.assertGreater(self.held(4, "afterwards"), newest + RAISED)
        self.a_former_member_is_refused()

    def a_former_member_is_refused(self):
        """With a majority of the new cluster at the addresses that it knows."""
        self.start(1, peers=(1,)).expect("ready")
        shutil.copytree(self.place / "old-2", self.data(2))
        self.start(2).expect("up")

        def says_why():
            report = json.loads(run("status", "--json", *self.peers(2)).stdout)[0]
            return ("which refuses: the two nodes belong to different clusters: give this node "
                    "the directory" in report.get("status", {}).get("why_not_ready", ""))
        wait_until(says_why)
        self.assertEqual(self.members[2].said("ready"), [])

    def test_it_is_confirmed_by_hand_or_not_done(self):
        self.lose_the_majority()
        before = self.dumped()
        for typed in ("", "yes\n", before["cluster_id"][:7] + "\n"):
            result = self.recover("--no-wait", input=typed)
            self.assertEqual(result.returncode, USAGE, result.stdout)
            self.assertIn("not confirmed: nothing was changed", result.stderr)
            self.assertIn("the other members: 2 (", result.stdout.lower())
        other = self.recover("--no-wait", "--yes-i-lose-what-others-had", "0" * 32)
        self.assertEqual(other.returncode, USAGE)
        self.assertEqual(self.dumped(), before)
        result = self.recover("--no-wait", input=before["cluster_id"][:8] + "\n")
        self.assertEqual(result.returncode, OK, result.stderr)
        after = self.dumped()
        self.assertNotEqual(after["cluster_id"], before["cluster_id"])
        self.assertEqual([m["id"] for m in after["members"]], [1])
        self.assertEqual(int(after["newest_token"]), int(before["newest_token"]) + RAISED)
        again = self.recover("--no-wait", "--yes-i-lose-what-others-had", after["cluster_id"])
        self.assertEqual(again.returncode, USAGE)
        self.assertIn("the only voter of its cluster", again.stderr)

    def test_with_json_only_the_result_is_on_standard_output(self):
        self.lose_the_majority()
        before = self.dumped()
        result = self.recover("--no-wait", "--json", input=before["cluster_id"] + "\n")
        self.assertEqual(result.returncode, OK, result.stderr)
        self.assertIn("the other members: 2 (", result.stderr.lower())
        told = json.loads(result.stdout)
        after = self.dumped()
        self.assertEqual((told["node"], told["cluster_id"]), (1, after["cluster_id"]))
        self.assertEqual(told["newest_token"], after["newest_token"])
        self.assertTrue(Path(told["copy"]).is_dir(), told)

    def test_it_is_refused_while_the_node_runs_and_for_what_is_damaged(self):
        status, = json.loads(run("status", "--json", *self.peers(1)).stdout)
        cluster = status["status"]["cluster_id"]
        words = ("--no-wait", "--yes-i-lose-what-others-had", cluster)
        self.assertEqual(self.recover(*words).returncode, TAKEN)
        self.lose_the_majority()
        meta = self.data(1) / "meta"
        whole = meta.read_bytes()
        meta.write_bytes(b"\0" * len(whole))
        self.assertEqual(self.recover(*words).returncode, DATA_ERROR)
        meta.write_bytes(whole)
        self.assertEqual(self.recover(*words).returncode, OK)

    def test_it_waits_until_nobody_believes_in_a_lock(self):
        self.held(2, "theirs")
        self.lose_the_majority()
        process = self.keep(start("recover", self.data(1), "--yes-i-lose-what-others-had",
                                  self.dumped()["cluster_id"]))
        lines = []
        while not lines or not lines[-1].startswith("Waiting 11 s"):
            lines.append(process.stdout.readline())
            self.assertNotEqual(lines[-1], "")
        process.end()
        self.assertEqual([m["id"] for m in self.dumped()["members"]], [1, 2, 3])

    def test_killed_at_any_moment_it_is_what_it_was_or_recovered(self):
        for name in ("a", "b", "c"):
            self.held(1, name)
        self.lose_the_majority()
        before = self.dumped()
        good = self.place / "good"
        shutil.copytree(self.data(1), good)
        chance = random.Random(7)
        for _ in range(12):
            shutil.rmtree(self.data(1))
            shutil.copytree(good, self.data(1))
            process = start("recover", self.data(1), "--no-wait", "--yes-i-lose-what-others-had",
                            before["cluster_id"])
            time.sleep(chance.uniform(0.01, 0.4))
            process.end()
            after = self.dumped()
            self.assertEqual(after["damage"], [])
            is_new = [m["id"] for m in after["members"]] == [1]
            if not is_new:
                self.assertEqual(after["locks"], before["locks"])
                self.recovered()
                after = self.dumped()
            self.assertEqual(int(after["newest_token"]), int(before["newest_token"]) + RAISED)
            self.assertEqual({lock["name"] for lock in after["locks"]}, {"a", "b", "c"})
        self.start(1, peers=(1,)).expect("ready")


if __name__ == "__main__":
    unittest.main(verbosity=2)
