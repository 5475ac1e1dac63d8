#!/usr/bin/env python3
"""Checks every model of this folder and every planted fault with Spin.

    check.py [--only MODEL] [--trails DIR]

A model must hold as it is, and be refuted with each switch that breaks a rule: what cannot be
refuted says nothing. Prints a line per run; exit code 1 when a verdict is not the expected one, 77
when Spin is not installed. With --trails the shortest counterexamples are left in DIR.
"""
import argparse
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
MEMORY_MIB = 6 * 1024
SECONDS_MAX = 600
SKIPPED = 77
HOLDS, REFUTED = "holds", "refuted"

# model: {switches: expected}; "" is the model as it is
MODELS = {
    "lease": {
        "": HOLDS, "TTL=4": HOLDS,
        "FAST_MAJORITY": REFUTED, "SLOW_HOLDER": REFUTED,
        "LEADER_ALONE": REFUTED, "EXPIRE_WITHOUT_INDEX": REFUTED,
        "LEASE_FROM_REPLY": REFUTED, "LEASE_FROM_LAST_REQUEST": REFUTED,
        "RESEND_TAKES_NEW_TIME": REFUTED, "COMMITTED_IS_OK": REFUTED,
        "REPORT_WITHOUT_INDEX": REFUTED, "RESTART_RAN_OUT": REFUTED,
        "SAVED_WITHOUT_INDEX": REFUTED, "COUNT_FROM_RECEIPT": REFUTED,
    },
    "cached": {
        "": HOLDS, "LAST=4 ELECTIONS=0": HOLDS, "LAST=4 LAPSES=0": HOLDS,
        "BLOCK=3 ELECTIONS=0": HOLDS, "LAPSES=2 ELECTIONS=0": HOLDS, "ELECTIONS=2 LAPSES=0": HOLDS,
        **{fault + " ELECTIONS=0 LAPSES=0": REFUTED for fault in (
            "BEYOND_THE_BLOCK", "BLOCK_NOT_RESERVED", "READER_TAKES_NO_TOKEN", "USED_BY_TWO",
            "SHARED_GRANT_FOR_A_WRITER ONLY_EXCLUSION", "USED_AFTER_THE_ANSWER",
            "USED_AFTER_THE_ANSWER ONLY_EXCLUSION", "GIVE_BACK_TAKEN_BACK",
            "GIVE_BACK_TAKEN_BACK ONLY_EXCLUSION", "FIRST_ANSWER_IS_ENOUGH ONLY_EXCLUSION",
            "RELEASE_BEFORE_PUBLISH", "PUBLISHED_IS_HANDED_OVER", "UNUSED_IGNORES_RECALL",
            "RECALLED_STAYS", "ONE_READER_RECALLED")},
        **{fault + " ELECTIONS=0": REFUTED for fault in (
            "LEASE_NOT_CHECKED ONLY_EXCLUSION", "LEASE_CHECKED_BEFORE ONLY_EXCLUSION",
            "LEASE_OF_THE_NODE ONLY_EXCLUSION", "GRANTED_WITHOUT_A_LEASE ONLY_EXCLUSION")},
        "PUBLISH_LOST LAPSES=0": REFUTED, "RECALL_SENT_ONCE LAPSES=0": REFUTED,
    },
    "era": {
        "": HOLDS, "LOSSES=3": HOLDS, "ELECTIONS=3": HOLDS, "TOGETHER=1": HOLDS,
        "SESSIONS=3": HOLDS,
        **{fault + " ELECTIONS=1": REFUTED for fault in (
            "OPENS_AT_ONCE", "SLOW_HOLDER", "OPENING_NOT_SEALED",
            "OPENING_NOT_SEALED ONLY_EXCLUSION", "CEILING_NOT_SYNCED", "ABOVE_THE_CEILING",
            "ERA_FROM_THE_NEWEST", "ERA_FROM_THE_CEILING", "ERA_BY_MAJORITY", "FORGETFUL_VOTES",
            "FORGETFUL_VOTES ONLY_EXCLUSION TOGETHER=1 LOSSES=1",
            "READ_BEFORE_THE_HELLO LOSSES=1")},
        "TERM_NOT_SYNCED LOSSES=1": REFUTED, "ERA_FORGETS_CLOSURE": REFUTED,
        "NOOP_NOT_SYNCED ELECTIONS=3 LENGTH=5": REFUTED,
    },
    "grace": {
        "": HOLDS,
        "NO_GRACE": REFUTED, "HEARD_LATE": REFUTED, "BATCHED_LATE": HOLDS,
        "NO_PENDING_RULE": REFUTED, "GRACE_OF_NEW_LEADERS_ONLY": REFUTED,
        "OLD_DECISION_IN_NEW_TERM": REFUTED,
    },
    "orphan": {
        "": HOLDS, "ELECTIONS=2": HOLDS, "RESTARTS=2": HOLDS, "SILENCES=3": HOLDS,
        "DEAD_VOTER RESTARTS=2": HOLDS, "DEAD_VOTER ELECTIONS=1 RESTARTS=1 SILENCES=1": HOLDS,
        "COUNTDOWN_FROM_FAILOVER ELECTIONS=1": REFUTED,
        "DEAD_VOTER FORGET_ELAPSED RESTARTS=1": REFUTED,
        "NO_COUNTDOWN_AFTER_RESTART RESTARTS=2": REFUTED,
        "REPORT_ONCE SILENCES=2": REFUTED, "LATE_BATCH": REFUTED,
    },
    "reaper": {
        "": HOLDS,
        "LOSS_WITHOUT_REAPER": REFUTED, "TIMEOUT_WITHOUT_REAPER": REFUTED,
        "REAPER_SENDS_ONCE": REFUTED, "RELEASE_BY_NAME": REFUTED,
        "CANCEL_KEEPS_THE_GRANT": REFUTED, "GAP_IS_APPLIED": REFUTED,
        "REPEAT_TAKES_EFFECT": REFUTED, "DECLINED_STILL_WAITS": REFUTED,
    },
    "voters": {
        "": HOLDS, "GROW": HOLDS,
        "REMOVED_COUNTS": REFUTED, "LEARNER_COUNTS": REFUTED, "GROW OLD_SIZE": REFUTED,
        "JOINT_BY_EITHER": REFUTED,
    },
}


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MIB << 20,) * 2)


def run(command, directory):
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False,
                          timeout=SECONDS_MAX, preexec_fn=limit_memory)


def must(command, directory):
    done = run(command, directory)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def verdict_of(output):
    errors = re.search(r"errors: (\d+)", output)
    cut_short = re.search(r"max search depth too small|out of memory|Search not completed", output)
    # An error of the model itself refutes nothing.
    broken = "invalid array index" in output
    if errors is None or broken or (errors[1] == "0" and cut_short):
        return "unfinished"
    return HOLDS if errors[1] == "0" else REFUTED


def figure(pattern, output):
    found = re.search(pattern, output)
    return int(float(found[1])) if found else 0


def check(model, switches, expected, directory):
    """The verdict, the states and the depth of one search. What should be refuted is searched
    breadth-first: it ends at the shortest counterexample."""
    defines = ["-D" + switch for switch in switches.split()]
    shutil.copy(HERE / f"{model}.pml", directory)
    must(["spin", "-a", *defines, f"{model}.pml"], directory)
    search = ["-DBFS"] if expected == REFUTED else []
    must(["gcc", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", f"-DMEMLIM={MEMORY_MIB}", *search,
          "-o", "pan", "pan.c"], directory)
    # -E: to have nothing more to do is no error; -m: how deep it may go.
    output = run(["./pan", "-E", "-m2000000"], directory).stdout
    return (verdict_of(output), figure(r"(\S+) states, stored", output),
            figure(r"depth reached (\d+)", output))


def keep_trail(model, switches, directory, trails):
    defines = ["-D" + switch for switch in switches.split()]
    steps = run(["spin", "-t", "-p", "-g", *defines, f"{model}.pml"], directory).stdout
    trails.mkdir(parents=True, exist_ok=True)
    (trails / f"{model}-{switches.replace(' ', '-')}.txt").write_text(steps, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=MODELS)
    parser.add_argument("--trails", type=Path)
    options = parser.parse_args()
    if shutil.which("spin") is None:
        print("skipped: spin is not installed")
        return SKIPPED
    wrong = 0
    form = "{:<7} {:<57} {:>9} {:>7} {:<10} {:>7}"
    print(form.format("model", "switches", "states", "depth", "verdict", "seconds"))
    for model in [options.only] if options.only else MODELS:
        for switches, expected in MODELS[model].items():
            with tempfile.TemporaryDirectory(prefix="mortise-model-") as directory:
                begin = time.monotonic()
                verdict, states, depth = check(model, switches, expected, directory)
                seconds = f"{time.monotonic() - begin:.1f}"
                print(form.format(model, switches or "-", states, depth, verdict, seconds),
                      "" if verdict == expected else f"EXPECTED: {expected}", flush=True)
                wrong += verdict != expected
                if options.trails and verdict == REFUTED:
                    keep_trail(model, switches, directory, options.trails)
    print(f"{wrong} verdicts differ" if wrong else "every verdict is the expected one")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
