"""The results as lines for a terminal and as a page of Markdown."""

from statistics import median

from figures import Range
from report import table
from results import measured, to_floor, to_mortise, to_redis
from systems import REPLICATED, REPLICATED_FOLLOWER, SCENARIOS

PROVISIONAL = "provisional: the machine was not quiet"


def is_quiet(report):
    return report["context"]["load_before"] <= 0.5


def figure(values, form="{:,.0f}"):
    values = measured(values)
    return Range(values).text(form) if values else "-"


def rates(row):
    """If some rounds failed, the others count."""
    return figure(row["rates"]) if measured(row["rates"]) else "failed"


def failures(report):
    for row in report["rows"]:
        if row["failure"]:
            yield f"failed: {row['system']}, {row['scenario']}: {row['failure']}"


# Of docs/performance.md: the system, the scenario, the figure, the ratio that is demanded.
BESIDE_REDIS = [
    (REPLICATED, "1 caller", "p50_us", "p50", "at most", 1.5),
    (REPLICATED_FOLLOWER, "1 caller", "p50_us", "p50", "at most", 2.2),
    (REPLICATED, "64 callers", "rates", "cycles/s", "at least", 0.7),
]


def beside_redis(report):
    """The targets of what acknowledges from memory."""
    for system, scenario, key, what, bound, demanded in BESIDE_REDIS:
        for row in report["rows"]:
            if (row["system"], row["scenario"]) != (system.name, scenario):
                continue
            if found := to_redis(report, row, key):
                ratio = median(found)
                met = ratio <= demanded if bound == "at most" else ratio >= demanded
                yield (f"{system.name}, {scenario}: {what} {figure(found, '{:.2f}')} x Redis with "
                       f"its defaults, {bound} {demanded}: {'met' if met else 'missed'}")


def lines(report):
    head = ("SYSTEM", "SCENARIO", "CYCLES/S", "P50 US", "P99 US", "X MORTISE", "X FLOOR", "CPU US",
            "MAX/MIN")
    cells = [(row["system"], row["scenario"], rates(row), figure(row["p50_us"]),
              figure(row["p99_us"]), figure(to_mortise(report, row), "{:.2f}"),
              figure(to_floor(report, row), "{:.2f}"),
              figure(row["cpu_us"], "{:,.1f}"), figure(row["fairness"], "{:.2f}"))
             for row in report["rows"]]
    yield from table([head, *cells])
    yield from failures(report)
    yield from beside_redis(report)
    for found in report["failovers"]:
        yield f"{found['system']}, failover, runs {len(found['ms'])}: {figure(found['ms'])} ms"


def cells_of(report, row, is_hot):
    fenced = "yes" if row["fenced"] else "no"
    yield from (row["system"], row["keeps"], fenced)
    yield rates(row)
    yield from (figure(row["p50_us"]), figure(row["p99_us"]),
                figure(to_mortise(report, row), "{:.2f}"))
    if is_hot:
        yield from (figure(row["fairness"], "{:.2f}"), figure(row["retries"], "{:.1f}"))
    else:
        yield figure(to_floor(report, row), "{:.2f}")
    yield figure(row["cpu_us"], "{:,.1f}")


def rows_of_table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def scenario_table(report, scenario):
    rows = [row for row in report["rows"] if row["scenario"] == scenario.name]
    if not rows:
        return
    yield from (f"## {scenario.name}", "")
    own = ["luckiest / unluckiest", "vain attempts"] if scenario.one_name else ["x floor"]
    head = ["system", "survives on", "fenced", "cycles/s", "p50, us", "p99, us", "x Mortise", *own,
            "CPU, us"]
    yield from rows_of_table(head, [cells_of(report, row, scenario.one_name) for row in rows])


def failover_table(report):
    if not report["failovers"]:
        return
    yield from ("## Failover", "", "The leader is killed (SIGKILL); milliseconds to the end of an "
                "acquire that begins at that moment elsewhere.", "")
    yield from rows_of_table(["system", "median [lowest-highest], ms", "runs"],
                             [(found["system"], figure(found["ms"]), str(len(found["ms"])))
                              for found in report["failovers"]])


EXPLAINED = """A cycle is an acquire and its release, both answered unless the name of the system
says otherwise; p50 and p99 are those of the acquire. Figures are medians of all rounds, with the
range in brackets; a ratio is that of cycles/s in the same round. *Survives on* says what has a
granted lock when it is answered: three disks (a majority of them, synced), three memories (page
caches of a majority), one synced disk, or memory alone. *Fenced* says whether a grant has a number
that a resource can compare. CPU is that of all processes for one cycle. How each service is run is
in [performance](../../docs/performance.md#other-lock-services)."""


def markdown(report, plot):
    context = report["context"]
    yield from (f"# Mortise beside other lock services, {context['date'][:10]}", "")
    if not is_quiet(report):
        yield from (f"**{PROVISIONAL}** (load {context['load_before']} before the run).", "")
    if report["void"]:
        yield from (f"**The floor is void**: {', '.join(report['void'])}.", "")
    yield from (" ".join(EXPLAINED.split("\n")), "", f"![cycles a second]({plot})", "")
    where = context["disk"].rpartition(", ")[2]  # the path says nothing to others
    yield from (f"- {key.replace('_', ' ')}: {value}"
                for key, value in (context | {"disk": where}).items())
    yield from (f"- {key}: {value}" for key, value in report["versions"].items())
    yield from (f"- floor: {report['floor']}", "")
    for scenario in SCENARIOS:
        yield from scenario_table(report, scenario)
    yield from failover_table(report)
    yield from (f"- {line}" for line in beside_redis(report))
    yield from (f"- {failure}" for failure in failures(report))
