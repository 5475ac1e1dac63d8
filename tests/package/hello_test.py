#!/usr/bin/env python3
"""A smallest program, linked as a Makefile would do it: hello_test.py STAGE CONFIG CC CXX.

How large it is, and that `pkg-config --static` names everything that the static library needs.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STAGE = Path(sys.argv.pop(1)).resolve()
CONFIG, CC, CXX = (sys.argv.pop(1) for _ in range(3))
SOURCES = Path(__file__).resolve().parents[1] / "consume"
# Stripped, in bytes. What Debian's shared libraries have, such as RocksDB's 11 MB, is not in it.
BYTES_MAX = 5_000_000 if CONFIG == "Debug" else 4_000_000


def output(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=True, **options).stdout


def flags(*words):
    found, = STAGE.rglob("mortise.pc")
    return output("pkg-config", *words, "mortise",
                  env={**os.environ, "PKG_CONFIG_PATH": str(found.parent)}).split()


class Hello(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="mortise-hello-")
        self.addCleanup(directory.cleanup)
        self.program = Path(directory.name) / "hello"

    def test_in_c(self):
        output(CC, "-std=c11", SOURCES / "main.c", "-o", self.program,
               *flags("--cflags", "--libs", "--static"))
        self.assertIn("held consume", output(self.program))

    def test_in_cxx_and_it_is_small(self):
        output(CXX, "-std=c++20", "-O2", SOURCES / "main.cpp", "-o", self.program,
               "-Wl,--gc-sections", *flags("--cflags", "--libs", "--static"))
        self.assertIn("held consume", output(self.program))
        whole = self.program.stat().st_size
        subprocess.run(["strip", self.program], check=True)
        size = self.program.stat().st_size
        print(f"{size} bytes stripped, {whole} with what is for debuggers")
        self.assertIn("held consume", output(self.program))
        self.assertLess(size, BYTES_MAX)


if __name__ == "__main__":
    unittest.main(verbosity=2)
