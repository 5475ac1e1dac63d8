"""The processes that tests, torture and benchmarks start: what they are started with, what they
say, and how they end."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

PATIENCE = 60  # seconds; nothing takes this long unless it hangs
# Below the ports that the kernel gives to connections and to whoever binds port 0: none of those
# takes one between free_ports() and the program that listens there.
FIRST_PORT, LAST_PORT = 10_000, 29_999


def free_ports(count):
    """Different ports of 127.0.0.1 that nobody uses now."""
    ports = []
    with contextlib.ExitStack() as stack:
        while len(ports) < count:
            one = stack.enter_context(socket.socket())
            port = random.randint(FIRST_PORT, LAST_PORT)
            with contextlib.suppress(OSError):
                one.bind(("127.0.0.1", port))
                ports.append(port)
    return ports


def wait_until(condition, patience=None):
    """Returns what the condition returned."""
    end = time.monotonic() + (patience or PATIENCE)
    while not (found := condition()):
        if time.monotonic() > end:
            raise TimeoutError("waited in vain")
        time.sleep(0.01)
    return found


class Unsaid(AssertionError):
    """A process did not say what it had to say."""


class Process(subprocess.Popen):
    """A process with text on its pipes. The file `log` gets its standard error, and `output` what
    it prints as well; otherwise both are pipes."""

    def __init__(self, words, *, log=None, output=None, **options):
        self.log = output or log
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(open(self.log, "wb")) if self.log else subprocess.PIPE
            streams = {"stdin": subprocess.PIPE, "stderr": file,
                       "stdout": file if output else subprocess.PIPE}
            super().__init__([str(word) for word in words],
                             **({"text": True} | streams | options))

    def logged(self):
        return Path(self.log).read_text(encoding="utf-8", errors="replace")

    def lines_with(self, *words):
        """The lines of the log that have all of them."""
        return [line for line in self.logged().splitlines() if all(word in line for word in words)]

    def last_line(self):
        return next((line for line in reversed(self.logged().split("\n")) if line.strip()),
                    "it said nothing")

    def tell(self, line):
        self.stdin.write(line + "\n")
        self.stdin.flush()

    def pause(self):
        """Returns when all of its threads stand still."""
        self.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOWAIT)

    def resume(self):
        self.send_signal(signal.SIGCONT)

    def stop(self, patience=None):
        """Tells it to end, and returns its exit code."""
        self.terminate()
        return self.wait(patience or PATIENCE)

    def end(self):
        """Kills it if it still runs; nothing is left of it."""
        if self.poll() is None:
            self.kill()
        self.wait()
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):  # what it was told and did not read
                    stream.close()


class Talker(Process):
    """A process whose lines are read as they come, so that it never waits for a reader."""

    def __init__(self, words, **options):
        self.lines = []
        self.complaints = []  # its lines on standard error
        self.taken = 0  # so many lines were returned by next(), or skipped
        super().__init__(words, **options)
        self.readers = [threading.Thread(target=self.read, args=each, daemon=True) for each in
                        ((self.stdout, self.lines), (self.stderr, self.complaints)) if each[0]]
        self.stdout = self.stderr = None  # the threads have them
        for reader in self.readers:
            reader.start()

    @staticmethod
    def read(stream, into):
        with stream:
            for line in stream:
                into.append(line.rstrip("\n"))

    def said(self, beginning):
        """The words of all lines so far that begin with it."""
        return [line.split() for line in list(self.lines) if line.startswith(beginning)]

    def expect(self, beginning, count=1):
        """Waits until it has said so, so often in all."""
        self.wait_for(lambda: len(self.said(beginning)) >= count, beginning)

    def expect_more(self, beginning, count):
        self.expect(beginning, len(self.said(beginning)) + count)

    def next(self, beginning="", patience=None):
        """The next line that begins with it; those before are skipped."""
        def found():
            while self.taken < len(self.lines):
                self.taken += 1
                if self.lines[self.taken - 1].startswith(beginning):
                    return True
            return False
        self.wait_for(found, beginning, patience)
        return self.lines[self.taken - 1]

    def ask(self, line, beginning):
        """The words of the answer behind its beginning."""
        self.tell(line)
        return self.answer(beginning)

    def answer(self, beginning):
        return self.next(beginning).split()[1:]

    def wait_for(self, condition, what, patience=None):
        end = time.monotonic() + (patience or PATIENCE)
        while not condition():
            is_over = self.is_silent()
            if (is_over and not condition()) or time.monotonic() > end:
                state = "has ended" if is_over else "still runs"
                log = self.logged().splitlines() if self.log else []
                raise Unsaid("\n".join([f"{' '.join(self.args)} {state} and did not say {what!r}; "
                                        "its last lines:", *self.lines[-20:],
                                        *self.complaints[-20:], *log[-20:]]))
            time.sleep(0.002)

    def is_silent(self):
        """Nobody writes to its pipes any more."""
        return not any(reader.is_alive() for reader in self.readers)

    def complains(self, words):
        return any(words in line for line in list(self.complaints))

    def end(self):
        super().end()
        for reader in self.readers:
            reader.join(PATIENCE)


class Case(unittest.TestCase):
    """A test with a directory for its files; the processes that it keeps end with it."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="mortise-test-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def keep(self, process):
        self.addCleanup(process.end)
        return process


class Members:
    """The nodes of one cluster, by their numbers: ports, files and processes."""

    size = 3

    def prepare(self, place=None):
        """The files are in a directory of their own, which is removed in the end, or in `place`."""
        self.directory = tempfile.TemporaryDirectory(prefix="mortise-test-")
        self.place = Path(place or self.directory.name)
        self.ports = free_ports(self.size)
        self.processes = []  # all that were started
        self.members = {}  # of each node the last one

    def keep(self, process, node=None):
        self.processes.append(process)
        self.members[node] = process
        return process

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.end()
        self.directory.cleanup()

    def data(self, node):
        return self.place / f"node-{node}"

    def address(self, node):
        return f"127.0.0.1:{self.ports[node - 1]}"

    def peers(self, *nodes):
        """The words of a command line that asks these nodes, or all."""
        return [word for node in nodes or range(1, len(self.ports) + 1)
                for word in ("--peer", self.address(node))]

    def write_config(self, text, name):
        path = self.place / f"{name}.toml"
        path.write_text(text, encoding="utf-8")
        return path


def times(session_ttl="3s", election_timeout="500ms", heartbeat="50ms", **more):
    return {"session_ttl": session_ttl, "election_timeout": election_timeout,
            "heartbeat": heartbeat, **more}


def tls_lines(directory, stem, ca=None):
    return ["[tls]", f'certificate = "{directory}/{stem}.pem"', f'key = "{directory}/{stem}.key"',
            f'ca = "{ca or directory}/ca.pem"']


def local(ports):
    """The addresses of nodes 1, 2, ... on these ports of this machine."""
    return {number: f"127.0.0.1:{port}" for number, port in enumerate(ports, 1)}


def config_text(node, peers, data_dir, listen, tls=(), timing=None, **keys):
    """The file of a node. peers: number -> address; keys: as TOML writes their values."""
    lines = [f"node_id = {node}", f'data_dir = "{data_dir}"', f'listen = "{listen}"',
             *(f"{key} = {value}" for key, value in keys.items())]
    for number, address in peers.items():
        lines += ["[[peer]]", f"id = {number}", f'address = "{address}"']
    lines += tls
    if timing:
        lines += ["[timing]", *(f'{key} = "{value}"' for key, value in timing.items())]
    return "\n".join(lines) + "\n"
