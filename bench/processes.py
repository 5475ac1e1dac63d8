"""The programs that are measured: the floor, and clusters of three nodes."""

import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PATIENCE = 60  # seconds, for what takes a moment


class Failed(Exception):
    """A measurement that came to nothing, and why."""


class Programs:
    """Where the programs are, and on which disk their files lie."""

    def __init__(self, folder, disk):
        self.floor = Path(folder) / "bench_floor"
        self.node = Path(folder) / "bench_node"
        self.disk = disk

    def directory(self):
        return tempfile.TemporaryDirectory(prefix="mortise-bench-", dir=self.disk,
                                           ignore_cleanup_errors=True)

    def run_floor(self, command, *words):
        with self.directory() as directory:
            done = subprocess.run([self.floor, command, directory, *map(str, words)],
                                  capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"the floor: {done.stderr.strip()}")
        return json.loads(done.stdout)


class Node:
    """A process that runs bench_node: a task is a line to it, and the answer a line from it."""

    def __init__(self, words, log):
        self.log = log
        with open(log, "ab") as errors:
            self.process = subprocess.Popen(list(map(str, words)), stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=errors, bufsize=0)
        self.read = b""

    def ask(self, task, **more):
        try:
            self.process.stdin.write((json.dumps({"task": task, **more}) + "\n").encode())
        except OSError:
            raise Failed(f"a node ended: {self.last_line()}") from None

    def answer(self, patience=PATIENCE):
        end = time.monotonic() + patience
        while b"\n" not in self.read:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise Failed(f"no answer within {patience:.0f} s")
            got = os.read(self.process.stdout.fileno(), 1 << 16)
            if not got:
                raise Failed(f"a node ended: {self.last_line()}")
            self.read += got
        line, _, self.read = self.read.partition(b"\n")
        answer = json.loads(line)
        if answer.get("failure"):
            raise Failed(f"a call failed: {answer['failure']}")
        return answer

    def do(self, task, patience=PATIENCE, **more):
        self.ask(task, **more)
        return self.answer(patience)

    def last_line(self):
        lines = Path(self.log).read_text(errors="replace").splitlines()
        return lines[-1] if lines else "it said nothing"

    def send_signal(self, number):
        os.kill(self.process.pid, number)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def free_ports(count):
    """Between here and the node's own bind, somebody else may take one: the node then says so."""
    holders = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [holder.getsockname()[1] for holder in holders]
    for holder in holders:
        holder.close()
    return ports


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
            node.kill()

    def start(self, number):
        folder = Path(self.directory.name)
        self.nodes[number] = Node(
            [self.programs.node, number, folder / str(number), *self.addresses],
            folder / f"{number}.log")

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
        self.nodes[number].send_signal(signal.SIGSTOP)

    def thaw(self, number):
        self.nodes[number].send_signal(signal.SIGCONT)
