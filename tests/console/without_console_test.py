"""A program without the console, as the static one is: without_console_test.py PROGRAM."""

import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
from program import OK, USAGE, config_text, free_ports, run  # noqa: E402


class WithoutConsole(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="mortise-no-console-")
        self.addCleanup(directory.cleanup)
        self.folder = Path(directory.name)
        self.config = self.folder / "mortise.toml"
        self.config.write_text(config_text(1, free_ports(1), directory.name), encoding="utf-8")

    def test_it_says_so_in_one_line_and_opens_nothing(self):
        for words in (["--console"], ["--console", "127.0.0.1:0"],
                      ["--console", "0.0.0.0:0", "--console-remote", "--console-host", "here"]):
            with self.subTest(words=words):
                result = run("node", "--config", self.config, *words)
                self.assertEqual((result.returncode, result.stdout), (USAGE, ""))
                self.assertRegex(result.stderr, r"\Amortise: .*without the console.*\n\Z")
                self.assertEqual(list(self.folder.iterdir()), [self.config])

    def test_it_does_not_show_the_options(self):
        for words in (["node", "--help"], ["man", "node"]):
            result = run(*words)
            self.assertEqual(result.returncode, OK, result.stderr)
            self.assertIn("--config", result.stdout.replace("\\-", "-"))
            self.assertNotIn("console", result.stdout)


if __name__ == "__main__":
    unittest.main()
