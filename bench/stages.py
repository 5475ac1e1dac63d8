#!/usr/bin/env python3
"""Where the time of one acquire goes: ./dev bench --trace.

One caller acquires and releases a lock in a cluster of three, once on the leader and once on a
follower. Every node records when something passes a stage of its way. The table has the stages of
the acquires in the order in which they are usually passed: the median of the time since the call
was submitted, and how much later that is than the stage before.
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

import loads
import report
from processes import Cluster, Failed, Programs

ROOT = Path(__file__).resolve().parent.parent
STAGES = ("submitted", "taken", "sent", "received", "writing", "synced", "written", "answered",
          "woken")
WORDS = {
    "submitted": "the caller submits the acquire",
    "taken": "the core thread takes it",
    "sent": "messages have left for other nodes",
    "received": "a message has arrived",
    "writing": "the log thread begins to write",
    "synced": "the log is synced",
    "written": "the core thread knows that",
    "answered": "the acquire is granted",
    "woken": "the caller continues",
}


def understood():
    parser = argparse.ArgumentParser(prog="./dev bench --trace", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--trace", action="store_true", help=argparse.SUPPRESS)  # ./dev's own
    parser.add_argument("--seconds", type=float, default=5, help="of each load")
    parser.add_argument("--warm-up", type=float, default=1, help="seconds before each load")
    parser.add_argument("--directory", type=Path, help="on the disk to be measured")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything there")
    options = parser.parse_args()
    options.directory = options.directory or options.programs.parent
    return options


def traced(cluster, load, options):
    """The stages of all nodes while the load ran: {node: [(stage, ns)]}."""
    cluster.do_all("stages")  # forgets what was before
    load.run(cluster, options)
    return {number: [(STAGES[stage], at) for stage, at in answer["stages"]]
            for number, answer in cluster.do_all("stages").items()}


def acquires(times):
    """The acquires of the one caller: (begin, end). Every second call is a release."""
    begun = [at for stage, at in times if stage == "submitted"][::2]
    ended = [at for stage, at in times if stage == "woken"][::2]
    return list(zip(begun, ended))


def firsts(times, windows):
    """For each stage, the times after the begin of a window when it was first passed in it."""
    found = defaultdict(list)
    at = 0
    for begin, end in windows:
        while at < len(times) and times[at][1] < begin:
            at += 1
        seen = {}
        next_at = at
        while next_at < len(times) and times[next_at][1] <= end:
            stage, when = times[next_at]
            seen.setdefault(stage, when - begin)
            next_at += 1
        for stage, later in seen.items():
            found[stage].append(later / 1000)
    return found


def rows(nodes, caller, leader):
    """(time, node, stage) in the order of the times. A stage that is passed in less than half of
    the acquires belongs to something else."""
    windows = acquires(nodes[caller])
    if not windows:
        raise Failed("nothing was traced: the program was built without MORTISE_TRACE")
    names = {caller: "caller's node"}
    names.setdefault(leader, "leader")
    others = [number for number in nodes if number not in names]
    found = []
    for number in [*names, *others]:
        for stage, values in firsts(nodes[number], windows).items():
            if 2 * len(values) >= len(windows):
                found.append((median(values), names.get(number, f"node {number}"), stage))
    return len(windows), sorted(found)


def show(title, count, found):
    print(f"{title}: {count:,} acquires, medians in microseconds\n")
    before = 0.0
    print(f"{'SINCE':>6} {'LATER':>6}  {'WHERE':<14} WHAT")
    for since, where, stage in found:
        print(f"{since:>6,.0f} {since - before:>+6,.0f}  {where:<14} {WORDS[stage]}")
        before = since
    print()


def main():
    options = understood()
    outcome = {"commit": report.commit(ROOT)}
    with Cluster(Programs(options.programs, options.directory)) as cluster:
        for load in (loads.ON_LEADER, loads.ON_FOLLOWER):
            leader = cluster.leader()
            caller = leader if load is loads.ON_LEADER else cluster.follower()
            count, found = rows(traced(cluster, load, options), caller, leader)
            show(load.name, count, found)
            outcome[load.name] = {"acquires": count, "stages": found}
    if options.json:
        options.json.write_text(json.dumps(outcome, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        sys.exit(f"./dev bench --trace: {failed}")
    except KeyboardInterrupt:
        sys.exit(130)
