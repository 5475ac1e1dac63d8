#!/usr/bin/env python3
"""The static program in a folder that has nothing else: static_test.py PROGRAM.

Without root, or without namespaces, only what the program consists of is looked at.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from bare_root import Root, why_not

PROGRAM = Path(sys.argv.pop(1)).resolve()
# 20.8 MB in November 2026, of which RocksDB and OpenSSL are two thirds.
BYTES_MAX = 24_000_000


def read_elf(option):
    return subprocess.run(["readelf", "--wide", option, PROGRAM], capture_output=True, text=True,
                          check=True, env={**os.environ, "LC_ALL": "C"}).stdout


class Content(unittest.TestCase):
    def test_it_needs_no_library_and_no_loader(self):
        self.assertNotIn("NEEDED", read_elf("--dynamic"))
        self.assertNotIn("INTERP", read_elf("--program-headers"))

    def test_it_may_be_anywhere_in_memory(self):
        self.assertRegex(read_elf("--file-header"), r"Type: +DYN")
        self.assertRegex(read_elf("--dynamic"), r"\(FLAGS_1\) +Flags: .*\bPIE\b")
        self.assertIn("GNU_RELRO", read_elf("--program-headers"))

    def test_it_is_not_large(self):
        size = PROGRAM.stat().st_size
        print(f"{size} bytes")
        self.assertLess(size, BYTES_MAX)


@unittest.skipIf(why_not(), why_not())
class Bare(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="mortise-bare-")
        self.addCleanup(directory.cleanup)
        self.root = Root.empty(directory.name)
        shutil.copy(PROGRAM, self.root.path / "bin" / "mortise")

    def test_it_says_its_version_and_explains_itself(self):
        self.assertRegex(self.root.run("/bin/mortise", "--version").stdout, r"^mortise \d")
        self.assertIn("demo", self.root.run("/bin/mortise", "--help").stdout)

    def test_it_says_that_it_has_no_console(self):
        variables = {"MORTISE_NODE_ID": "1", "MORTISE_DATA_DIR": "/tmp/node",
                     "MORTISE_LISTEN": "127.0.0.1:7401", "MORTISE_PEER_LIST": "1=127.0.0.1:7401"}
        done = self.root.run("/bin/mortise", "node", "--console", check=False, **variables)
        self.assertEqual(done.returncode, 64)
        self.assertRegex(done.stderr, r"\Amortise: .*without the console.*\n\Z")
        self.assertNotIn("console", self.root.run("/bin/mortise", "node", "--help").stdout)

    def test_the_demonstration(self):
        done = self.root.run("/bin/mortise", "demo", timeout=200)
        self.assertIn("verdict: ", done.stdout)

    def test_three_nodes_with_names_for_addresses(self):
        """A shell of busybox is the only other thing there; /etc/hosts is read by the program."""
        busybox = shutil.which("busybox")
        self.assertIsNotNone(busybox, "the package busybox-static has it")
        shutil.copy(busybox, self.root.path / "bin" / "busybox")
        (self.root.path / "etc").mkdir()
        (self.root.path / "etc" / "hosts").write_text("127.0.0.1 one two three\n")
        peers = "1=one:7401,2=two:7402,3=three:7403"
        script = """
            peers=$1
            for node in 1 2 3; do
                MORTISE_NODE_ID=$node MORTISE_DATA_DIR=/tmp/node-$node MORTISE_PEER_LIST=$peers \\
                    MORTISE_LISTEN=127.0.0.1:740$node /bin/mortise node &
            done
            export MORTISE_PEER_LIST=$peers
            tries=0
            until /bin/mortise status --ready; do
                tries=$((tries + 1))
                [ $tries -lt 60 ] || exit 1
                /bin/busybox sleep 0.5
            done
            /bin/mortise members
        """
        done = self.root.run("/bin/busybox", "sh", "-c", script, "sh", peers)
        rows = re.findall(r"^ *\d+ .*voter.*$", done.stdout, re.MULTILINE)
        self.assertGreaterEqual(len(rows), 3, done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
