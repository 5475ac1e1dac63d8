"""./dev bench --micro: every part runs, and what the programs print is understood."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

PROGRAM = sys.argv.pop(1)
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import micro  # noqa: E402
from processes import Failed  # noqa: E402


class Printed(unittest.TestCase):
    def test_figures_are_those_of_one_cycle(self):
        one = {"run_type": "iteration", "cpu_time": 64_000.0, "cycles": 64.0, "allocations": 128.0,
               "bytes": 6400.0}
        mean = one | {"run_type": "aggregate", "cpu_time": 1.0}
        part = micro.measured(json.dumps({"benchmarks": [one, one | {"cpu_time": 128_000}, mean]}))
        self.assertEqual(part, {"time_us": [1, 2], "allocations": [2, 2], "bytes": [100, 100],
                                "cycles": 64})
        self.assertEqual(micro.row("apply/64", part | {"instructions": 1234.5}),
                         ("apply/64", "1.50 [1.00-2.00]", "2.0 [2.0-2.0]", "100 [100-100]",
                          "1,234"))

    def test_what_callgrind_counted_is_found(self):
        said = "==7== Events    : Ir\n==7== Collected : 123456\n==7== \n"
        self.assertEqual(micro.collected(said), 123456)
        with self.assertRaises(Failed):
            micro.collected("valgrind: no such file")


class Parts(unittest.TestCase):
    def run_program(self, *words):
        return subprocess.run([sys.executable, "-B", "bench/micro.py", "--program", PROGRAM,
                               "--rounds", "1", "--seconds", "0.001", "--no-instructions", *words],
                              capture_output=True, text=True, check=False)

    def test_each_has_a_line(self):
        done = self.run_program()
        self.assertEqual((done.stderr, done.returncode), ("", 0))
        lines = done.stdout.split("\n\n")[0].splitlines()[1:]
        names = [line.rsplit(None, 4)[0] for line in lines]
        self.assertEqual(names, [
            "apply/1", "apply/64", "apply/1024", "apply beside 100,000 holds/64",
            "apply of permits/64", "apply of two names/64", "apply with a waiter/64",
            "apply with a cancel/64", "apply with an upgrade/64", "apply with a value/64",
            "encode/1", "encode/64", "decode/1", "decode/64",
            "steps of one node", "steps of three, asked at the leader",
            "steps of three, asked at a follower", "call to answer/1", "call to answer/64"])
        for line in lines:
            self.assertGreater(float(line.split()[-4]), 0, line)

    def test_some_can_be_picked(self):
        lines = self.run_program("--only", "decode").stdout.split("\n\n")[0].splitlines()
        self.assertEqual(len(lines), 1 + 2)
        done = self.run_program("--only", "nothing")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "./dev bench: no part has 'nothing' in its name\n"))

    def test_a_part_runs_alone_for_a_counter_of_instructions(self):
        done = subprocess.run([PROGRAM, "run", "apply/1", "3"], check=False)
        self.assertEqual(done.returncode, 0)
        done = subprocess.run([PROGRAM, "run", "appl", "3"], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "core_micro: there is no task appl\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
