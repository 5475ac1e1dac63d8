"""One process of a cluster that obeys lines on its standard input."""

import subprocess
from pathlib import Path

from program import environment


class Member:
    def __init__(self, program, config, before_start=None):
        self.errors = open(f"{config}.errors", "w+", encoding="utf-8")
        self.process = subprocess.Popen([program, config], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=self.errors,
                                        env=environment(), preexec_fn=before_start)

    def expect(self, beginning):
        line = self.process.stdout.readline().rstrip("\n")
        assert line.startswith(beginning), f"{line!r} instead of {beginning!r}"
        return line.split()[1:]

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, line, beginning):
        self.tell(line)
        return self.expect(beginning)

    def said(self, words):
        self.errors.flush()
        return words in Path(self.errors.name).read_text(encoding="utf-8")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()
