"""What the tests of the Python package share: the package in the folder that the first argument
names, with the library that the second one names, and a node."""

import os
import subprocess
import sys
from pathlib import Path

FOLDER, LIBRARY = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
os.environ["MORTISE_LIBRARY"] = LIBRARY
sys.path.insert(0, FOLDER)
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import mortise  # noqa: E402  pylint: disable=wrong-import-position
from harness import (PATIENCE, Case, Process, config_text, free_ports, local,  # noqa: E402,F401
                     wait_until as wait_for)  # for those who import this


def open_node():
    config = mortise.Config.in_memory()
    config.set_log(mortise.LogLevel.OFF)
    node = mortise.Node(config)
    node.wait_ready(PATIENCE)
    return node


def run(program, **environment):
    """How a program ended that imports the package."""
    return subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": FOLDER, **environment},
                          timeout=PATIENCE, check=False)


class ProcessesOfPython(Case):
    """This process has node 1, and the test starts its script again for nodes 2 and 3."""

    def setUp(self):
        super().setUp()
        self.folder = str(self.directory)
        self.log = f"{self.folder}/log"
        every = local(free_ports(3))
        for number in every:
            (self.directory / f"{number}.toml").write_text(
                config_text(number, every, f"{self.folder}/{number}", every[number]),
                encoding="utf-8")

    def start(self, number, what):
        return self.keep(Process([sys.executable, sys.argv[0], FOLDER, LIBRARY, "--process", what,
                                  f"{self.folder}/{number}.toml", self.log], stderr=None))
