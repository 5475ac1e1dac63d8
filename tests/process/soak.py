#!/usr/bin/env python3
"""A cluster under a steady load for hours, in which nothing may grow: ./dev soak.

    soak.py --programs DIR [--hours N | --minutes N] [--into DIR]

Three members and a client, each a process that takes and releases locks all the time. Two members
are restarted in turn, or killed; the others last. Every few seconds the kernel is asked what each
process uses. The verdict compares the quarters of the run; it is the last line, the exit code, and
on the page soak.md. ^C ends the run early, with a page.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import soak_figures
from soak_figures import CLIENT, LASTING, MINUTE, RESTARTED

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "bench")]
from harness import PATIENCE, Members, Talker, Unsaid, config_text, local  # noqa: E402
from report import commit, processor  # noqa: E402
from used import count, cpu_seconds, memory, on_disk  # noqa: E402

MIB = 1 << 20
SAMPLE = 5  # seconds; in a short run less, like the next two
RESTART = 5 * MINUTE  # between two of them
DEAD = 12  # after a SIGKILL: its session ends meanwhile
KILLED = 3  # every so many restarts is a SIGKILL; each of two members has its turn
REPORT = ("calls", "failed", "longest", "lost", "gap", "p50", "p99", "names", "sessions")
NAMES = ("shared", "own-{node}", "passing-{node}-*")
ROLES = {1: RESTARTED, 2: RESTARTED, 3: LASTING, 4: CLIENT}


class Nodes(Members):
    def __init__(self, programs, place):
        self.program = programs / "tests/process_steady_load"
        self.cli = programs / "bin/mortise"
        self.prepare(place)
        (self.place / "store").mkdir()
        self.begun = {}
        self.asked = {}  # of each node: when, and its CPU time then

    def config(self, node):
        peers = local(self.ports)
        text = config_text(node, peers, self.data(node), peers.get(node), cluster='"soak"')
        if ROLES[node] == CLIENT:  # it has neither an id, nor a directory, nor an address
            text = 'role = "client"\n' + text.split("\n", 3)[3]
        return self.write_config(text, f"node-{node}")

    def start(self, *nodes):
        """In a session of their own: ^C in a terminal ends the run alone."""
        for node in nodes:
            words = [self.program, self.config(node), "--store", self.place / "store",
                     *(name.format(node=node) for name in NAMES)]
            self.keep(Talker(words, log=self.place / f"node-{node}.log", start_new_session=True),
                      node)
            self.begun[node] = time.monotonic()
            self.asked[node] = self.begun[node], 0.0
        for node in nodes:
            self.members[node].next("ready")

    def sample(self, node):
        """What the process uses, and what its load has seen since the last time."""
        process = self.members[node]
        found = dict(zip(REPORT, map(int, process.ask("report", "report"))))
        now, cpu = time.monotonic(), cpu_seconds(process.pid)
        seconds, cpu_before = now - self.asked[node][0], self.asked[node][1]
        self.asked[node] = now, cpu
        found |= {"node": node, "who": ROLES[node],
                  "age": now - self.begun[node], "memory": memory(process.pid)[1] / MIB,
                  "descriptors": count(process.pid, "fd"), "threads": count(process.pid, "task"),
                  "cpu": 100 * (cpu - cpu_before) / seconds, "rate": found["calls"] / seconds,
                  "p50": found["p50"] / 1000, "p99": found["p99"] / 1000}
        if ROLES[node] != CLIENT:
            found["disk"] = on_disk(self.data(node)) / MIB
        return found

    def run(self, *words):
        """What is wrong."""
        done = subprocess.run([self.cli, *words], capture_output=True, text=True, timeout=PATIENCE,
                              check=False)
        return f"{words[0]} failed: {done.stderr}" if done.returncode else ""

    def visit(self, number):
        """A session that comes and goes, with a name that nobody had before."""
        return self.run("run", "--lock", f"visit-{number}", *self.peers(), "--", "true")

    def let_lead(self, node):
        return self.run("transfer-leader", str(node), *self.peers())


class Soak:
    def __init__(self, nodes, options):
        self.nodes = nodes
        self.into = options.into
        self.planned = options.hours * 60 * MINUTE if options.hours else options.minutes * MINUTE
        self.every = min(RESTART, self.planned / 12)
        self.pause = min(SAMPLE, self.every / 5)
        self.dead = min(DEAD, self.every / 3)
        self.samples, self.complaints = [], []
        self.counts = dict.fromkeys(("visits", "restarts", "kills"), 0)
        self.settings = {
            "begun": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "commit": commit(ROOT),
            "machine": f"{os.cpu_count()} x {processor()}",
            "planned": f"{self.planned / MINUTE:g} minutes",
            "a restart": f"every {self.every:g} s, two members in turn; each {KILLED}rd "
                         f"is a SIGKILL and {self.dead:.3g} s of absence",
            "a sample": f"every {self.pause:g} s, with a visit: a session and a name of its own"}
        self.begin = time.monotonic()

    def seconds(self):
        return time.monotonic() - self.begin

    def complain(self, what):
        print(f"{self.seconds():.0f} s: {what}", flush=True)
        self.complaints.append(f"after {self.seconds():.0f} s: {what}")

    def run(self):
        """Returns early when a process does not do what it is told to."""
        try:
            self.nodes.start(*ROLES)
            while self.seconds() < self.planned:
                self.look()
                if self.seconds() > (self.counts["restarts"] + 1) * self.every:
                    self.restart()
                time.sleep(self.pause)
        except (Unsaid, OSError, subprocess.TimeoutExpired) as problem:
            self.complain(f"the run ended: {str(problem).splitlines()[0]}")
        except KeyboardInterrupt:
            print("it ends early", flush=True)
        took = self.seconds()
        for node in reversed(self.nodes.members):  # the client first
            self.end(node)
        return self.write(took, is_over=True)

    def look(self):
        self.counts["visits"] += 1
        if wrong := self.nodes.visit(self.counts["visits"]):
            self.complain(wrong)
        with open(self.into / "samples.jsonl", "a", encoding="utf-8") as file:
            for node in self.nodes.members:
                found = {"at": round(self.seconds(), 1)} | self.nodes.sample(node)
                if found["lost"]:
                    self.complain(f"node {node} lost {found['lost']} holds")
                self.samples.append(found)
                file.write(json.dumps(found) + "\n")

    def restart(self):
        """Each of the two in turn; twice as the leader, and twice as a follower."""
        self.counts["restarts"] += 1
        number = self.counts["restarts"]
        node, other = number % 2 + 1, 3
        if wrong := self.nodes.let_lead(node if number // 2 % 2 else other):
            self.complain(wrong)
        if number % KILLED == 0:
            self.counts["kills"] += 1
            self.end(node, kills=True)
            time.sleep(self.dead)
        else:
            self.end(node)
        self.nodes.start(node)
        self.write(self.seconds())
        print(f"{self.seconds():.0f} s: {self.counts}, {len(self.complaints)} complaints",
              flush=True)

    def end(self, node, kills=False):
        process = self.nodes.members[node]
        if process not in self.nodes.processes:
            return
        if process.poll() is not None:
            self.complain(f"node {node} ended by itself with {process.returncode}")
        elif not kills:
            self.end_in_order(node, process)
        process.end()
        self.nodes.processes.remove(process)
        self.hear(node, process)

    def end_in_order(self, node, process):
        try:
            if code := process.stop():
                self.complain(f"node {node} ended with {code}: {process.last_line()}")
        except subprocess.TimeoutExpired:
            self.complain(f"node {node} does not end when told to")

    def hear(self, node, process):
        for what in ("broken", "failed"):
            said = process.said(what)
            for words in said[:3]:
                self.complain(f"node {node} said: {' '.join(words)}")
            if len(said) > 3:
                self.complain(f"node {node} said {what!r} {len(said)} times in all")

    def write(self, length, is_over=False):
        """The page of the run so far, and what is wrong."""
        life = 2 * self.every
        rows, grown = soak_figures.judged(self.samples, length, life)
        complaints = self.complaints + (grown if is_over else [])
        done = {"took": f"{length / MINUTE:.1f} minutes",
                "done": ", ".join(f"{number} {what}" for what, number in self.counts.items()),
                "acquires": f"{sum(found['calls'] for found in self.samples):,}"}
        verdict = soak_figures.verdict(complaints, is_over, soak_figures.is_short(length, life))
        text = soak_figures.page(verdict, complaints, self.settings | done, rows)
        (self.into / "soak.md").write_text(text, encoding="utf-8")
        return text, complaints


def understood():
    parser = argparse.ArgumentParser(prog="./dev soak", description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--hours", type=float)
    parser.add_argument("--minutes", type=float, default=60, help="instead of hours")
    parser.add_argument("--into", type=Path, default=ROOT / "build/soak", metavar="DIR",
                        help="for the page, the samples and the files of the nodes")
    return parser.parse_args()


def main():
    options = understood()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    shutil.rmtree(options.into, ignore_errors=True)
    (options.into / "nodes").mkdir(parents=True)
    with Nodes(options.programs, options.into / "nodes") as nodes:
        text, complaints = Soak(nodes, options).run()
    print(text, f"\n{options.into}/soak.md: {'FAILED' if complaints else 'passed'}", sep="")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
