"""mortise dump: the directory of a node that is not running, undamaged and damaged."""

import json
import os
import shutil
import signal
import unittest
from pathlib import Path

from program import (DATA_ERROR, HOLDER, IO_ERROR, OK, TAKEN, USAGE, Cluster, run, wait_until)


def everything(directory):
    """The bytes, owners, modes and times of everything in it, except the times of access."""
    found = {}
    for folder, folders, names in os.walk(directory):
        for name in [".", *folders, *names]:
            path = Path(folder) / name
            about = path.lstat()
            content = path.read_bytes() if path.is_file() else None
            found[str(path)] = (about.st_mode, about.st_uid, about.st_gid, about.st_ino,
                                about.st_mtime_ns, about.st_ctime_ns, content)
    return found


def end_of_log(content):
    """Where the records of a write-ahead log end: a killed node leaves zeros behind them."""
    at = 0
    while at + 7 <= len(content) and content[at + 6] != 0:  # the type of the next record
        at += 7 + int.from_bytes(content[at + 4:at + 6], "little")
        if at % 32768 > 32768 - 7:  # no record begins here
            at += 32768 - at % 32768
    return at


class Dump(unittest.TestCase):
    """Three killed nodes, the third of which held orders/42 and had a second request for it."""

    @classmethod
    def setUpClass(cls):
        with Cluster(last=HOLDER) as cluster:
            cls.live = cls.look_at(cluster)
            cluster.end(signal.SIGKILL)
            cls.kept = cluster.directory
            cluster.directory = Kept(cluster.directory.name)
        cls.data = Path(cls.kept.name)

    @classmethod
    def look_at(cls, cluster):
        lines = cluster.wait_ready()
        cls.token = lines[-1].split()[1]

        def waits():
            done = run("inspect", "orders/42", "--json", *cluster.peers())
            cls.lock = json.loads(done.stdout) if done.returncode == OK else {"waiters": []}
            for party in cls.lock.get("holders", []) + cls.lock["waiters"]:
                party.pop("age_ms", None)  # a directory at rest has no present time
            return cls.lock["waiters"]
        wait_until(waits)
        cls.pid = cluster.processes[0].pid
        cls.running = run("dump", cluster.data(1))
        return json.loads(run("status", "--json", *cluster.peers()).stdout)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def setUp(self):
        self.copy = self.data / "copy"
        shutil.copytree(self.data / "node-1", self.copy)
        self.addCleanup(shutil.rmtree, self.copy)

    def dump(self, *words, directory=None, code=OK):
        """As JSON; the directory is not changed."""
        directory = directory or self.data / "node-1"
        before = everything(directory)
        result = run("dump", directory, "--json", *words)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(everything(directory), before)
        self.assertEqual(result.stderr.count("\n"), 0 if code == OK else 1, result.stderr)
        return json.loads(result.stdout)

    def damage(self, *words):
        found = self.dump(*words, directory=self.copy, code=DATA_ERROR)
        self.assertNotEqual(found["damage"], [])
        return found

    def spoil(self, pattern, at):
        """Flips a bit of the newest file of that name."""
        path = sorted(self.copy.glob(pattern))[-1]
        content = bytearray(path.read_bytes())
        size = end_of_log(content) if path.suffix == ".log" else len(content)
        content[int(at * size)] ^= 4
        path.write_bytes(content)

    def test_it_says_whose_directory_it_is_and_who_holds_what(self):
        for node in (1, 2, 3):
            found = self.dump(directory=self.data / f"node-{node}")
            self.assertEqual(found["node"], node)
            self.assertEqual(found["cluster_id"], self.live[0]["status"]["cluster_id"])
            self.assertEqual(found["boot_epoch"], 1)
            self.assertGreaterEqual(found["term"], max(r["status"]["term"] for r in self.live))
            self.assertEqual(found["damage"], [])
            self.assertEqual([m["id"] for m in found["members"]], [1, 2, 3])
            self.assertEqual({s["node"] for s in found["sessions"]}, {1, 2, 3})
            self.assertLessEqual(found["applied_index"], found["last_index"])
        lock, = self.dump()["locks"]
        self.assertEqual(lock, self.lock)
        self.assertEqual(lock["holders"][0]["token"], self.token)
        self.assertEqual(lock["holders"][0]["label"], "the holder")
        self.assertEqual(lock["waiters"][0]["label"], "the waiter")

    def test_the_log_is_told_in_words(self):
        found = self.dump("--log")
        indexes = [entry["index"] for entry in found["entries"]]
        self.assertEqual(indexes, list(range(found["first_index"], found["last_index"] + 1)))
        words = [line for entry in found["entries"] for line in entry["words"]]
        self.assertTrue(any('acquire "orders/42" exclusive, waits, label "the holder"' in line
                            for line in words), words)
        self.assertIn("open a session for node 3", " ".join(words))
        self.assertEqual(self.dump()["entries"], [])

    def test_the_locks_are_told_as_of_an_index(self):
        granted = self.lock["holders"][0]["since"]
        found = self.dump("--at", granted)
        self.assertEqual(found["locks_index"], granted)
        self.assertEqual(found["locks"][0]["waiters"], [])
        self.assertEqual(found["locks"][0]["holders"], self.lock["holders"])

    def test_text_is_for_people(self):
        result = run("dump", self.data / "node-1", "--log")
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        for part in ("node 1 of cluster ", "boot epoch 1", "log: entries 1 to ", self.token,
                     "orders/42", "the waiter", "state on disk: index ", "entries of the log:"):
            self.assertIn(part, result.stdout)

    def test_a_node_that_runs_is_left_alone(self):
        self.assertEqual(self.running.returncode, TAKEN)
        self.assertEqual(self.running.stdout, "")
        self.assertTrue(self.running.stderr.endswith(
            f"is in use by process {self.pid}; stop it, or ask it: mortise locks\n"))

    def test_what_is_no_data_directory(self):
        empty = self.copy / "empty"
        empty.mkdir()
        advice = ": name the data_dir of the node\n"
        for directory, why in ((empty, f"is not a data directory{advice}"),
                               (self.copy / "nowhere", f"does not exist{advice}"),
                               (self.copy / "meta", "Not a directory")):
            result = run("dump", directory)
            self.assertEqual(result.returncode, IO_ERROR)
            self.assertEqual(result.stdout, "")
            self.assertIn(why, result.stderr)
        self.assertEqual(run("dump").returncode, USAGE)

    # --- damage: the rest is shown nevertheless

    def test_a_copy_says_that_it_is_one(self):
        self.assertIn("this is a copy", self.dump(directory=self.copy)["notes"][0])
        self.assertEqual(self.dump()["notes"], [])

    def test_without_the_witness(self):
        (self.copy / "meta").unlink()
        found = self.damage()
        self.assertIn("meta: it is missing", found["damage"][0])
        self.assertEqual(found["node"], 1)
        self.assertEqual(found["locks"][0], self.lock)

    def test_without_the_log(self):
        shutil.rmtree(self.copy / "log")
        found = self.damage()
        self.assertIn("log: it is missing", found["damage"][0])
        self.assertEqual((found["node"], found["boot_epoch"]), (1, 1))

    def test_with_a_damaged_log(self):
        self.spoil("log/*.log", 0.5)
        found = self.damage("--log")
        self.assertIn("/log: ", found["damage"][0])
        whole = self.dump("--log")["entries"]
        self.assertEqual(found["entries"], whole[:len(found["entries"])])
        self.assertLess(len(found["entries"]), len(whole))

    def test_with_a_log_that_was_cut_short(self):
        path = sorted(self.copy.glob("log/*.log"))[-1]
        os.truncate(path, end_of_log(path.read_bytes()) // 2)
        self.assertIn("which was synced, is missing", self.damage()["damage"][0])

    def test_with_a_torn_end(self):
        with open(sorted(self.copy.glob("log/*.log"))[-1], "r+b") as log:
            log.seek(end_of_log(log.read()))
            log.write(b"\1\1\1\1\5\0\1wrong")  # a record with a wrong checksum
        found = self.dump(directory=self.copy)
        self.assertIn("the newest write of the log was cut short", " ".join(found["notes"]))
        self.assertEqual(found["locks"][0], self.lock)

    def test_without_the_state(self):
        shutil.rmtree(self.copy / "state")
        found = self.dump(directory=self.copy)  # the log begins earlier than the state
        self.assertEqual(found["applied_index"], 0)
        self.assertEqual(found["locks"][0], self.lock)

    def test_any_file_that_is_gone_or_spoilt_ends_nothing(self):
        """Whatever a part of it contains, the program ends normally."""
        names = [path.relative_to(self.copy) for path in self.copy.rglob("*")
                 if path.is_file() and path.name != "reserve"]
        for name in names:
            content = (self.copy / name).read_bytes()
            for changed in (None, b"", content[:len(content) // 2], content[::-1]):
                if changed is None:
                    (self.copy / name).unlink()
                else:
                    (self.copy / name).write_bytes(changed)
                result = run("dump", self.copy, "--json", "--log")
                self.assertIn(result.returncode, (OK, DATA_ERROR), (name, result.stderr))
                json.loads(result.stdout)
            (self.copy / name).write_bytes(content)
        self.assertEqual(self.dump(directory=self.copy)["damage"], [])


class Kept:
    """A directory that is cleaned up later."""

    def __init__(self, name):
        self.name = name

    def cleanup(self):
        pass


if __name__ == "__main__":
    unittest.main(verbosity=2)
