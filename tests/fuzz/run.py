"""Runs the fuzz targets, each from its committed corpus, and prints what came of it.

    run.py BUILD [--seconds N] [--target NAME ...] [--jobs N] [--seeds FOLDER] [--keep]

BUILD is a build of the preset `fuzz`. Each target runs for N seconds (60) on a copy of its corpus;
with 0 it runs the corpus and no more. With --seeds it begins with FOLDER/TARGET as well. An input
that ends a target stays in BUILD/found. With --keep what was found new is put into the corpora of
the targets, which stay small. The exit code is 1 when a target fails.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CORPUS = HERE / "corpus"

# By target: the maximum size of an input in bytes.
TARGETS = {
    "access": 2_048,
    "certificate": 4_096,
    "command_line": 1_024,
    "commands": 4_096,
    "config": 4_096,
    "directory": 512,
    "frame": 4_096,
    "install": 16_384,
    "meta": 20_480,
    "raft": 4_096,
    "rpc": 2_048,
    "schema": 16_384,
}
LIMITS = ["-rss_limit_mb=1024", "-timeout=10"]
PATIENCE = 120  # seconds beyond the requested time
CORPUS_FILES_MAX = 40
CORPUS_BYTES_MAX = 100_000


@dataclasses.dataclass
class Verdict:
    target: str
    executions: int = 0
    per_second: int = 0
    edges: int = 0
    problem: str = ""
    inputs: list = dataclasses.field(default_factory=list)  # which end the target
    log: str = ""


def environment():
    return {**os.environ,
            "ASAN_OPTIONS": "detect_stack_use_after_return=0:strict_string_checks=1",
            "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"}


def start(words, patience, scratch):
    """The exit code and the whole output; None if it did not end."""
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**environment(), "TMPDIR": str(scratch)}, timeout=patience,
                              check=False)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")


def last(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def fuzz(build, target, seconds, corpus, scratch):
    """Runs one target; new inputs go into the folder `corpus`."""
    found = build / "found"
    found.mkdir(exist_ok=True)
    before = set(found.iterdir())
    how_long = f"-max_total_time={seconds}" if seconds else "-runs=0"
    words = [build / "fuzz" / target, corpus, how_long, f"-max_len={TARGETS[target]}", *LIMITS,
             f"-artifact_prefix={found}/{target}-", "-print_final_stats=1"]
    code, said = start(words, seconds + PATIENCE, scratch)
    verdict = Verdict(target, log=said)
    verdict.executions = last(r"stat::number_of_executed_units: *(\d+)", said)
    verdict.per_second = last(r"stat::average_exec_per_sec: *(\d+)", said)
    verdict.edges = last(r"cov: (\d+)", said)
    verdict.inputs = sorted(path for path in set(found.iterdir()) - before
                            if path.name.startswith(target + "-"))
    if code is None:
        verdict.problem = "did not end"
    elif code != 0:
        verdict.problem = f"ended with {code}"
    elif verdict.executions == 0:
        verdict.problem = "executed nothing"
    return verdict


def seeds_into(folder, target, more):
    folder.mkdir()
    for seeds in (CORPUS, more):
        if seeds and (seeds / target).is_dir():
            for path in (seeds / target).iterdir():
                shutil.copy(path, folder)


def run_target(build, target, options):
    with tempfile.TemporaryDirectory(prefix="mortise-fuzz-", dir=temporary()) as scratch:
        corpus = Path(scratch) / "corpus"
        seeds_into(corpus, target, options.seeds)
        verdict = fuzz(build, target, options.seconds, corpus, scratch)
        if options.keep and not verdict.problem:
            keep(build, target, corpus, Path(scratch))
        return verdict


def temporary():
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


# --- a small corpus ------------------------------------------------------------------------------

def features(build, target, corpus, scratch):
    """What each input of a folder reaches, as libFuzzer numbers it."""
    control = scratch / "control"
    empty = scratch / "empty"
    empty.mkdir()
    words = [build / "fuzz" / target, "-merge=1", f"-merge_control_file={control}",
             f"-max_len={TARGETS[target]}", *LIMITS, empty, corpus]
    start(words, 1_800, scratch)
    lines = control.read_text(encoding="utf-8").split("\n")
    names = [line for line in lines if line.startswith("/")]
    reached = {name: set() for name in names}
    for line in lines:
        mark, *numbers = line.split() or [""]
        if mark in ("FT", "COV"):
            reached[names[int(numbers[0])]] |= {(mark, number) for number in numbers[1:]}
    return reached


def choose(reached):
    """Inputs that reach most together, within the limits of a committed corpus; edges first. An
    input that once ended a target, found-NAME, stays."""
    chosen = [name for name in reached if Path(name).name.startswith("found-")]
    known = set().union(*(reached.pop(name) for name in chosen))
    room = CORPUS_BYTES_MAX

    def gain(name):
        new = reached[name] - known
        return (sum(mark == "COV" for mark, _ in new), len(new), -os.path.getsize(name))

    while reached and len(chosen) < CORPUS_FILES_MAX:
        name = max(reached, key=gain)
        if not reached[name] - known:
            break
        gained = reached.pop(name)
        if os.path.getsize(name) <= room:
            chosen.append(name)
            known |= gained
            room -= os.path.getsize(name)
    return chosen


def keep(build, target, corpus, scratch):
    chosen = choose(features(build, target, corpus, scratch))
    folder = CORPUS / target
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in chosen:
        shutil.copy(name, folder)


# --- the report ----------------------------------------------------------------------------------

def show(verdicts):
    print(f"{'target':<14} {'executions':>11} {'a second':>9} {'edges':>7}  verdict")
    for each in sorted(verdicts, key=lambda verdict: verdict.target):
        print(f"{each.target:<14} {each.executions:>11,} {each.per_second:>9,} {each.edges:>7,}  "
              f"{each.problem or 'ok'}")


def explain(build, verdict):
    """The end of a target's output, and the command to repeat it."""
    print(f"\n{verdict.target} {verdict.problem}:")
    print("\n".join(verdict.log.splitlines()[-60:]))
    for path in verdict.inputs:
        program = (build / "fuzz" / verdict.target).relative_to(ROOT)
        print(f"to see it again: {program} {path.relative_to(ROOT)}")


def options_in(words):
    parser = argparse.ArgumentParser(prog="./dev fuzz", usage="./dev fuzz [--seconds N] "
                                     "[--target NAME] [--jobs N] [--seeds FOLDER] [--keep]")
    parser.add_argument("build", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=int, default=60, help="for each target (60); 0: only "
                        "what is in the corpus")
    parser.add_argument("--target", action="append", choices=sorted(TARGETS), metavar="NAME",
                        help="may be repeated; all of them: " + ", ".join(sorted(TARGETS)))
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="targets at a time")
    parser.add_argument("--seeds", type=Path, help="inputs to begin with, besides the corpora")
    parser.add_argument("--keep", action="store_true", help="put what was found new into the "
                        "corpora")
    options = parser.parse_args(words)
    if options.seconds < 0:
        parser.error("--seconds is 0 or more")
    return options


def main(words):
    options = options_in(words)
    build = options.build.resolve()
    targets = options.target or sorted(TARGETS)
    missing = [target for target in targets if not (build / "fuzz" / target).exists()]
    if missing:
        print(f"not built: {', '.join(missing)}; cmake --build --preset fuzz", file=sys.stderr)
        return 2
    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        verdicts = list(pool.map(lambda target: run_target(build, target, options), targets))
    for verdict in verdicts:
        if verdict.problem:
            explain(build, verdict)
    show(verdicts)
    failed = [verdict.target for verdict in verdicts if verdict.problem]
    print(f"FAILED: {', '.join(failed)}" if failed else "fuzz: ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
