#!/usr/bin/env python3
"""Real processes under real faults: ./dev torture.

    run.py --programs DIR [--minutes N] [--nodes 3|5|7] [--seed S] [--only KIND ...] [--plain]
           [--durability synced|replicated] [--keep]

A few processes, each in a network namespace of its own, acquire and release locks while pairs of
faults are done to them; everything they see goes into histories, which are judged in the end. The
last line is the verdict, and so is the exit code. Whatever is needed to look into a failure stays
in a folder, which is named.
"""

import argparse
import atexit
import itertools
import random
import shutil
import tempfile
import time
from pathlib import Path

import cgroups
import faults
import sandbox
import verdict
import watched
from cluster import ELECTION, HEARTBEAT, QUICK, SLOW, TTL, Cluster, now
from namespaces import Loopback, Network
from progress import Progress

KINDS = [*faults.KINDS, *watched.KINDS]
RATE = 0.01
LONGEST_HOLD = TTL + 0.6
BUSY = 5.0  # seconds that a start and a busy machine may take longer
# P7 for a leader, P8 for the holds of dead nodes with one change of leader, and then the longest
# hold of live nodes.
BACK = (10 * ELECTION + TTL * (1 + RATE) / (1 - RATE) + HEARTBEAT
        + 2 * ELECTION + 3 * HEARTBEAT + LONGEST_HOLD + BUSY)
# Each liar moves the terms further away, and an empty directory meets them in steps, which takes as
# long as all have lied (docs/decisions/0064). A directory that has lied itself is given up when it
# has met them, and its successor does it again.
MEETING = 2 * 6.0
PATIENCE = 60  # seconds until the cluster must work again


class Episode:
    """Two faults at a time, and the time of the recovery."""

    def __init__(self, pair, begin):
        self.faults = pair
        self.begin = begin
        self.healed = None
        self.recovery = None  # seconds


class Torture:
    def __init__(self, options, cluster, progress):
        self.cluster = cluster
        self.progress = progress
        self.chance = random.Random(options.seed)
        self.kinds = [kind for kind in KINDS if not set(kind.needs) & set(cluster.gone)
                      and (not options.only or kind.__name__ in options.only)]
        self.deck = []
        self.active = []  # faults that have begun
        self.episodes = []
        self.watched = []

    def draw(self):
        """Two kinds; every kind comes before any is repeated."""
        pair = []
        while len(pair) < min(2, len(self.kinds)):
            self.deck = self.deck or self.deal()
            kind = self.deck.pop(0)
            if kind not in pair:
                pair.append(kind)
        pair.sort(key=lambda kind: not kind.alone)
        return [kind(self.cluster, self.chance) for kind in pair]

    def deal(self):
        """Those that are watched alone come first, one of them in a pair."""
        kinds = self.chance.sample(self.kinds, len(self.kinds))
        first = [kind for kind in kinds if kind.alone]
        others = [kind for kind in kinds if not kind.alone]
        return [kind for pair in itertools.zip_longest(first, others) for kind in pair if kind]

    def episode(self, number):
        self.cluster.begin_episode()
        pair = self.draw()
        episode = Episode(pair, now())
        self.episodes.append(episode)
        print(f"{number:3}: " + ", ".join(f"{f.kind} at {f.where()}" for f in pair), flush=True)
        for fault in pair:
            if fault.excuses:
                fault.node.excuses.add(fault.kind)
            self.active.append(fault)
            fault.begin()
            if fault.alone and fault is pair[0]:
                self.watch(fault)
            else:
                time.sleep(self.chance.uniform(0, 1))
        time.sleep(self.chance.choice([0.5, 1.5, TTL + 1, 2 * TTL]))
        self.end_faults()
        self.cluster.restart_the_dead()
        self.cluster.take_back()
        episode.healed = now()
        self.recover(episode)

    def watch(self, fault):
        if fault.count:
            self.watched.append(watched.Watched(self.cluster, fault))

    def end_faults(self):
        self.chance.shuffle(self.active)
        while self.active:
            self.active.pop().end()

    def back(self):
        """The time after which all must be served again."""
        kinds = [fault.kind for episode in self.episodes for fault in episode.faults]
        return BACK + MEETING * kinds.count("liar")

    def recover(self, episode):
        back = self.back()
        episode.recovery, late = self.progress.wait(QUICK, back)
        late = late or self.progress.wait([SLOW], back)[1]
        if late:
            pair = " and ".join(fault.kind for fault in episode.faults)
            self.cluster.complain(f"not live {back:.1f} s after {pair}: {', '.join(late)}")
            more, late = self.progress.wait([SLOW, *QUICK], PATIENCE)
            episode.recovery += more
        if late:
            raise RuntimeError(f"dead for {PATIENCE} s: {', '.join(late)}")

    def run(self, minutes):
        until = now() + int(minutes * 60e9)
        self.watch(watched.Nothing(self.cluster, self.chance))
        while now() < until:
            self.episode(len(self.episodes) + 1)
            time.sleep(self.chance.uniform(0, 1))
        for node in self.cluster.nodes.values():
            node.life.tell("calm")
        back = self.back()
        seconds, late = self.progress.wait([SLOW, *QUICK], back)
        print(f"calm: everything granted to everybody within {seconds:.2f} s", flush=True)
        if late:
            self.cluster.complain(f"not live in the calm after {back:.1f} s: {', '.join(late)}")


def make_cluster(options, folder):
    gone = sandbox.missing(options.inside)
    if not (options.programs.parent / "bin" / "mortise").exists():
        gone["mortise"] = "mortise: no changes of the members, and no wiped directories"
    for why in filter(None, gone.values()):
        print(f"missing: {why}")
    network = Loopback(options.nodes) if "network" in gone else Network(options.nodes)
    return Cluster(options, network, gone, folder)


def torture(options, folder):
    """What is wrong, and how many operations there were."""
    cluster = make_cluster(options, folder)
    atexit.register(cluster.kill_all)
    run = Torture(options, cluster, Progress(cluster))
    try:
        cluster.start()
        run.run(options.minutes)
        cluster.stop()
    except KeyboardInterrupt:
        cluster.complain("ended early")
    except Exception as problem:  # the histories are judged nevertheless
        cluster.complain(f"{type(problem).__name__}: {problem}")
    finally:
        cluster.look_for_deaths()
        end_for_good(run)
    calls = verdict.read_calls(cluster)
    verdict.judge(cluster, calls, options.programs)
    for each in run.watched:
        each.judge(calls)
    verdict.report(run.episodes, calls, verdict.deaths_of(cluster))
    verdict.report_power(cluster)
    if cluster.violations:
        verdict.save(cluster)
    return cluster.violations, len(calls), len(run.episodes)


def end_for_good(run):
    """A fault that began only in part cannot be ended; the process that it holds is killed from
    outside."""
    try:
        run.end_faults()
    except Exception as problem:
        run.cluster.complain(f"cannot end a fault: {problem}")
    run.cluster.kill_all()


def inside(options):
    sandbox.end_with_the_leader()
    folder = Path(tempfile.mkdtemp(prefix=cgroups.PREFIX))
    print(f"torture: seed {options.seed}, {options.nodes} nodes, {options.minutes:g} minutes",
          flush=True)
    violations, calls, episodes = torture(options, folder)
    if violations or options.keep:
        print(f"kept: {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"torture: seed {options.seed}, {calls} operations, {episodes} pairs of faults, "
          f"{len(violations)} violations: {'FAILED' if violations else 'ok'}")
    return 1 if violations else 0


def main():
    parser = argparse.ArgumentParser(description="real processes under real faults")
    parser.add_argument("--programs", type=Path, required=True, help="where torture_worker is")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--nodes", type=int, choices=(3, 5, 7))
    parser.add_argument("--seed", type=int)
    parser.add_argument("--only", nargs="+", metavar="KIND",
                        help="of the classes in faults.py and watched.py",
                        choices=[kind.__name__ for kind in KINDS])
    parser.add_argument("--durability", choices=("synced", "replicated"), default="synced",
                        help="replicated: machines lose their power as well")
    parser.add_argument("--plain", action="store_true", help="without TLS")
    parser.add_argument("--keep", action="store_true", help="keep everything in any case")
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.programs = options.programs.resolve()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1_000_000)
    if options.nodes is None:
        options.nodes = random.Random(options.seed).choice((3, 5, 7))
    if options.inside is not None:
        raise SystemExit(inside(options))
    words = ["--programs", str(options.programs), "--minutes", str(options.minutes), "--nodes",
             str(options.nodes), "--seed", str(options.seed)]
    words += ["--keep"] if options.keep else []
    words += ["--plain"] if options.plain else []
    words += ["--durability", options.durability]
    words += ["--only", *options.only] if options.only else []
    sandbox.lead(str(Path(__file__).resolve()), words)


if __name__ == "__main__":
    main()
