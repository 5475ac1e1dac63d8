"""What the report says around the targets: the machine, the commit, the floor, the loads."""

import os
import platform
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from statistics import median

from figures import Range
from loads import FLOOR_MANY, FLOOR_ONE


def progress(what):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{what}", end="", file=sys.stderr, flush=True)


def output(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return done.stdout.splitlines()


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def file_system(directory):
    """The line after the heading."""
    lines = output("df", "--output=fstype", str(directory))
    return lines[1] if len(lines) > 1 else "unknown"


def commit(root):
    git = ["git", "-c", "safe.directory=*", "-C", str(root)]
    name = output(*git, "rev-parse", "--short=12", "HEAD") or ["unknown"]
    changed = output(*git, "status", "--porcelain", "--untracked-files=no")
    return name[0] + (" with changes" if changed else "")


def context(root, options):
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(root),
        "machine": f"{os.cpu_count()} x {processor()}, Linux {platform.release()}",
        "disk": f"{options.directory.resolve()}, {file_system(options.directory)}",
        "load_before": round(os.getloadavg()[0], 1),
        "rounds": options.rounds, "seconds": options.seconds, "warm_up": options.warm_up,
    }


def judge_floor(sync, trip, rounds):
    """The floor must be one: what is wrong with it, if anything is, and its figures in words."""
    one, many = rounds.floor.get(FLOOR_ONE), rounds.floor.get(FLOOR_MANY)
    wrong, words = [], [f"sync p50 {sync.text()} us, round trip p50 {trip.text()} us"]
    if one:
        p50 = Range(it.quantile(0.5) for it in one)
        limit = 2.2 * sync.median + trip.median
        words.append(f"1 caller p50 {p50.text()} us, at most {limit:,.0f}")
        if p50.median > limit:
            wrong.append("one caller takes too long")
    if many:
        rate = Range(it.rate for it in many)
        words.append(f"64 callers {rate.text()} cycles/s")
    if one and many:
        factor = median(theirs.rate / single.rate for theirs, single in zip(many, one))
        words.append(f"{factor:.1f} x one caller, at least 15")
        if factor < 15:
            wrong.append("64 callers are too slow")
    return wrong, "; ".join(words)


LOADS_HEAD = ("LOAD", "CYCLES/S", "P50 US", "P99 US", "CPU US", "COMMANDS/ENTRY", "ENTRIES",
              "MESSAGES", "SYNCS", "WAKEUPS")


def load_row(name, outcomes):
    """The medians of one load over all rounds; the last four are for each cycle."""
    def middle(value, form):
        return form.format(median(value(it) for it in outcomes))

    def per_entry(outcome):
        return outcome.counters["commands"] / max(outcome.counters["entries"], 1)

    return (name, middle(lambda it: it.rate, "{:,.0f}"),
            middle(lambda it: it.quantile(0.5), "{:,.0f}"),
            middle(lambda it: it.quantile(0.99), "{:,.0f}"),
            middle(lambda it: it.cpu(), "{:,.1f}"), middle(per_entry, "{:.1f}"),
            *(middle(lambda it, key=key: it.per_cycle(key), "{:.2f}")
              for key in ("entries", "messages", "syncs", "wakeups")))


def load_rows(rounds):
    rows = [load_row(load.name(), outcomes) for load, outcomes in rounds.floor.items()]
    rows += [load_row(load.name, outcomes) for load, outcomes in rounds.cluster.items()]
    return rows


def table(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    for first, *rest in rows:
        yield "  ".join([first.ljust(widths[0])]
                        + [cell.rjust(width) for cell, width in zip(rest, widths[1:])])
