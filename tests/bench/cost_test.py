"""./dev bench --cost, for a second: every kind of process has a row, with figures that can be.

    cost_test.py PROGRAMS
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAMS = sys.argv.pop(1)


class Cost(unittest.TestCase):
    def test_every_kind_of_process_has_a_row(self):
        with tempfile.TemporaryDirectory(prefix="mortise-bench-test-") as directory:
            file = Path(directory) / "report.json"
            done = subprocess.run(
                [sys.executable, "-B", "bench/cost.py", "--cost", "--programs", PROGRAMS,
                 "--seconds", "1", "--directory", directory, "--json", file],
                capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = {}
            for row in json.loads(file.read_text())["processes"]:
                rows.setdefault(row["what"], []).append(row)
        for words in ("without a node", "member, leads", "member, follows", "client node"):
            self.assertIn(words, done.stdout)
        self.assertEqual({what: len(found) for what, found in rows.items()},
                         {"no node": 1, "leader": 1, "follower": 2, "client": 1}, done.stdout)
        bare, = rows["no node"]
        client, = rows["client"]
        self.assertEqual(bare["threads"], 1)
        self.assertEqual(client["disk_bytes"], 0)
        for member in (*rows["leader"], *rows["follower"]):
            self.assertGreater(member["disk_bytes"], 0)
            for key in ("threads", "resident_bytes", "own_bytes", "descriptors"):
                self.assertGreater(member[key], client[key], key)
                self.assertGreater(client[key], bare[key], key)


if __name__ == "__main__":
    unittest.main(verbosity=2)
