"""What a cluster does that is asked for more than it can do, by calls under way.

    overload_test.py MORTISE OVERLOAD [SECONDS]

Prints a table. Judged: nothing that is held is lost, with a session_ttl of one second as well; no
leader is replaced with one of five seconds; and what ends does not collapse beyond the load that
suits best. With more than 4,096 names a row is written to disk for nearly every command, which
costs up to half of the cycles.
"""

import sys
import time
import unittest

from nodes_case import Nodes
from program import times

SECONDS = int(sys.argv.pop(1)) if len(sys.argv) > 1 else 5
KEPT = 200  # by each node, in addition to the load
NODES = (1, 2, 3)


class Cluster(Nodes):
    def __init__(self, ttl):
        # The shortest valid combination.
        self.timing = times(f"{ttl}ms", f"{ttl // 5}ms", f"{ttl // 50}ms")
        self.prepare()

    def ask(self, line, beginning):
        for number, member in self.members.items():
            member.tell(line.format(node=number))
        return [member.answer(beginning) for member in self.members.values()]


def measured(ttl, calls):
    """One row, measured with a cluster of its own."""
    with Cluster(ttl) as cluster:
        cluster.start_all(*NODES)
        cluster.ask(f"keep kept{{node}}/ {KEPT}", "kept")
        cluster.ask(f"load load{{node}}/ {calls // len(NODES)}", "loading")
        time.sleep(2)
        cluster.ask("measure", "load")
        begin = time.monotonic()
        time.sleep(SECONDS)
        loads = cluster.ask("measure", "load")
        took = time.monotonic() - begin
        metrics = cluster.ask("metrics", "metrics")
    errors = {}
    for load in loads:
        for name, count in zip(load[4::2], load[5::2]):
            errors[name] = errors.get(name, 0) + int(count)
    return {"ttl": ttl, "calls": calls, "cycles/s": sum(int(load[0]) for load in loads) / took,
            "p50": max(float(load[1]) for load in loads),
            "p99": max(float(load[2]) for load in loads),
            "valid": sum(int(each[0]) for each in metrics),
            "lost": sum(int(each[1]) for each in metrics),
            "expired": sum(int(each[2]) for each in metrics),
            "leaders": max(int(each[3]) for each in metrics),
            "overruns": [int(each[4]) for each in metrics],
            "slowest": [round(float(each[5]), 1) for each in metrics], "errors": errors}


class OverloadTest(unittest.TestCase):
    def judge(self, ttl, loads):
        rows = []
        for calls in loads:
            row = measured(ttl, calls)
            rows.append(row)
            print("  ".join(f"{key} {value:.0f}" if isinstance(value, float) else f"{key} {value}"
                            for key, value in row.items()), flush=True)
        for row in rows:
            with self.subTest(calls=row["calls"]):
                self.assertEqual(row["valid"], KEPT * len(NODES))
                self.assertEqual((row["lost"], row["expired"]), (0, 0))
                if ttl >= 5000:
                    self.assertLessEqual(row["leaders"], 1)  # the first one
        return rows

    def test_what_is_held_stays_held_and_what_ends_goes_on(self):
        rows = self.judge(5000, (60, 300, 1500, 5000, 15000, 60000))
        peak = max(rows, key=lambda row: row["cycles/s"])
        for row in rows:
            if row["calls"] <= 10 * peak["calls"] and row["calls"] > peak["calls"]:
                self.assertGreater(row["cycles/s"], 0.4 * peak["cycles/s"], row)

    def test_a_session_of_one_second_is_kept_as_well(self):
        self.judge(1000, (300, 5000))


if __name__ == "__main__":
    unittest.main(verbosity=2)
