"""Data directories that are copied, moved and put back, rightly and wrongly (docs/backup.md).

Each command of that page is run here, by members_test.py (mortise members) or by dump_test.py
(mortise dump and its options).

    backup_test.py MORTISE WORKER
"""

import json
import os
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from nodes_case import NodesCase
from program import CONFIG, DATA_ERROR, OK, TAKEN, run, wait_until


def copy(source, target):
    subprocess.run(["cp", "-a", source, target], check=True)


class BackupTest(NodesCase):
    """Nodes 1 to 3 are a cluster; 4 may be added."""

    size = 5
    more = '[log]\nlevel = "info"\n'

    def setUp(self):
        super().setUp()
        self.newest = 0
        self.start_all(1, 2, 3)
        self.work(1)

    def stop(self, *nodes):
        """In order."""
        for node in nodes:
            self.members[node].tell("quit")
        for node in nodes:
            self.members[node].wait(60)

    def back(self, node, **changed):
        self.start(node, **changed).expect("ready")
        self.work(node)

    def work(self, node):
        """Acquires and releases a lock: its token is greater than every earlier one."""
        member = self.members[node]
        token = self.held(node, "x")
        self.assertGreater(token, self.newest)
        self.newest = token
        member.tell("release x")
        member.expect("released x")
        member.lines[:] = [line for line in member.lines if " x" not in line]

    def votes(self, node, *at):
        def does():
            listed = json.loads(run("members", "--json", *self.peers(*at)).stdout or "[]")
            return any(m["id"] == node and m["role"] == "voter" for m in listed)
        wait_until(does)

    def set_aside(self, node):
        return sorted(path.name for path in self.data(node).glob("damaged-*"))

    def restore(self, image, node):
        shutil.rmtree(self.data(node))
        copy(image, self.data(node))

    def refused(self, node, *texts, **changed):
        """The message of `mortise node` for it, and its exit code."""
        result = run("node", "--config", self.config(node, **changed))
        for text in texts:
            self.assertIn(text, result.stderr)
        return result.returncode

    # --- correct use

    def test_a_directory_that_was_stopped_moves(self):
        """By cp -a, by tar, without owners, modes and times, by mv: it is the same directory."""
        def by(*words):
            def move(source, target):
                subprocess.run([word.format(source=source, target=target) for word in words],
                               check=True)
                if source.exists():
                    shutil.rmtree(source)
            return move

        def strange(source, target):
            copy(source, target)
            shutil.rmtree(source)
            for folder, folders, names in os.walk(target):
                for name in [".", *folders, *names]:
                    os.chmod(Path(folder) / name, 0o777)
                    if os.geteuid() == 0:
                        os.chown(Path(folder) / name, 65534, 65534)

        ways = [by("cp", "-a", "{source}", "{target}"), by("mv", "{source}", "{target}"),
                by("cp", "-r", "--no-preserve=all", "{source}", "{target}"), strange,
                by("sh", "-c", "mkdir {target} && tar -C {source} -cf - . | tar -C {target} -xf -")]
        if shutil.which("rsync"):
            ways.append(by("rsync", "-a", "{source}/", "{target}"))
        here = self.data(2)
        incarnation = json.loads(run("members", "--json", *self.peers(1)).stdout)[1]["incarnation"]
        for number, way in enumerate(ways):
            self.stop(2)
            there = self.place / f"moved-{number}"
            way(here, there)
            subprocess.run(["chmod", "-R", "go=", there], check=True)
            self.assertEqual(os.stat(there).st_mode & 0o077, 0)
            here = there
            self.back(2, data=here)
            self.assertEqual(list(here.glob("damaged-*")), [])
            said = json.loads(run("members", "--json", *self.peers(1)).stdout)
            self.assertEqual(said[1]["incarnation"], incarnation)

    def test_a_member_that_lost_its_directory_needs_no_backup(self):
        self.stop(2)
        shutil.rmtree(self.data(2))
        self.back(2)
        self.votes(2, 1, 3)

    def test_all_stopped_and_put_back_are_what_they_were(self):
        for node in (1, 2, 3):
            self.stop(node)
        for node in (1, 2, 3):
            copy(self.data(node), self.place / f"image-{node}")
            self.restore(self.place / f"image-{node}", node)
        for node in (1, 2, 3):
            self.start(node)
        for node in (1, 2, 3):
            self.members[node].expect("ready")
            self.work(node)
            self.assertEqual(self.set_aside(node), [])

    # --- errors: an earlier image of one member

    def test_an_earlier_image_of_one_member_begins_anew(self):
        self.stop(2)
        copy(self.data(2), self.place / "image")
        self.back(2)
        self.stop(2)
        self.restore(self.place / "image", 2)
        self.back(2)
        self.assertEqual(self.set_aside(2), ["damaged-1"])
        self.votes(2, 1, 3)

    def test_copies_of_a_running_directory_are_images_of_a_crash_or_damaged(self):
        for node in (1, 2, 3):
            self.members[node].tell("load name")
        for number in range(4):
            image = self.place / f"image-{number}"
            copy(self.data(2), image)
            code = run("dump", image).returncode
            self.assertIn(code, (OK, DATA_ERROR))
            self.members[3].expect_more("grant", 20)
        self.members[2].end()
        for number in range(4):
            self.restore(self.place / f"image-{number}", 2)
            self.start(2).expect("ready")
            self.members[2].tell("load name")
            self.members[2].expect_more("grant", 5)
            self.votes(2, 1, 3)
            self.members[2].end()
        for member in self.members.values():
            tokens = [int(words[2]) for words in member.said("grant name")]
            self.assertEqual(tokens, sorted(set(tokens)))

    def test_an_image_from_before_a_member_was_added(self):
        self.stop(2)
        copy(self.data(2), self.place / "image")
        self.back(2)
        self.start(4).expect("up")
        self.add(4)
        self.change("members", "promote", "4")
        self.stop(2)
        self.restore(self.place / "image", 2)
        self.back(2)
        self.votes(2, 1, 3)
        self.votes(4, 2)

    def test_an_image_of_a_member_that_was_removed_since(self):
        self.stop(2)
        copy(self.data(2), self.place / "image")
        self.back(2)
        self.change("members", "remove", "2")
        self.members[2].end()
        self.restore(self.place / "image", 2)
        returned = self.start(2)
        returned.expect("up")
        wait_until(lambda: returned.complains("not a member"))
        self.work(1)
        self.assertEqual(returned.said("ready"), [])

    # --- errors: images of all

    def dumped(self, image):
        result = run("dump", "--json", image)
        self.assertEqual(result.returncode, OK, result.stderr)
        return json.loads(result.stdout)

    def stopped_and_copied(self, node):
        self.stop(node)
        image = self.place / f"image-{node}"
        shutil.rmtree(image, ignore_errors=True)
        copy(self.data(node), image)
        return self.dumped(image)

    def put_back_images_of_different_times(self):
        """Images of all nodes before a run in which all worked. The image of node 3 is the
        newest, and shows commits that the others do not have."""
        for node in (1, 2):
            self.stopped_and_copied(node)
            self.back(node)
        # Nodes 1 and 2 continue from their images in the next term. Nothing would distinguish their
        # entries from entries that node 3 has with the same index and term.
        for leader in (1, 2, 3, 1, 2):
            self.change("transfer-leader", str(leader), at=(leader,))
        last = self.stopped_and_copied(3)["last_index"]
        self.back(3)
        # A node saves its state at intervals: later entries of its log are not certainly committed.
        while self.stopped_and_copied(3)["committed_index"] <= last:
            self.back(3)
            time.sleep(1)
        self.back(3)
        self.stop(1, 2, 3)
        for node in (1, 2, 3):
            self.restore(self.place / f"image-{node}", node)
        self.newest = 0  # such a cluster grants tokens that were granted before

    def go_beyond(self, image):
        """Nodes 1 and 2 append more entries than the image has, and then elect in later terms than
        it has. Otherwise node 3 has the newer log and leads as soon as it is there."""
        for _ in range(image["last_index"]):
            self.work(1)
        while self.stopped_and_copied(1)["last_term"] <= image["last_term"]:
            self.back(1)
            for leader in (1, 2):
                self.change("transfer-leader", str(leader), at=(leader,))
        self.back(1)

    def test_images_of_different_times_go_on_from_what_a_majority_has(self):
        """The entries that the third node knows to be committed are gone: it stays out until its
        directory is emptied."""
        self.put_back_images_of_different_times()
        for node in (1, 2):
            self.start(node)
        for node in (1, 2):
            self.members[node].expect("ready")
            self.work(node)
        self.go_beyond(self.dumped(self.place / "image-3"))
        third = self.start(3)
        wait_until(lambda: third.complains("contradicts what is certain here"))
        self.assertEqual(third.said("ready"), [])
        third.end()
        shutil.rmtree(self.data(3))
        self.back(3)
        self.votes(3, 1, 2)

    def test_the_newest_image_may_lead(self):
        self.put_back_images_of_different_times()
        for node in (2, 3):
            self.start(node)
        for node in (2, 3):
            self.members[node].expect("ready")
            self.work(node)
        self.back(1)
        self.votes(1, 2, 3)

    # --- errors: another place

    def test_a_directory_of_another_node_is_refused(self):
        self.stop(1, 2)
        self.restore(self.data(1), 2)
        code = self.refused(2, "belongs to node 1, this is node 2")
        self.assertEqual(code, DATA_ERROR)
        self.assertEqual(self.set_aside(2), [])

    def test_a_symbolic_link_is_refused(self):
        self.stop(2)
        link = self.place / "link"
        link.symlink_to(self.data(2))
        self.assertEqual(self.refused(2, "is a symbolic link", data=link), CONFIG)

    def start_copy(self):
        """A copy of node 2, beside it, on another port."""
        first = self.members[2]
        second = self.start(2, data=self.place / "copy", port=self.ports[4])
        self.members[2] = first
        return second

    def test_a_copy_of_the_same_age_beside_its_original_stops(self):
        self.stop(2)
        copy(self.data(2), self.place / "copy")
        self.back(2)
        second = self.start_copy()
        wait_until(lambda: second.complains("uses a copy of this data directory"))
        self.assertEqual(second.said("ready"), [])
        self.work(2)
        self.work(1)

    def test_a_copy_of_a_running_directory_beside_its_original_takes_no_part(self):
        """It has a later start than its original: the others refuse it while the original is
        connected, and it disturbs no node."""
        copy(self.data(2), self.place / "copy")
        self.assertEqual(self.refused(2, data=self.place / "copy"), TAKEN)  # its port
        second = self.start_copy()
        second.expect("up")
        wait_until(lambda: second.complains("every node needs an id and a directory of its own"))
        for _ in range(3):
            for node in (1, 2, 3):
                self.work(node)
            time.sleep(1)
        self.assertEqual(second.said("ready"), [])
        second.end()
        self.work(2)
        self.assertEqual(self.set_aside(2), [])

    def test_a_directory_that_is_moved_away_while_its_node_runs(self):
        """The node continues, or stops; when the directory is back, the node works again."""
        self.data(2).rename(self.place / "away")
        self.work(1)
        self.members[2].tell("load name")
        time.sleep(1)
        self.members[2].end()
        (self.place / "away").rename(self.data(2))
        self.back(2)
        self.assertEqual(self.set_aside(2), [])

    # --- errors: parts

    def test_parts_of_a_directory_are_damaged_and_begin_anew(self):
        self.stop(2)
        image = self.place / "image"
        copy(self.data(2), image)
        parts = [["meta"], ["log", "meta"], ["log", "state"], ["state", "meta"], ["log"]]
        for kept in parts:
            with self.subTest(kept=kept):
                shutil.rmtree(self.data(2))
                self.data(2).mkdir()
                for part in kept:
                    copy(image / part, self.data(2) / part)
                self.back(2)
                self.votes(2, 1, 3)
                self.stop(2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
