"""Tests that the benchmark measures, not what it measures."""

import json
import unittest

from program import OK, Case, run


class Bench(Case):
    def bench(self, *words):
        asked = ["bench", "--seconds", 1, "--clients", 4, "--directory", self.directory, *words]
        for _ in range(5):  # on a busy machine the leader may change
            result = run(*asked)
            if "the leader changed" not in result.stderr:
                break
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        self.assertEqual(list(self.directory.iterdir()), [])
        return result.stdout

    def test_measures_the_cluster_and_what_it_rests_on(self):
        report = json.loads(self.bench("--json"))
        rows = [report["fdatasync"], report["round_trip"], *report["latencies"]]
        for row in rows:
            self.assertGreater(row["count"], 0)
            times = [row[key] for key in ("p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")]
            self.assertEqual(times, sorted(times))
            self.assertGreater(times[0], 0)
        self.assertEqual([row["what"] for row in report["latencies"]],
                         ["acquire on the leader", "release on the leader",
                          "acquire on the follower", "release on the follower"])
        for row in report["loads"]:
            self.assertGreater(row["per_second"], 0)
        self.assertEqual([row["what"] for row in report["loads"]],
                         ["4 callers, distinct names", "4 callers, one hot name"])

    def test_prints_two_tables(self):
        tables = self.bench().split("\n\n")
        self.assertEqual([len(table.strip().splitlines()) for table in tables], [7, 3])


if __name__ == "__main__":
    unittest.main(verbosity=2)
