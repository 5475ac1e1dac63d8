"""Arithmetic on what the programs counted."""

from collections import Counter
from statistics import median


def quantile(counts, share):
    """In microseconds: the least that this share of all samples did not exceed. `counts` has how
    many samples there are of each number of nanoseconds."""
    wanted = share * sum(counts.values())
    seen = 0
    for highest in sorted(counts):
        seen += counts[highest]
        if seen >= wanted:
            return highest / 1000
    return float("nan")


class Outcome:
    """One load: what the processes of a cluster counted meanwhile, put together. A process without
    callers has a part as well."""

    def __init__(self, parts):
        self.callers = [count for part in parts for count in part["cycles"]]
        self.cycles = sum(self.callers)
        # The windows of the parts begin and end at nearly the same moments.
        self.rate = sum(sum(part["cycles"]) / part["seconds"] for part in parts)
        self.acquire = Counter()
        for part in parts:
            self.acquire.update(dict(map(tuple, part["acquire"])))
        self.counters = Counter()
        for part in parts:
            self.counters.update(part["counters"])
        # Every node applies every entry; it was still one entry. Other services count none.
        for key in ("entries", "commands"):
            self.counters[key] = max(part["counters"].get(key, 0) for part in parts)

    def quantile(self, share):
        return quantile(self.acquire, share)

    def per_cycle(self, key):
        return self.counters[key] / self.cycles if self.cycles else float("nan")

    def cpu(self):
        """Microseconds of all processes for one cycle."""
        return self.per_cycle("cpu_ns") / 1000

    def fairness(self):
        """How many times more cycles the luckiest caller had than the unluckiest."""
        least = min(self.callers, default=0)
        return max(self.callers) / least if least else float("inf")

    def as_json(self):
        return {
            "cycles_per_second": self.rate, "callers": self.callers,
            "p50_us": self.quantile(0.5), "p90_us": self.quantile(0.9),
            "p99_us": self.quantile(0.99), "p999_us": self.quantile(0.999),
            "cpu_us_per_cycle": self.cpu(), "counters": self.counters,
        }


class Range:
    """One figure of several rounds: the median is what counts, the range is shown."""

    def __init__(self, values):
        self.values = list(values)
        self.median = median(self.values)

    def text(self, form="{:,.0f}"):
        middle = form.format(self.median)
        if len(self.values) == 1:
            return middle
        return f"{middle} [{form.format(min(self.values))}-{form.format(max(self.values))}]"
