#!/usr/bin/env python3
"""Measures every target of docs/performance.md beside the floor: ./dev bench.

One line for each target: its name, the figure, the ratio to the floor, met or missed, the target.
Figures are medians of all rounds, with the range in brackets. The exit code is 1 when something
could not be measured, or when the floor itself was too slow to compare with.
"""

import argparse
import json
import sys
from pathlib import Path

import loads
import report
from catalogue import ALL_NAMES, EVENTS, LOADS, is_chosen, number_of
from figures import Range
from processes import Cluster, Failed, Programs
from report import progress
from targets import Line, Rounds

ROOT = Path(__file__).resolve().parent.parent


def understood():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help="targets, for example T3a,T5")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5, help="of each load")
    parser.add_argument("--warm-up", type=float, default=1, help="seconds before each load")
    parser.add_argument("--failovers", type=int, default=20, help="of each kind")
    parser.add_argument("--durability", choices=("synced", "replicated"), default="synced",
                        help="of the cluster; the floor writes without syncs if it is replicated")
    parser.add_argument("--locks", type=int, default=100_000, help="that are held for T7 and T9")
    parser.add_argument("--waiters", type=int, default=10_000, help="for one lock, for T8")
    parser.add_argument("--settle", type=float, default=12,
                        help="seconds in which the state gets to disk, for T7 and T10")
    parser.add_argument("--directory", type=Path, help="on the disk to be measured")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything there")
    options = parser.parse_args()
    options.only = [word.lower() for word in options.only.split(",") if word]
    known = {word for name in ALL_NAMES for word in (number_of(name).lower(),
                                                     number_of(name).lower().rstrip("ab"))}
    if unknown := set(options.only) - known:
        parser.error(f"no target {', '.join(sorted(unknown))}")
    if options.rounds < 1 or options.failovers < 1 or options.seconds <= 0:
        parser.error("--rounds, --failovers and --seconds are greater than 0")
    if options.locks <= 1000:
        parser.error("--locks is greater than 1000")
    options.directory = options.directory or options.programs.parent
    return options


def chosen(targets, options):
    return [target for target in targets if is_chosen(target.name, options.only)]


class Bench:
    def __init__(self, options):
        self.options = options
        self.programs = Programs(options.programs, options.directory, options.durability)
        self.rounds = Rounds()
        self.targets = chosen(LOADS, options)
        self.sync, self.trip = [], []

    def probe(self):
        """The disk and the loopback, which the floor is judged by."""
        for values, found in zip((self.sync, self.trip), loads.probe(self.programs, self.options)):
            values.append(found)

    def floors(self):
        """Each load of the floor that some target needs; the others are for comparison."""
        needed = {key for target in self.targets for key in target.floors}
        if needed:  # the floor is judged by both
            needed |= {loads.FLOOR_ONE, loads.FLOOR_MANY}
        for name, one in (("T2 unawaited", loads.Floor(1, awaited=False)),
                          ("T3b", loads.Floor(64, awaited=False, spread=True))):
            needed |= {one} if any(target.name == name for target in self.targets) else set()
        return sorted(needed, key=lambda one: (one.callers, one.spread, not one.awaited))

    def run_round(self, number):
        self.probe()
        for load in self.floors():
            progress(f"round {number}: {load.name()}")
            outcome = load.run(self.programs, self.options)
            self.rounds.floor.setdefault(load, []).append(outcome)
        wanted = list(dict.fromkeys(load for target in self.targets for load in target.loads))
        if loads.MANY in wanted:
            wanted.append(loads.OPEN)
        while wanted:
            with Cluster(self.programs) as cluster:
                # After a failure its nodes may be busy with anything.
                while wanted and self.run_load(cluster, wanted.pop(0), number):
                    pass

    def run_load(self, cluster, load, number):
        progress(f"round {number}: {load.name}")
        more = {}
        if load is loads.OPEN:
            if loads.MANY not in self.rounds.cluster:
                return True  # nothing to take the half of
            more["rate"] = self.rounds.cluster[loads.MANY][-1].rate / 2 / len(cluster.nodes)
        try:
            outcome = load.run(cluster, self.options, **more)
            self.rounds.cluster.setdefault(load, []).append(outcome)
        except Failed as failed:
            self.rounds.failures[load] = str(failed)
            return False
        return True

    def run_events(self):
        for event in EVENTS:
            names = [name for name in event.names if is_chosen(name, self.options.only)]
            if not names:
                continue
            progress(event.what)
            try:
                with Cluster(self.programs) as cluster:
                    yield from event.measure(cluster, self.options)
            except Failed as failed:
                for name in names:
                    yield Line(name, event.names[name], str(failed), "", "failed")

    def lines(self, void):
        lines = [target.line(self.rounds, void) for target in self.targets]
        lines += self.run_events()
        return sorted(lines, key=lambda line: int("".join(
            c for c in number_of(line.name) if c.isdigit())))

    def run(self):
        if self.targets:
            for number in range(1, self.options.rounds + 1):
                self.run_round(number)
        else:
            self.probe()
        wrong, floor = report.judge_floor(Range(self.sync), Range(self.trip), self.rounds)
        lines = self.lines(bool(wrong))
        progress("")
        return lines, wrong, floor

    def false_elections(self):
        """The leaders that changed although nothing was done to them."""
        return sum(outcome.counters["leader_changes"] for outcomes in self.rounds.cluster.values()
                   for outcome in outcomes)


def show(context, bench, lines, wrong, floor):
    for line in lines:
        print(line.text().rstrip())
    print()
    for key, value in context.items():
        print(f"{key.replace('_', ' ')}: {value}")
    print(f"floor: {floor}" + (f"; VOID: {', '.join(wrong)}" if wrong else ""))
    if rows := report.load_rows(bench.rounds):
        print(f"changes of leader seen by nodes under load: {bench.false_elections()}\n")
        print("\n".join(report.table([report.LOADS_HEAD, *rows])))


def written(context, bench, lines, wrong, floor):
    of_floor = {load.name(): [it.as_json() for it in outcomes]
                for load, outcomes in bench.rounds.floor.items()}
    of_cluster = {load.name: [it.as_json() for it in outcomes]
                  for load, outcomes in bench.rounds.cluster.items()}
    return json.dumps({"context": context, "floor": floor, "void": wrong,
                       "targets": [line.as_json() for line in lines],
                       "sync_p50_us": bench.sync, "round_trip_p50_us": bench.trip,
                       "loads": of_floor | of_cluster}, indent=1)


def main():
    options = understood()
    context = report.context(ROOT, options)
    bench = Bench(options)
    try:
        lines, wrong, floor = bench.run()
    except Failed as failed:
        sys.exit(f"./dev bench: {failed}")
    show(context, bench, lines, wrong, floor)
    if options.json:
        options.json.write_text(written(context, bench, lines, wrong, floor) + "\n")
    return int(bool(wrong) or any(line.verdict == "failed" for line in lines))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
