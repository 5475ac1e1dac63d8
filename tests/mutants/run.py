"""Runs the tests against every mutant of tests/mutants/table, and prints what killed each.

    run.py BUILD [--only NAME ...] [--quick] [--all] [--seeds N] [--first S] [--jobs N]
           [--results FILE]

BUILD is a build with MORTISE_MUTANTS. A mutant is killed when some suite fails that passes without
it, or when the simulator finds a violation within N seeds from S on. The test that the table names
(killed_by) is asked first; if it does not notice the mutant, the suites are, the mutant's own
first, and then the simulator. --all asks for the simulator as well, each time; --quick for nothing
but the named tests. The exit code is 1 when a mutant survives, when another test than the named
one kills it, or when something fails without any mutant.
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

sys.path.insert(0, str(Path(__file__).resolve().parent))
from mutant_table import TableError, read_table

ROOT = Path(__file__).resolve().parents[2]
SUITE_PATIENCE = 300  # seconds; a suite that hangs has detected the mutant
TEST_PATIENCE = 60
SIM_PATIENCE = 900
# Of GTest, and of unittest.
FAILED = re.compile(r"^(?:\[  FAILED  \] |(?:FAIL|ERROR): \w+ \(__main__\.)([\w./]+)", re.MULTILINE)

# By the folder of the mutant; then the others that need no other program, from the fastest to the
# slowest. A program that several tests share runs the cases of one source file.
SUITES_OF = {
    "embed/door": ["http_host", "http_api", "http_security", "http_clients"],
    "storage": ["storage_unit", "storage_faults"],
    "transport": ["transport_unit", "transport_network"],
    "embed": ["embed_unit", "mutex_alone"] + [
        f"embed_tests --of={name}_test.cpp"
        for name in ("fence_gate", "locker", "conversions", "fork", "deadlock", "cached")],
}
# Suites in Python, which test the program.
SCRIPTS = {f"http_{name}": f"tests/http/{name}_test.py" for name in ("api", "security", "clients")}
SUITES = ["core_unit", "locks_unit", "observe_unit", "transport_unit", "embed_unit",
          "storage_unit", "sim_unit"]

@dataclasses.dataclass
class Verdict:
    name: str
    what: str
    killed_by: str = ""  # according to the table
    unit: str = ""  # the first test that failed
    seeds: int = 0  # how many the simulator needed; zero: it detected nothing
    rule: str = ""  # the rule that it violated
    seconds: float = 0

    @property
    def killed(self):
        return bool(self.unit or self.seeds)

    @property
    def as_named(self):
        return self.unit == self.killed_by or self.unit.startswith(self.killed_by + ": ")


def suites_for(mutant):
    """Suites near the mutant first; without a mutant, all."""
    if mutant is None:
        near = sum(SUITES_OF.values(), [])
    else:
        near = next((suites for folder, suites in SUITES_OF.items()
                     if mutant.file.startswith(folder + "/")), [])
    return near + [suite for suite in SUITES if suite not in near]


def run(words, mutant, patience):
    variables = {key: value for key, value in os.environ.items() if key != "MORTISE_MUTANT"}
    if mutant:
        variables["MORTISE_MUTANT"] = mutant.name
    try:
        done = subprocess.run(words, cwd=ROOT, env=variables, capture_output=True, text=True,
                              errors="replace", timeout=patience, check=False)
    except subprocess.TimeoutExpired:
        return None, "does not end"
    return done.returncode, done.stdout + done.stderr


def command(build, suite, test):
    """What runs a suite, or one test of it."""
    suite, *files = suite.split()
    program = build / ("bin/mortise" if suite in SCRIPTS else f"tests/{suite}")
    if not program.exists():
        raise SystemExit(f"{program} is not there: build it with the preset mutants")
    if suite in SCRIPTS:
        return [sys.executable, "-B", SCRIPTS[suite], program, "none", "--failfast", *test.split()]
    chosen = [f"--gtest_filter={test}"] if test else []
    return [program, "--gtest_brief=1", "--gtest_fail_fast", *files, *chosen]


def failing_test(build, suite, mutant, test="", patience=SUITE_PATIENCE):
    """The first test of a suite that fails, as `suite: test`."""
    code, output = run(command(build, suite, test), mutant, patience)
    suite = suite.split()[0]
    if " 0 tests from 0 test suites ran" in output:
        raise SystemExit(f"{suite} has no test {test}")
    if code == 0:
        return ""
    failed = FAILED.search(output)
    if failed:
        return f"{suite}: {failed[1]}"
    return f"{suite}: {'does not end' if code is None else f'ends with {code}'}"


def failing_named(build, killed_by, mutant):
    """The test that the table names, if it fails."""
    suite, _, test = killed_by.partition(": ")
    if not suite:
        return ""
    if test:
        failed = failing_test(build, suite, mutant, test, TEST_PATIENCE)
    else:
        failed = failing_test(build, suite, mutant)
    # If the named test is the only one that failed, the result is its name.
    return killed_by if failed and test else failed


def failing_suite(build, mutant):
    found = (failing_test(build, suite, mutant) for suite in suites_for(mutant))
    return next(filter(None, found), "")


def simulated(build, mutant, first, seeds):
    program = build / "tests" / "mortise_sim"
    asked = ["--seeds", str(seeds), "--first", str(first), "--until-failure"]
    code, output = run([program, *asked], mutant, SIM_PATIENCE)
    if code == 0:
        return 0, ""
    found = re.search(r"^VIOLATION in seed (\d+): (.*)$", output, re.MULTILINE)
    if not found:
        raise SystemExit(f"mortise_sim with {mutant.name}: {code}\n{output[-2000:]}")
    return int(found[1]) - first + 1, found[2]


def failing_without(build, mutants, asked):
    """The suites that fail without an active mutant."""
    if not asked.quick:
        return failing_suite(build, None)
    named = sorted({mutant.killed_by for mutant in mutants.values()})
    found = (failing_named(build, killed_by, None) for killed_by in named)
    return next(filter(None, found), "")


def judge(build, mutant, asked):
    began = time.monotonic()
    verdict = Verdict(mutant.name, mutant.what, mutant.killed_by)
    verdict.unit = failing_named(build, mutant.killed_by, mutant)
    if not asked.quick:
        verdict.unit = verdict.unit or failing_suite(build, mutant)
    if asked.all or not (verdict.unit or asked.quick):
        verdict.seeds, verdict.rule = simulated(build, mutant, asked.first, asked.seeds)
    verdict.seconds = time.monotonic() - began
    return verdict


def row(verdict):
    by = " / ".join(filter(None, [verdict.unit, verdict.rule])) or "**nothing**"
    return f"| `{verdict.name}` | {verdict.what} | {by} | {verdict.seeds or '-'} |"


def table(verdicts):
    head = "| mutant | what is wrong | killed by | seeds |"
    return "\n".join([head, "| --- | --- | --- | --- |", *map(row, verdicts)]) + "\n"


def results(verdicts, when):
    """A line for each suite that the table names: how many of its mutants the named test killed."""
    suites = {}
    for verdict in verdicts:
        suite = verdict.killed_by.partition(":")[0] or "none named"
        suites.setdefault(suite, []).append(verdict.killed and verdict.as_named)
    suites = dict(sorted(suites.items())) | {"all": sum(suites.values(), [])}
    lines = [f"{suite:20}{sum(killed)} of {len(killed)}" for suite, killed in suites.items()]
    return "\n".join([f"# Mutants that the named test killed, {when}.", *lines, ""])


def commit():
    """The commit of the tree, and its date."""
    words = ["git", "-C", str(ROOT), "log", "-1", "--format=%h of %as"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "outside of version control"


def judge_all(build, mutants, asked):
    """A verdict for each mutant, in the order of the table."""
    verdicts = {}
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        under_way = [pool.submit(judge, build, mutant, asked) for mutant in mutants.values()]
        for each in concurrent.futures.as_completed(under_way):
            verdict = each.result()
            verdicts[verdict.name] = verdict
            end = "killed  " if verdict.killed else "SURVIVED"
            print(f"{end} {verdict.seconds:6.1f} s  {verdict.name}", file=sys.stderr, flush=True)
    return [verdicts[name] for name in mutants]


def report(verdicts):
    """Prints the result for the table; returns whether it is as it should be."""
    alive = [verdict.name for verdict in verdicts if not verdict.killed]
    others = [verdict for verdict in verdicts if verdict.killed and not verdict.as_named]
    for verdict in others:
        print(f"{verdict.name}: the table names {verdict.killed_by or 'no test'}, "
              f"but it is killed by {verdict.unit or 'the simulator'}")
    print(f"mutants: {len(verdicts) - len(alive)} of {len(verdicts)} killed"
          + (f"; alive: {', '.join(alive)}" if alive else ""))
    return not alive and not others


def arguments():
    parser = argparse.ArgumentParser(description="tests against mutants")
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="the named tests, nothing else")
    extent.add_argument("--all", action="store_true", help="the simulator, too, each time")
    parser.add_argument("--seeds", type=int, default=500)
    parser.add_argument("--first", type=int, default=1, help="the first of them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--results", type=Path, help="write a line for each suite there")
    return parser, parser.parse_args()


def main():
    parser, asked = arguments()
    try:
        mutants = read_table(ROOT / "tests/mutants/table")
    except TableError as error:
        raise SystemExit(str(error)) from None
    unknown = set(asked.only or []) - set(mutants)
    if unknown:
        parser.error(f"no mutant is called {', '.join(sorted(unknown))}")
    mutants = {name: mutants[name] for name in asked.only or mutants}
    build = asked.build.resolve()

    fails = failing_without(build, mutants, asked)
    if fails:
        print(f"without any mutant {fails} fails: nothing is proven", file=sys.stderr)
        return 1
    verdicts = judge_all(build, mutants, asked)
    print(table(verdicts), end="")
    if asked.results:
        asked.results.write_text(results(verdicts, f"at commit {commit()}"), encoding="utf-8")
    return 0 if report(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
