"""The program under test, and clusters of it."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import harness  # noqa: E402
from harness import (PATIENCE, Case, Members, Process, Talker, free_ports, local,  # noqa: E402,F401
                     times, tls_lines, wait_until)
from machine import can_boot  # noqa: E402,F401

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "mortise"
# A program that links the library: see holder.cpp. Only for tests that get it as an argument.
HOLDER = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else None

READER_GONE = 141
OK, FAILED, USAGE, DATA_ERROR, NO_INPUT, UNAVAILABLE, EXISTS, IO_ERROR, TAKEN, DENIED, CONFIG = (
    0, 1, 64, 65, 66, 69, 73, 74, 75, 77, 78)
INTERRUPTED = 130


WITH_TLS = os.environ.get("MORTISE_TESTING_TLS") == "1"
# For the cluster under test; the user of the program is its administrator.
CREDENTIALS = {}


def environment(credentials=True, **more):
    plain = {key: value for key, value in os.environ.items()
             if not key.startswith("MORTISE_") or key == "MORTISE_MUTANT"}
    return plain | (CREDENTIALS if credentials else {}) | more


def asks(words):
    """A node and the doctor would take the credentials for their own."""
    return str(words[0]) not in ("node", "doctor") if words else True


def run(*words, within=(), **variables):
    """`within`: the beginning of a command that runs it, such as that of a network namespace."""
    return subprocess.run([*within, PROGRAM, *map(str, words)],
                          env=environment(asks(words), **variables), capture_output=True, text=True,
                          timeout=harness.PATIENCE, check=False)


def start(*words, **options):
    """Options in capitals are variables of its environment."""
    variables = {key: options.pop(key) for key in list(options) if key.isupper()}
    return Process([PROGRAM, *words], env=environment(asks(words), **variables), **options)


def certificates(node, directory):
    """The lines of [tls] for a node, whose certificate is made if it is missing."""
    if not WITH_TLS:
        return []
    directory = Path(directory)
    issue = ("cert", "issue", "--dir", directory)
    if not (directory / "ca.pem").exists():
        run("cert", "init", "--cluster", "mortise", "--dir", directory).check_returncode()
        run(*issue, "--user", "tester", "--role", "admin").check_returncode()
        for key, name in (("CERTIFICATE", "user-tester.pem"), ("KEY", "user-tester.key"),
                          ("CA", "ca.pem")):
            CREDENTIALS[f"MORTISE_TLS_{key}"] = str(directory / name)
    if not (directory / f"node-{node}.pem").exists():
        run(*issue, "--node", node).check_returncode()
    return tls_lines(directory, f"node-{node}")


def config_text(node, ports, directory, session_ttl="3s", peers=None, data_dir=None, listen=None,
                timing=None, **keys):
    """`peers`: the numbers of those that are listed, if not all."""
    every = local(ports)
    return harness.config_text(
        node, {number: every[number] for number in peers or every},
        data_dir or f"{directory}/node-{node}", listen or every[node],
        certificates(node, directory), times(session_ttl) if timing is None else timing, **keys)


class Cluster(Members):
    """Three processes of `mortise node`; the last may be another program."""

    def __init__(self, size=3, last=None, does=(), session_ttl="3s"):
        self.size = size
        self.session_ttl = session_ttl
        self.last = last
        self.does = does
        self.prepare()

    def config(self, node):
        return self.write_config(config_text(node, self.ports, self.place, self.session_ttl),
                                 f"node-{node}")

    def __enter__(self):
        try:
            for node in range(1, self.size + 1):
                does = [PROGRAM, "node", "--config", self.config(node)]
                if node == self.size and self.last is not None:
                    does = [self.last, self.config(node), *self.does]
                self.keep(Process(does, env=environment(credentials=False)))
        except BaseException:
            self.__exit__()
            raise
        return self

    def wait_ready(self):
        return [process.stdout.readline() for process in self.processes]

    def end(self, how=signal.SIGTERM):
        for process in self.processes:
            process.send_signal(how)
        return [process.wait(PATIENCE) for process in self.processes]


def full_pipe():
    """Its ends; whoever writes into it waits."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    for piece in (4096, 1):
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b"x" * piece)
    os.set_blocking(writer, True)
    return reader, writer
