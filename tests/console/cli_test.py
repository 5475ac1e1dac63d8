"""`mortise node --console`, as a user starts it."""

import http.client
import json
import os
import re
import signal
import socket
import sys
import unittest
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
from program import (OK, TAKEN, USAGE, Case, config_text, free_ports, run, start)  # noqa: E402


class Console(Case):
    def setUp(self):
        super().setUp()
        self.config = self.directory / "mortise.toml"
        self.config.write_text(config_text(1, free_ports(1), self.directory), encoding="utf-8")

    def start(self, *words):
        return self.keep(start("node", "--config", self.config, *words))

    def url(self, process):
        line = process.stderr.readline()
        found = re.fullmatch(r"mortise: console at http://([\d.]+):(\d+)/\n", line)
        self.assertTrue(found, line)
        return found[1], int(found[2])

    @staticmethod
    def get(host, port, path):
        connection = http.client.HTTPConnection(host, port, timeout=30)
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def test_it_serves_the_page_and_ends_with_the_node(self):
        process = self.start("--console", "127.0.0.1:0")
        host, port = self.url(process)
        self.assertEqual(host, "127.0.0.1")
        self.assertIn("is ready", process.stdout.readline())
        status, page = self.get(host, port, "/")
        self.assertEqual(status, 200)
        self.assertIn(b"<title>Mortise console</title>", page)
        status, told = self.get(host, port, "/api/v1/status")
        told = json.loads(told)
        self.assertEqual((status, told["node"]["ready"]), (200, True))
        self.assertTrue(told["console"]["may_break"])
        self.assertEqual(process.stop(30), OK)
        with self.assertRaises(OSError):
            self.get(host, port, "/")

    def test_without_an_address_it_has_its_usual_one(self):
        process = self.start("--console")
        line = process.stderr.readline()
        # Another test, or somebody who works here, may have a console.
        self.assertIn("127.0.0.1:7480", line)

    def test_without_the_option_there_is_none(self):
        process = self.start()
        self.assertIn("is ready", process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=30)
        self.assertEqual(out, "")
        # Its first start waits for members that know it.
        self.assertEqual([line for line in errors.splitlines() if "not ready" not in line], [])

    def test_other_machines_are_let_in_only_if_that_is_said(self):
        refused = run("node", "--config", self.config, "--console", "0.0.0.0:0")
        self.assertEqual(refused.returncode, USAGE)
        self.assertIn("--console-remote", refused.stderr)
        self.assertEqual(refused.stderr.count("\n"), 1)
        process = self.start("--console", "0.0.0.0:0", "--console-remote")
        self.assertIn("which other machines reach", process.stderr.readline())
        host, port = self.url(process)
        told = json.loads(self.get(host, port, "/api/v1/status")[1])
        self.assertFalse(told["console"]["may_break"])

    def test_mistakes_are_told_in_one_line(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            for words, code, text in (
                    (["--console", "7480"], USAGE, "ADDRESS:PORT"),
                    (["--console", "localhost"], USAGE, "ADDRESS:PORT"),
                    (["--console-remote"], USAGE, "--console"),
                    (["--console", "127.0.0.1:0", "--console-host", "http://a.example"], USAGE,
                     "http://a.example"),
                    (["--console", address], TAKEN, address)):
                with self.subTest(words=words):
                    result = run("node", "--config", self.config, *words)
                    self.assertEqual(result.returncode, code, result.stderr)
                    self.assertIn(text, result.stderr)
                    self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                    opened = (self.config.parent / "node-1").exists()
                    self.assertEqual(opened, code == TAKEN, "no node before that")


class Page(unittest.TestCase):
    """docs/console.md."""

    def test_names_every_error_that_the_console_answers_with(self):
        root = Path(__file__).resolve().parents[2]
        page = (root / "docs/console.md").read_text(encoding="utf-8")
        table = page[page.index("**Errors**"):page.index("The names in `error`")]
        words = {word for file in (root / "embed/console").glob("*.cpp")
                 for word in re.findall(r'\{\s*(?:\d{3}|status), "([a-z_]+)"',
                                        file.read_text(encoding="utf-8"))}
        self.assertGreater(len(words), 10)
        self.assertEqual(words - set(re.findall(r"`([a-z_]+)`", table)), set())


if __name__ == "__main__":
    unittest.main()
