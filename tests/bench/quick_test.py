"""The whole of ./dev bench, quickly: that every target has its line, whatever the figure."""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAMS = sys.argv.pop(1)
NAMES = ["T1 mutex", "T1 name", "T2 leader", "T2 follower", "T2 unawaited", "T3a", "T3b",
         "T4 one node", "T4 all nodes", "T5 strict", "T5 local", "T6 kill", "T6 stop",
         "T7 replica", "T7 holder", "T8 locks", "T8 queue", "T8 five", "T8 end", "T9", "T10 CPU",
         "T10 syncs", "T11 T3a", "T11 T4"]
QUICK = ["--rounds", "1", "--seconds", "0.8", "--warm-up", "0.1", "--failovers", "1",
         "--locks", "3000", "--waiters", "200", "--settle", "1"]


class Quick(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="mortise-bench-test-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def bench(self, *words):
        return subprocess.run(
            [sys.executable, "-B", "bench/run.py", "--programs", PROGRAMS, *words,
             "--directory", self.directory], capture_output=True, text=True, check=False)

    def whole(self):
        """A machine that is busy with other things may change its leader in the middle, or complete
        nothing in so short a time."""
        for _ in range(3):
            done = self.bench(*QUICK, "--json", self.directory / "report.json")
            if not re.search("leader changed|not a single cycle", done.stdout):
                break
        return done

    def test_prints_a_line_for_every_target(self):
        done = self.whole()
        self.assertEqual(done.stderr, "")
        lines = done.stdout.split("\n\n")[0].splitlines()
        self.assertEqual([line[:13].strip() for line in lines], NAMES, done.stdout)
        for line in lines:
            self.assertRegex(line, r" (met|missed|in part|void) ", done.stdout)
            self.assertRegex(line, r"\d", line)
        for word in ("date: ", "commit: ", "machine: ", "floor: sync p50 "):
            self.assertIn(f"\n{word}", done.stdout)
        self.check_written(json.loads((self.directory / "report.json").read_text()))
        self.assertEqual([path.name for path in self.directory.iterdir()], ["report.json"])

    def check_written(self, report):
        self.assertEqual([target["name"] for target in report["targets"]], NAMES)
        self.assertEqual(len(report["loads"]), 4 + 10)
        for load in report["loads"].values():
            for outcome in load:
                self.assertGreater(outcome["cycles_per_second"], 0)
                self.assertGreater(outcome["cpu_us_per_cycle"], 0)
                self.assertGreater(outcome["p50_us"], 0)
                self.assertLessEqual(outcome["p50_us"], outcome["p999_us"])
                self.assertGreater(outcome["counters"]["syncs"], 0)

    def test_measures_what_is_asked_for(self):
        done = self.bench(*QUICK, "--only", "t5,T1")
        names = [line[:13].strip() for line in done.stdout.split("\n\n")[0].splitlines()]
        self.assertEqual(names, ["T1 mutex", "T1 name", "T5 strict", "T5 local"],
                         done.stdout + done.stderr)

    def test_refuses_a_target_that_there_is_not(self):
        done = self.bench("--only", "T3a,T99")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, re.escape("no target t99"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
