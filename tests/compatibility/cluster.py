"""The nodes whose directories are kept: 1 to 3 vote, 4 and 5 are learners with programs."""

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

# program takes the first two arguments.
from program import (HOLDER as STATE, OK, PROGRAM, Members, Talker, environment,  # noqa: E402
                     harness, local, run)

NODES = (1, 2, 3, 4, 5)
ARCHIVE = "directories.tar.xz"
EXPECTED = "expected.json"


def dump(directory):
    """Everything that the program says about a directory."""
    done = run("dump", directory, "--json", "--log")
    assert done.returncode == OK, done.stderr
    return json.loads(done.stdout)


class Kept(Members):
    size = len(NODES)

    def __init__(self, place=None):
        self.prepare(place)

    def config(self, node):
        every = local(self.ports)
        text = harness.config_text(
            node, {number: every[number] for number in (1, 2, 3)}, self.data(node), every[node],
            cluster='"compatibility"', role='"learner"' if node > 3 else '"voter"')
        return self.write_config(text, f"node-{node}")

    def start(self, node, *words):
        """The program itself, or state.cpp with these words."""
        program = [STATE] if words else [PROGRAM, "node", "--config"]
        self.keep(Talker([*program, self.config(node), *words], env=environment()), node)

    def is_ready(self, *nodes):
        return all(run("status", "--ready", *self.peers(node)).returncode == OK for node in nodes)

    def ask(self, *words):
        done = run(*words, "--json", *self.peers(2))
        return json.loads(done.stdout) if done.returncode == OK else None

    def change(self, what, node):
        done = run("members", what, node, self.address(node), *self.peers(1))
        assert done.returncode == OK, done.stderr
