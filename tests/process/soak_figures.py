"""The samples of a soak: what they say of each quarter, and whether something grew.

A sample is of one process: {"at": seconds since the start, "who": RESTARTED, LASTING or CLIENT,
"age": seconds since the process started, and figures}. What a sample does not have is not counted.
"""

from statistics import mean, median
from typing import NamedTuple

RESTARTED, LASTING, CLIENT = "restarted member", "lasting member", "client"
MINUTE = 60
SHORTEST = 10 * MINUTE  # a shorter run says nothing about growth
# A memtable and its file of the log become 64 MiB long, which takes 20 minutes at the load of a
# soak, and then begin anew. Each quarter has to see their least.
SAWTOOTH = 180 * MINUTE


class Figure(NamedTuple):
    """A row of the table. It grew if its last quarter is more than `factor` times its second one
    and `more`: the first is that of caches which fill up. Without a factor it is not judged."""

    who: str
    key: str
    words: str
    of: object = median  # of the samples of a quarter
    factor: float = 0
    more: float = 0
    old_only: bool = False  # of processes of at least half the age that they reach
    shortest: float = SHORTEST  # it is not judged in a shorter run

    def allowed(self, before):
        return before * self.factor + self.more


def resources(who, of, old_only=False, shortest=SHORTEST):
    name = "least own memory, MiB" if of is min else "own memory, MiB"
    return (Figure(who, "memory", name, of, 1.1, 4, old_only, shortest),
            Figure(who, "descriptors", "descriptors", median, 1, 4, old_only),
            Figure(who, "threads", "threads", median, 1, 2, old_only),
            Figure(who, "cpu", "CPU, %", mean))


def service(who):
    return (Figure(who, "rate", "acquires a second", mean),
            Figure(who, "p50", "p50 of an acquire, ms", median, 1.5, 2),
            Figure(who, "p99", "p99 of an acquire, ms", median, 2, 20),
            Figure(who, "gap", "longest time without a grant, ms", max, 2, 3000))


FIGURES = (
    *resources(RESTARTED, median, old_only=True),
    Figure(RESTARTED, "disk", "data directory, MiB", median, 1.25, 16),
    *service(RESTARTED),
    *resources(LASTING, min, shortest=SAWTOOTH),
    Figure(LASTING, "disk", "least data directory, MiB", min, 1.25, 16, shortest=SAWTOOTH),
    *service(LASTING),
    Figure(LASTING, "names", "names that the cluster knows", median, 1, 20),
    Figure(LASTING, "sessions", "sessions that the cluster knows", median, 1, 4),
    *resources(CLIENT, median), *service(CLIENT))


def is_short(length, life):
    """The second quarter needs members that have reached their age."""
    return length < max(SHORTEST, 2 * life)


def quarters(figure, samples, length, life):
    """Four values; None where there is no sample. `life`: the age that restarted members reach."""
    found = [[], [], [], []]
    for sample in samples:
        if sample["who"] != figure.who or sample.get(figure.key) is None:
            continue
        if figure.old_only and sample["age"] < life / 2:
            continue
        found[min(int(4 * sample["at"] / length), 3)].append(sample[figure.key])
    return [figure.of(values) if values else None for values in found]


def judged(samples, length, life):
    """The rows of the table, and what grew, in words."""
    rows, complaints = [], []
    for figure in FIGURES:
        name = f"{figure.who}: {figure.words}"
        values = quarters(figure, samples, length, life)
        allowed, words = None, ""
        if figure.factor and length >= figure.shortest and not is_short(length, life):
            words = "no samples"
            if None not in (values[1], values[3]):
                allowed = figure.allowed(values[1])
                words = "grew" if values[3] > allowed else "did not grow"
            if words != "did not grow":
                complaints.append(f"{name}: {words}")
        rows.append((name, *map(shown, values), shown(allowed), words))
    return rows, complaints


def shown(value):
    return "" if value is None else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def verdict(complaints, is_over, was_short):
    if complaints:
        return "**It failed.**"
    return (("**It passed.**" if is_over else "**It still runs.**")
            + " No two holders met, tokens rose, no acquire failed and no hold was lost. "
            + ("" if not is_over else "It was too short to say whether something grows."
               if was_short else "Nothing that was judged grew.")).rstrip()


def page(words, complaints, settings, rows):
    """Markdown. `words`: the verdict."""
    heads = ("", "first quarter", "second", "third", "last", "allowed in the last", "verdict")
    lines = ["# Soak", "", words, ""]
    if complaints:
        lines += [*(f"- {complaint}" for complaint in complaints), ""]
    lines += ["| setting | value |", "| --- | --- |"]
    lines += [f"| {name} | {value} |" for name, value in settings.items()]
    lines += ["", "| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    lines += ["", "Memory, descriptors and threads of restarted members are those of processes in "
              "the second half of their life: all of them become equally old. What is allowed in "
              "the last quarter is computed from the second one."]
    return "\n".join(lines) + "\n"
