"""The programs that are measured: the floor, and clusters of three nodes."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/support"))
from harness import PATIENCE, Process, Talker, Unsaid, free_ports  # noqa: E402,F401


class Failed(Exception):
    """A measurement that came to nothing, and why."""


class Programs:
    """Where the programs are, and on which disk their files lie."""

    def __init__(self, folder, disk, durability="synced"):
        self.environment = os.environ | {"MORTISE_BENCH_DURABILITY": durability}
        self.floor = Path(folder) / "bench_floor"
        self.node = Path(folder) / "bench_node"
        self.disk = disk

    def directory(self):
        return tempfile.TemporaryDirectory(prefix="mortise-bench-", dir=self.disk,
                                           ignore_cleanup_errors=True)

    def run_floor(self, command, *words):
        """What each of its processes has printed."""
        with self.directory() as directory:
            done = subprocess.run([self.floor, command, directory, *map(str, words)],
                                  capture_output=True, text=True, check=False,
                                  env=self.environment)
        if done.returncode != 0:
            raise Failed(f"the floor: {done.stderr.strip()}")
        return [json.loads(line) for line in done.stdout.splitlines()]


class Node(Talker):
    """A process that runs bench_node: a task is a line to it, and the answer a line from it."""

    def ask(self, task, **more):
        try:
            self.tell(json.dumps({"task": task, **more}))
        except OSError:
            raise Failed(f"a node ended: {self.last_line()}") from None

    def answer(self, patience=PATIENCE):
        try:
            answer = json.loads(self.next(patience=patience))
        except Unsaid:
            if self.is_silent():
                raise Failed(f"a node ended: {self.last_line()}") from None
            raise Failed(f"no answer within {patience:.0f} s") from None
        if answer.get("failure"):
            raise Failed(f"a call failed: {answer['failure']}")
        return answer

    def do(self, task, patience=PATIENCE, **more):
        self.ask(task, **more)
        return self.answer(patience)


class Started:
    """Processes with a directory of their own: all of them run, or none. Nothing is left of them in
    the end. A subclass has start_all() and end_all()."""

    def __init__(self, programs):
        self.directory = programs.directory()

    def __enter__(self):
        try:
            self.start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.end_all()
        self.directory.cleanup()


class Cluster(Started):
    """Voters, each a process, with empty directories."""

    def __init__(self, programs, voters=3):
        super().__init__(programs)
        self.programs = programs
        self.addresses = [f"127.0.0.1:{port}" for port in free_ports(voters)]
        self.nodes = {}

    def start_all(self):
        for number in range(1, len(self.addresses) + 1):
            self.start(number)
        self.await_ready()

    def end_all(self):
        for node in self.nodes.values():
            node.end()

    def start(self, number):
        folder = Path(self.directory.name)
        self.nodes[number] = Node(
            [self.programs.node, number, folder / str(number), *self.addresses],
            log=folder / f"{number}.log", env=self.programs.environment)

    def await_ready(self):
        for node in self.nodes.values():
            node.ask("ready", seconds=PATIENCE)
        answers = [node.answer(PATIENCE + 10) for node in self.nodes.values()]
        if not all(answer["ready"] for answer in answers):
            raise Failed(f"the cluster was not ready within {PATIENCE} s")

    def do_all(self, task, patience=PATIENCE, **more):
        """The answers of all nodes, which do it at the same time."""
        for node in self.nodes.values():
            node.ask(task, **more)
        return {number: node.answer(patience) for number, node in self.nodes.items()}

    def leader(self):
        """The number of the node that all take for the leader."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            told = {answer["leader"] for answer in self.do_all("status").values()}
            if len(told) == 1 and 0 not in told:
                return told.pop()
            time.sleep(0.05)
        raise Failed(f"no leader within {PATIENCE} s")

    def follower(self):
        leader = self.leader()
        return min(number for number in self.nodes if number != leader)

    def freeze(self, number):
        self.nodes[number].pause()

    def thaw(self, number):
        self.nodes[number].resume()
