#!/usr/bin/env python3
"""Measures parts of the core and the driver alone: ./dev bench --micro.

A line for each part: time, allocations and instructions for one acquire and its release. Time and
allocations are those of Google Benchmark; callgrind counts instructions, which hardly depend on
what else the machine does.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

from figures import Range
from processes import Failed
from report import commit, output, processor, progress, table

ROOT = Path(__file__).resolve().parent.parent
HEAD = ("PART", "TIME US", "ALLOCATIONS", "BYTES", "INSTRUCTIONS")
RUNS = 500  # under callgrind, which makes a program fifty times slower


def understood():
    parser = argparse.ArgumentParser(prog="./dev bench --micro",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--micro", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help="parts whose name has this in it")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each part and round")
    parser.add_argument("--no-instructions", action="store_true", help="callgrind takes a minute")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything there")
    return parser.parse_args()


def run(words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(done.stderr.strip() or f"{words[0]} failed")
    return done


def measured(printed):
    """Of each round, for one acquire and its release; from the JSON of Google Benchmark."""
    rounds = [one for one in json.loads(printed)["benchmarks"] if one["run_type"] == "iteration"]
    return {"time_us": [one["cpu_time"] / one["cycles"] / 1000 for one in rounds],
            "allocations": [one["allocations"] / one["cycles"] for one in rounds],
            "bytes": [one["bytes"] / one["cycles"] for one in rounds],
            "cycles": round(rounds[0]["cycles"])}


def collected(said):
    """What callgrind says at its end."""
    found = re.search(r"Collected : (\d+)", said)
    if not found:
        raise Failed("callgrind counted nothing")
    return int(found[1])


def instructions(program, name, cycles):
    """Of one acquire and its release. What the start and the end of the program take is in both
    counts."""
    few, many = (collected(run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                                program, "run", name, runs]).stderr) for runs in (RUNS, 2 * RUNS))
    return (many - few) / RUNS / cycles


def measure(options, name):
    progress(name)
    # No name has a character that an expression takes for something else.
    part = measured(run([options.program, f"--benchmark_filter=^{name}$",
                         f"--benchmark_repetitions={options.rounds}",
                         f"--benchmark_min_time={options.seconds}",
                         "--benchmark_format=json"]).stdout)
    if not options.no_instructions:
        part["instructions"] = instructions(options.program, name, part["cycles"])
    return part


def row(name, part):
    found = part.get("instructions")
    return (name, Range(part["time_us"]).text("{:.2f}"), Range(part["allocations"]).text("{:.1f}"),
            Range(part["bytes"]).text(), "-" if found is None else f"{found:,.0f}")


def main():
    options = understood()
    names = [name for name in run([options.program, "list"]).stdout.splitlines()
             if options.only in name]
    if not names:
        sys.exit(f"./dev bench: no part has '{options.only}' in its name")
    parts = {name: measure(options, name) for name in names}
    progress("")
    print("\n".join(table([HEAD, *(row(name, part) for name, part in parts.items())])))
    context = {"commit": commit(ROOT), "processor": processor(),
               "compiler": "".join(output("c++", "--version")[:1])}
    print("\n" + "\n".join(f"{key}: {value}" for key, value in context.items()))
    if options.json:
        options.json.write_text(json.dumps({"context": context, "parts": parts}, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        sys.exit(f"./dev bench: {failed}")
    except KeyboardInterrupt:
        sys.exit(130)
