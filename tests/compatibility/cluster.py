"""The nodes whose directories are kept: 1 to 3 vote, 4 and 5 are learners with programs."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

# program takes the first two arguments.
from program import (HOLDER as STATE, OK, PROGRAM, environment, free_ports,  # noqa: E402
                     run, wait_until)

NODES = (1, 2, 3, 4, 5)
ARCHIVE = "directories.tar.xz"
EXPECTED = "expected.json"
CLUSTER = "compatibility"


def dump(directory):
    """Everything that the program says about a directory."""
    done = run("dump", directory, "--json", "--log")
    assert done.returncode == OK, done.stderr
    return json.loads(done.stdout)


class Members:
    def __init__(self, directory):
        self.directory = Path(directory)
        self.ports = free_ports(len(NODES))
        self.processes = {}

    def config(self, node):
        lines = [f'cluster = "{CLUSTER}"', f"node_id = {node}",
                 f'data_dir = "{self.directory}/node-{node}"',
                 f'listen = "127.0.0.1:{self.ports[node - 1]}"']
        if node > 3:
            lines.append('role = "learner"')
        for number in (1, 2, 3):
            lines += ["[[peer]]", f"id = {number}",
                      f'address = "127.0.0.1:{self.ports[number - 1]}"']
        path = self.directory / f"node-{node}.toml"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def start(self, node, *words):
        """The program itself, or state.cpp with these words."""
        config = self.config(node)
        command = [STATE, config, *words] if words else [PROGRAM, "node", "--config", config]
        self.processes[node] = subprocess.Popen(
            list(map(str, command)), env=environment(), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def line(self, node, beginning):
        for line in self.processes[node].stdout:
            if line.startswith(beginning):
                return line.split()
            assert not line.startswith(("failed", "ended")), line
        raise AssertionError(f"node {node} has ended")

    def peer(self, node):
        return ("--peer", f"127.0.0.1:{self.ports[node - 1]}")

    def is_ready(self, *nodes):
        return all(run("status", "--ready", *self.peer(node)).returncode == OK for node in nodes)

    def ask(self, *words):
        done = run(*words, "--json", *self.peer(2))
        return json.loads(done.stdout) if done.returncode == OK else None

    def add(self, node):
        self.change("add", node)

    def move(self, node):
        """The log has its former address."""
        self.change("move", node)

    def change(self, what, node):
        done = run("members", what, node, f"127.0.0.1:{self.ports[node - 1]}", *self.peer(1))
        assert done.returncode == OK, done.stderr

    def kill(self, *nodes):
        for node in nodes:
            process = self.processes.pop(node)
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


def temporary():
    return tempfile.TemporaryDirectory(prefix="mortise-compatibility-")
