"""Runs the tests against every planted fault of core/base/mutant.hpp, and prints what killed each.

    run.py BUILD [--only NAME ...] [--all] [--seeds N] [--first S] [--jobs N] [--table FILE]

BUILD is a build with MORTISE_MUTANTS. A fault is killed when some suite fails that passes without
it, or when the simulator finds a violation within N seeds from S on. The first that kills it is
enough, unless --all asks for the simulator as well. The exit code is 1 when a fault lives, or when
something fails without any.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUITE_PATIENCE = 300  # seconds; a suite that a fault makes hang has noticed it
SIM_PATIENCE = 900

# By the folder of the fault; then, from the fastest to the slowest, the others that need no other
# program.
SUITES_OF = {
    "storage": ["storage_unit", "storage_faults"],
    "transport": ["transport_unit"],
    "embed": ["embed_unit", "mutex_alone", "embed_fence_gate", "embed_locker",
              "embed_conversions", "embed_fork", "deadlock"],
}
SUITES = ["core_unit", "locks_unit", "transport_unit", "embed_unit", "storage_unit", "sim_unit"]

PAGE = """# Planted faults, and what kills them

Written by `./dev mutants --table docs/mutants.md`; not to be edited. Each line is one wrong but
plausible line of code (`core/base/mutant.hpp`). The tests must fail with each of them: first the
unit suites, then the simulator, of whose {seeds} seeds the last column tells how many it took.

"""


@dataclasses.dataclass
class Verdict:
    name: str
    what: str
    unit: str = ""  # the first test that failed
    seeds: int = 0  # how many the simulator needed; zero: it found nothing
    rule: str = ""  # what it found
    seconds: float = 0

    @property
    def killed(self):
        return bool(self.unit or self.seeds)


def planted_faults():
    text = (ROOT / "core/base/mutant.hpp").read_text(encoding="utf-8")
    # A description may be cut into several literals.
    found = re.findall(r'X\(\s*(\w+),\s*\\?\s*((?:"[^"]*"\s*\\?\s*)+)\)', text)
    return {name: "".join(re.findall(r'"([^"]*)"', what)) for name, what in found}


def folder_of(fault):
    """Where the fault is planted."""
    for folder in SUITES_OF:
        for source in (ROOT / folder).glob("**/*.cpp"):
            if f"Mutant::{fault})" in source.read_text(encoding="utf-8"):
                return folder
    return "core"


def suites_for(fault):
    near = SUITES_OF.get(folder_of(fault), []) if fault else sum(SUITES_OF.values(), [])
    return near + [suite for suite in SUITES if suite not in near]


def run(words, fault, patience):
    variables = {key: value for key, value in os.environ.items() if key != "MORTISE_MUTANT"}
    if fault:
        variables["MORTISE_MUTANT"] = fault
    try:
        done = subprocess.run(words, cwd=ROOT, env=variables, capture_output=True, text=True,
                              errors="replace", timeout=patience, check=False)
    except subprocess.TimeoutExpired:
        return None, "does not end"
    return done.returncode, done.stdout + done.stderr


def failing_suite(build, fault):
    for suite in suites_for(fault):
        program = build / "tests" / suite
        if not program.exists():
            raise SystemExit(f"{program} is not there: build it with the preset mutants")
        code, output = run([program, "--gtest_brief=1", "--gtest_fail_fast"], fault, SUITE_PATIENCE)
        if code == 0:
            continue
        failed = re.search(r"^\[  FAILED  \] ([\w./]+)", output, re.MULTILINE)
        if failed:
            return f"{suite}: {failed[1]}"
        return f"{suite}: {'does not end' if code is None else f'ends with {code}'}"
    return ""


def simulated(build, fault, first, seeds):
    program = build / "tests" / "mortise_sim"
    asked = ["--seeds", str(seeds), "--first", str(first), "--until-failure"]
    code, output = run([program, *asked], fault, SIM_PATIENCE)
    if code == 0:
        return 0, ""
    found = re.search(r"^VIOLATION in seed (\d+): (.*)$", output, re.MULTILINE)
    if not found:
        raise SystemExit(f"mortise_sim with {fault or 'no fault'}: {code}\n{output[-2000:]}")
    return int(found[1]) - first + 1, found[2]


def judge(build, name, what, asked):
    began = time.monotonic()
    verdict = Verdict(name, what)
    verdict.unit = failing_suite(build, name)
    if asked.all or not verdict.unit:
        verdict.seeds, verdict.rule = simulated(build, name, asked.first, asked.seeds)
    verdict.seconds = time.monotonic() - began
    return verdict


def row(verdict):
    by = " / ".join(filter(None, [verdict.unit, verdict.rule])) or "**nothing**"
    return f"| `{verdict.name}` | {verdict.what} | {by} | {verdict.seeds or '-'} |"


def table(verdicts):
    head = "| fault | what is wrong | killed by | seeds |"
    return "\n".join([head, "| --- | --- | --- | --- |", *map(row, verdicts)]) + "\n"


def main():
    parser = argparse.ArgumentParser(description="tests against planted faults")
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--all", action="store_true", help="the simulator, too, each time")
    parser.add_argument("--seeds", type=int, default=500)
    parser.add_argument("--first", type=int, default=1, help="the first of them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--table", type=Path, help="write the table there as well")
    asked = parser.parse_args()
    faults = planted_faults()
    unknown = set(asked.only or []) - set(faults)
    if unknown:
        parser.error(f"no planted fault is called {', '.join(sorted(unknown))}")
    faults = {name: faults[name] for name in asked.only or faults}
    build = asked.build.resolve()

    sound = failing_suite(build, None)
    if sound:
        print(f"without any fault {sound} fails: nothing is proven", file=sys.stderr)
        return 1
    verdicts = []
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        under_way = [pool.submit(judge, build, name, what, asked) for name, what in faults.items()]
        for each in concurrent.futures.as_completed(under_way):
            verdict = each.result()
            verdicts.append(verdict)
            end = "killed  " if verdict.killed else "SURVIVED"
            print(f"{end} {verdict.seconds:6.1f} s  {verdict.name}", file=sys.stderr, flush=True)
    verdicts.sort(key=lambda verdict: list(faults).index(verdict.name))
    text = table(verdicts)
    print(text, end="")
    if asked.table:
        asked.table.write_text(PAGE.format(seeds=asked.seeds) + text, encoding="utf-8")
    alive = [verdict.name for verdict in verdicts if not verdict.killed]
    print(f"mutants: {len(verdicts) - len(alive)} of {len(verdicts)} killed"
          + (f"; alive: {', '.join(alive)}" if alive else ""))
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
