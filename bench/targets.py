"""The targets: what is demanded, what was measured, and whether that is enough."""

from statistics import median

from figures import Range
from loads import FLOOR_ONE, FLOOR_SPREAD


class Line:
    """One target of the report. `ratio` is to what the floor did in the same round."""

    def __init__(self, name, demand, figure="", ratio="", verdict="failed", values=None):
        self.name, self.demand, self.figure = name, demand, figure
        self.ratio, self.verdict, self.values = ratio, verdict, values

    def text(self):
        return f"{self.name:<13} {self.figure:<42} {self.ratio:<36} {self.verdict:<9} {self.demand}"

    def as_json(self):
        return {"name": self.name, "figure": self.figure, "ratio": self.ratio,
                "verdict": self.verdict, "target": self.demand, "values": self.values}


def verdict(met):
    return "met" if met else "missed"


def times(values):
    return Range(values).text("{:.2f}") + " x floor"


class Rounds:
    """The loads of all rounds: floor[load][round] and cluster[load][round]."""

    def __init__(self):
        self.floor = {}
        self.cluster = {}
        self.failures = {}  # why a load has no outcome

    def pairs(self, load, floor):
        return list(zip(self.cluster[load], self.floor[floor]))


def latency(name, demand, load, most):
    """The median of an acquire, beside that of the floor's single caller."""
    def judge(rounds):
        ratios = [ours.quantile(0.5) / floor.quantile(0.5)
                  for ours, floor in rounds.pairs(load, FLOOR_ONE)]
        p50 = Range(it.quantile(0.5) for it in rounds.cluster[load])
        return Line(name, demand, f"p50 {p50.text()} us", times(ratios),
                    verdict(median(ratios) <= most), p50.values)
    return Target(name, demand, judge, [load], [FLOOR_ONE])


def rate(name, demand, load, beside, least, tail=None):
    """Cycles a second, and perhaps the tail of the acquires, beside those of that load of the
    floor."""
    def judge(rounds):
        pairs = rounds.pairs(load, beside)
        ratios = [ours.rate / floor.rate for ours, floor in pairs]
        met = median(ratios) >= least
        text = times(ratios)
        if tail is not None:
            tails = [ours.quantile(0.99) / floor.quantile(0.99) for ours, floor in pairs]
            met = met and median(tails) <= tail
            text += f", p99 {median(tails):.2f} x"
        rates = Range(ours.rate for ours, _ in pairs)
        return Line(name, demand, f"{rates.text()} cycles/s", text, verdict(met), rates.values)
    return Target(name, demand, judge, [load], [beside])


def absolute(name, demand, load, least):
    def judge(rounds):
        rates = Range(it.rate for it in rounds.cluster[load])
        return Line(name, demand, f"{rates.text()} cycles/s",
                    f"{rates.median / least:.3f} x target", verdict(rates.median >= least),
                    rates.values)
    return Target(name, demand, judge, [load], [])


def handover(name, demand, load):
    """The floor commits once in each p50 of its single caller."""
    def judge(rounds):
        rates = Range(it.rate for it in rounds.cluster[load])
        ratios = [ours.rate * floor.quantile(0.5) / 1e6
                  for ours, floor in rounds.pairs(load, FLOOR_ONE)]
        fairness = median(it.fairness() for it in rounds.cluster[load])
        return Line(name, demand, f"{rates.text()} cycles/s, max/min {fairness:.2f}",
                    Range(ratios).text("{:.2f}") + " / commit",
                    verdict(median(ratios) >= 0.6 and fairness <= 1.1), rates.values)
    return Target(name, demand, judge, [load], [FLOOR_ONE])


def cpu(name, demand, load, most, of_floor=False):
    def judge(rounds):
        spent = Range(it.cpu() for it in rounds.cluster[load])
        figure = f"{spent.text('{:.1f}')} us of CPU per cycle"
        if not of_floor:
            return Line(name, demand, figure, "", verdict(spent.median <= most), spent.values)
        ratios = [ours.cpu() / floor.cpu() for ours, floor in rounds.pairs(load, FLOOR_SPREAD)]
        return Line(name, demand, figure, times(ratios), verdict(median(ratios) <= most),
                    spent.values)
    return Target(name, demand, judge, [load], [FLOOR_SPREAD] if of_floor else [])


class Target:
    """One that is judged by loads; `floors` are the loads of the floor that it is compared with."""

    def __init__(self, name, demand, judge, loads, floors):
        self.name, self.demand, self.judge = name, demand, judge
        self.loads, self.floors = loads, floors

    def line(self, rounds, void):
        for load in self.loads:
            if load in rounds.failures:
                return Line(self.name, self.demand, rounds.failures[load], "", "failed")
        line = self.judge(rounds)
        if void and self.floors:
            line.verdict = "void"
        return line
