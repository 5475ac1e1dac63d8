"""The arithmetic of ./dev bench, and its verdicts."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import catalogue  # noqa: E402
import loads  # noqa: E402
import report  # noqa: E402
from figures import Outcome, Range, quantile  # noqa: E402
from targets import Rounds  # noqa: E402


def part(cycles, acquire_us=100, **counters):
    counted = {"cpu_ns": 0, "entries": 0, "commands": 0} | counters
    return {"cycles": cycles, "seconds": 2, "counters": counted,
            "acquire": [[acquire_us * 1000, sum(cycles)]] if sum(cycles) else []}


def line_of(name, rounds, void=False):
    target = next(target for target in catalogue.LOADS if target.name == name)
    return target.line(rounds, void)


class Figures(unittest.TestCase):
    def test_a_quantile_is_the_least_that_enough_samples_do_not_exceed(self):
        counts = {1000: 50, 2000: 49, 9000: 1}
        self.assertEqual([quantile(counts, share) for share in (0.5, 0.51, 0.99, 1)], [1, 2, 2, 9])

    def test_parts_are_put_together(self):
        outcome = Outcome([part([10, 30], entries=7, cpu_ns=50_000),
                           part([20], 300, entries=9, cpu_ns=10_000), part([])])
        self.assertEqual((outcome.cycles, outcome.rate), (60, 30))
        self.assertEqual((outcome.quantile(0.5), outcome.quantile(0.99)), (100, 300))
        self.assertEqual(outcome.cpu(), 1)
        self.assertEqual(outcome.per_cycle("entries"), 9 / 60)  # all nodes apply the same ones
        self.assertEqual(outcome.fairness(), 3)

    def test_a_caller_without_a_cycle_is_not_fair(self):
        self.assertEqual(Outcome([part([10, 0])]).fairness(), float("inf"))

    def test_the_median_and_the_range_are_shown(self):
        self.assertEqual(Range([3, 1, 2000]).text(), "3 [1-2,000]")


class Verdicts(unittest.TestCase):
    def setUp(self):
        self.rounds = Rounds()
        for floor in (loads.FLOOR_MANY, loads.FLOOR_SPREAD):
            self.rounds.floor[floor] = [Outcome([part([100], 100)])] * 3
        self.rounds.floor[loads.FLOOR_ONE] = [Outcome([part([5], 100)])] * 3

    def given(self, load, cycles, acquire_us):
        self.rounds.cluster[load] = [Outcome([part(cycles, acquire_us)])] * 3

    def test_a_latency_is_judged_by_that_of_the_floor(self):
        for us, verdict in ((110, "met"), (111, "missed")):
            self.given(loads.ON_LEADER, [5], us)
            self.assertEqual(line_of("T2 leader", self.rounds).verdict, verdict)

    def test_a_rate_is_judged_with_its_tail(self):
        for cycles, us, verdict in ((100, 200, "met"), (99, 200, "missed"), (100, 201, "missed")):
            self.given(loads.MANY, [cycles], us)
            self.assertEqual(line_of("T3a", self.rounds).verdict, verdict)

    def test_handing_over_is_judged_with_its_fairness(self):
        # A commit takes 100 us, so 0.6 of them are 6,000 a second, or 12,000 in two seconds.
        for cycles, verdict in (([6000, 6000], "met"), ([5999, 6000], "missed"),
                                ([6000, 7000], "missed")):
            self.given(loads.HOT, cycles, 100)
            self.assertEqual(line_of("T5 strict", self.rounds).verdict, verdict)

    def test_without_a_floor_nothing_is_compared(self):
        self.given(loads.MANY, [500], 100)
        self.assertEqual(line_of("T3a", self.rounds, void=True).verdict, "void")

    def test_a_failed_load_says_why(self):
        self.rounds.failures[loads.MANY] = "the leader changed"
        line = line_of("T3a", self.rounds)
        self.assertEqual((line.verdict, line.figure), ("failed", "the leader changed"))

    def test_the_floor_is_judged_by_the_machine(self):
        wrong, _ = report.judge_floor(Range([40]), Range([12]), self.rounds)
        self.assertEqual(wrong, [])
        wrong, _ = report.judge_floor(Range([39]), Range([12]), self.rounds)
        self.assertEqual(wrong, ["one caller takes too long"])
        self.rounds.floor[loads.FLOOR_MANY] = [Outcome([part([74])])] * 3
        wrong, _ = report.judge_floor(Range([40]), Range([12]), self.rounds)
        self.assertEqual(wrong, ["64 callers are too slow"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
