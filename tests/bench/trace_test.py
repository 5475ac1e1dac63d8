"""The arithmetic of ./dev bench --trace."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import stages  # noqa: E402
from processes import Failed  # noqa: E402


def call(begin, *passed):
    """A call that is submitted then, and passes the other stages so many microseconds later."""
    return [("submitted", begin), *((stage, begin + later * 1000) for stage, later in passed)]


class Trace(unittest.TestCase):
    def test_every_second_call_is_an_acquire(self):
        times = call(0, ("woken", 40)) + call(50_000, ("woken", 9)) + call(100_000, ("woken", 50))
        self.assertEqual(stages.acquires(times), [(0, 40_000), (100_000, 150_000)])

    def test_a_stage_counts_when_it_is_first_passed_within_the_acquire(self):
        times = [("sent", 5_000), ("received", 12_000), ("received", 14_000), ("sent", 31_000)]
        found = stages.firsts(times, [(10_000, 20_000), (30_000, 40_000)])
        self.assertEqual(found, {"received": [2], "sent": [1]})

    def test_stages_are_in_the_order_of_their_medians(self):
        nodes = {1: call(0, ("taken", 10), ("answered", 80), ("woken", 90)),
                 2: [("received", 20_000), ("synced", 70_000)], 3: []}
        count, found = stages.rows(nodes, caller=1, leader=1)
        self.assertEqual(count, 1)
        self.assertEqual([stage for _, _, stage in found],
                         ["submitted", "taken", "received", "synced", "answered", "woken"])
        self.assertEqual({where for _, where, _ in found}, {"caller's node", "node 2"})

    def test_what_is_rare_belongs_to_something_else(self):
        acquires = [call(at * 100_000, ("woken", 40)) for at in range(10)]
        nodes = {1: sum(acquires, []), 2: [("received", 20_000)]}
        _, found = stages.rows(nodes, caller=1, leader=2)
        self.assertNotIn("received", [stage for _, _, stage in found])

    def test_a_program_without_stages_is_no_success(self):
        with self.assertRaisesRegex(Failed, "MORTISE_TRACE"):
            stages.rows({1: [], 2: []}, caller=1, leader=2)


if __name__ == "__main__":
    unittest.main()
