"""Nodes as a deployment starts them, on this machine: other addresses, other folders."""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from program import PROGRAM, environment  # noqa: E402

TREE = Path(__file__).resolve().parents[2]


class Deployed:
    """Processes that are ended when the test is over."""

    def __init__(self, test, directory):
        self.directory = Path(directory)
        self.processes = []
        test.addCleanup(self.end)

    def start(self, *words, **variables):
        number = len(self.processes)
        with open(self.directory / f"output-{number}", "wb") as output:
            self.processes.append(subprocess.Popen(
                [PROGRAM, *map(str, words)], env=environment(**variables), stdout=output,
                stderr=output, stdin=subprocess.DEVNULL))

    def said(self):
        return "\n".join(path.read_text(encoding="utf-8")
                         for path in sorted(self.directory.glob("output-*")))

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            process.wait(60)
