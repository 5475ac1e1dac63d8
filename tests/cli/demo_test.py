"""The demonstration: what it shows, what it leaves, and what it does when it is interrupted."""

import json
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

from program import INTERRUPTED, OK, PROGRAM, Case, can_boot, environment, start


def demo(directory, *words):
    return subprocess.run([PROGRAM, "demo", *map(str, words)],
                          env=environment(TMPDIR=str(directory)), capture_output=True, text=True,
                          timeout=200, check=False)


def children_of(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()


class Demo(Case):
    def in_progress(self):
        """It, and the processes of its nodes."""
        process = self.keep(start("demo", TMPDIR=str(self.directory)))
        while "workers fight" not in (line := process.stdout.readline()):
            self.assertNotEqual(line, "")
        return process, children_of(process.pid)

    def test_kills_partitions_and_judges_by_the_log(self):
        log = self.directory / "fenced.log"
        result = demo(self.directory, "--seed", "7", "--keep-log", log)
        self.assertEqual((result.returncode, result.stderr), (OK, ""), result.stdout)
        self.assertIn("verdict: no two held a lock at once", result.stdout)
        self.assertIn("(seed 7)", result.stdout)
        self.assertNotIn("\x1b", result.stdout)

        records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        events = [record["what"] for record in records if record["what"] not in ("write", "lost")]
        self.assertEqual(events, ["kill", "restart", "partition", "heal"])
        self.judge(records)
        self.assertEqual([path.name for path in self.directory.iterdir()], ["fenced.log"])

        after = result.stdout[result.stdout.index("every link of"):]
        self.assertIn("lost() fires", after)
        self.assertIn("is granted", after)

    # Judges the log once more, independently of the program.
    def judge(self, records):
        tenures = {}
        newest = {}
        for record in records:
            if record["what"] != "write":
                continue
            token = int(record["token"])
            lock = record["lock"]
            self.assertEqual(record["accepted"], token >= newest.get(lock, 0), record)
            newest[lock] = max(token, newest.get(lock, 0))
            if record["claims_valid"]:
                tenures.setdefault(lock, {}).setdefault(token, []).append(record)
        self.assertEqual(len(tenures), 3)
        for lock, by_token in tenures.items():
            end = 0
            for token in sorted(by_token):
                writes = by_token[token]
                self.assertEqual(len({(each["node"], each["worker"]) for each in writes}), 1)
                self.assertGreater(min(each["at_ns"] for each in writes), end, (lock, token))
                end = max(each["at_ns"] for each in writes)

    @unittest.skipUnless(can_boot(), "no process can be shown another boot id here")
    def test_all_lose_their_power_and_nobody_believes_in_a_lock_of_another(self):
        log = self.directory / "fenced.log"
        result = demo(self.directory, "--power-cut", "--keep-log", log)
        self.assertEqual((result.returncode, result.stderr), (OK, ""), result.stdout)
        self.assertIn("verdict: no two held a lock at once", result.stdout)
        records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        events = [record["what"] for record in records if record["what"] not in ("write", "lost")]
        self.assertEqual(events, [*["power_cut"] * 3, *["restart"] * 3, "era"])
        self.judge(records)
        self.assertEqual([path.name for path in self.directory.iterdir()], ["fenced.log"])
        self.assertRegex(result.stdout, "had [1-9][0-9]* bytes of its log in memory alone")
        after = result.stdout[result.stdout.index("an era begins"):]
        self.assertIn("all work again", after)

    def test_an_interrupt_leaves_nothing_behind(self):
        process, children = self.in_progress()
        self.assertEqual(len(children), 3)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (INTERRUPTED, "mortise: interrupted\n"))
        self.assertFalse([pid for pid in children if os.path.exists(f"/proc/{pid}")])
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_its_nodes_end_with_it_even_when_it_is_killed(self):
        process, children = self.in_progress()
        process.end()
        end = time.monotonic() + 60
        while left := [pid for pid in children if is_alive(pid)]:
            self.assertLess(time.monotonic(), end, left)
            time.sleep(0.05)


def is_alive(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


if __name__ == "__main__":
    unittest.main(verbosity=2)
