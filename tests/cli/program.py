"""The program under test, and clusters of it."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from free_ports import free_ports  # noqa: E402,F401  for those who import this

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "mortise"
# A program that links the library: see holder.cpp. Only for tests that get it as an argument.
HOLDER = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else None
PATIENCE = 60  # seconds; nothing here takes this long unless it hangs

READER_GONE = 141
OK, FAILED, USAGE, DATA_ERROR, NO_INPUT, UNAVAILABLE, EXISTS, IO_ERROR, TAKEN, DENIED, CONFIG = (
    0, 1, 64, 65, 66, 69, 73, 74, 75, 77, 78)
INTERRUPTED = 130


WITH_TLS = os.environ.get("MORTISE_TESTING_TLS") == "1"
# For the cluster under test; the user of the program is its administrator.
CREDENTIALS = {}


def environment(**more):
    plain = {key: value for key, value in os.environ.items() if not key.startswith("MORTISE_")}
    return plain | CREDENTIALS | more


def run(*words, **variables):
    return subprocess.run([PROGRAM, *map(str, words)], env=environment(**variables),
                          capture_output=True, text=True, timeout=PATIENCE, check=False)


def start(*words, **variables):
    return start_program(PROGRAM, *words, **variables)


def start_program(program, *words, **variables):
    return subprocess.Popen([program, *map(str, words)], env=environment(**variables),
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


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
    return ["[tls]", f'certificate = "{directory}/node-{node}.pem"',
            f'key = "{directory}/node-{node}.key"', f'ca = "{directory}/ca.pem"']


def config_text(node, ports, directory, session_ttl="3s", **keys):
    lines = [f'node_id = {node}', f'data_dir = "{directory}/node-{node}"',
             f'listen = "127.0.0.1:{ports[node - 1]}"']
    lines += [f"{key} = {value}" for key, value in keys.items()]
    for number, port in enumerate(ports, 1):
        lines += ["[[peer]]", f"id = {number}", f'address = "127.0.0.1:{port}"']
    lines += certificates(node, directory)
    lines += ["[timing]", f'session_ttl = "{session_ttl}"', 'election_timeout = "500ms"',
              'heartbeat = "50ms"']
    return "\n".join(lines) + "\n"


class Cluster:
    """Three processes of `mortise node`; the last may be another program."""

    def __init__(self, size=3, last=None, does=(), session_ttl="3s"):
        self.session_ttl = session_ttl
        self.last = last
        self.does = does
        self.directory = tempfile.TemporaryDirectory(prefix="mortise-cli-test-")
        self.ports = free_ports(size)
        self.processes = []

    def config(self, node):
        path = Path(self.directory.name) / f"node-{node}.toml"
        text = config_text(node, self.ports, self.directory.name, self.session_ttl)
        path.write_text(text, encoding="utf-8")
        return path

    def peers(self):
        return [word for port in self.ports for word in ("--peer", f"127.0.0.1:{port}")]

    def __enter__(self):
        try:
            plain = len(self.ports) if self.last is None else len(self.ports) - 1
            for node in range(1, plain + 1):
                self.processes.append(start("node", "--config", self.config(node)))
            if self.last is not None:
                self.processes.append(start_program(self.last, self.config(len(self.ports)),
                                                    *self.does))
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

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        self.directory.cleanup()


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


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("waited in vain")
        time.sleep(0.05)
