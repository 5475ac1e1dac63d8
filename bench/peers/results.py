"""What was measured, as an object of JSON, from which the page and the plot are written."""

from systems import FLOOR, MORTISE, REDIS, SCENARIOS, SYSTEMS

FIGURES = {
    "rates": lambda it: it.rate,
    "p50_us": lambda it: it.quantile(0.5),
    "p99_us": lambda it: it.quantile(0.99),
    "cpu_us": lambda it: it.cpu(),
    "fairness": lambda it: it.fairness(),
    "retries": lambda it: it.per_cycle("retries"),
}


class Outcomes:
    """Of each system and scenario one for each round, or None where it failed."""

    def __init__(self):
        self.loads = {}
        self.failures = {}
        self.failovers = []

    def add(self, system, scenario, outcome):
        self.loads.setdefault((system.name, scenario.name), []).append(outcome)

    def fail(self, system, scenario, why):
        self.add(system, scenario, None)
        self.failures[system.name, scenario.name] = why

    def add_failovers(self, system, times):
        self.failovers.append({"system": system.name, "ms": times})

    def row(self, system, scenario):
        outcomes = self.loads[system.name, scenario.name]
        row = {"system": system.name, "scenario": scenario.name, "keeps": system.keeps,
               "fenced": system.fenced,
               "failure": self.failures.get((system.name, scenario.name), "")}
        for key, figure in FIGURES.items():
            row[key] = [outcome and figure(outcome) for outcome in outcomes]
        return row

    def rows(self):
        return [self.row(system, scenario) for scenario in SCENARIOS for system in SYSTEMS
                if (system.name, scenario.name) in self.loads]


def measured(values):
    return [value for value in values if value is not None]


def ratios(report, row, system, key="rates"):
    """Cycles a second, or another figure, compared with that of a system in the same round."""
    for other in report["rows"]:
        if other["system"] == system.name and other["scenario"] == row["scenario"]:
            return [one / two for one, two in zip(row[key], other[key]) if one and two]
    return []


def to_redis(report, row, key):
    """Redis with its defaults, which keeps in one memory what is granted."""
    return ratios(report, row, REDIS, key)


def to_floor(report, row):
    """The floor has no locks, so nothing is compared with it where callers share one."""
    return ratios(report, row, FLOOR)


def to_mortise(report, row):
    return ratios(report, row, MORTISE)
