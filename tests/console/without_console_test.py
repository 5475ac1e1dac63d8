"""A program without the console, as the static one is: without_console_test.py PROGRAM."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
from program import OK, USAGE, Case, config_text, free_ports, run  # noqa: E402


class WithoutConsole(Case):
    def setUp(self):
        super().setUp()
        self.config = self.directory / "mortise.toml"
        self.config.write_text(config_text(1, free_ports(1), self.directory), encoding="utf-8")

    def test_it_says_so_in_one_line_and_opens_nothing(self):
        for words in (["--console"], ["--console", "127.0.0.1:0"],
                      ["--console", "0.0.0.0:0", "--console-remote", "--console-host", "here"]):
            with self.subTest(words=words):
                result = run("node", "--config", self.config, *words)
                self.assertEqual((result.returncode, result.stdout), (USAGE, ""))
                self.assertRegex(result.stderr, r"\Amortise: .*without the console.*\n\Z")
                self.assertEqual(list(self.directory.iterdir()), [self.config])

    def test_nor_has_it_the_door_for_http(self):
        result = run("node", "--config", self.config, "--http", "127.0.0.1:0")
        self.assertEqual((result.returncode, result.stdout), (USAGE, ""))
        self.assertRegex(result.stderr, r"\Amortise: --http: .*built without it.*\n\Z")
        self.assertEqual(list(self.directory.iterdir()), [self.config])

    def test_it_does_not_show_the_options(self):
        for words in (["node", "--help"], ["man", "node"]):
            result = run(*words)
            self.assertEqual(result.returncode, OK, result.stderr)
            self.assertIn("--config", result.stdout.replace("\\-", "-"))
            self.assertNotIn("console", result.stdout)
            self.assertNotIn("--http", result.stdout.replace("\\-", "-"))


if __name__ == "__main__":
    unittest.main()
