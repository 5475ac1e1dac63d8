"""Real processes with few descriptors, and the effect of unauthenticated connections on them."""

import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from program import (IO_ERROR, OK, PATIENCE, PROGRAM, config_text, environment,  # noqa: E402
                     free_ports, run, wait_until)


class Few:
    """Three nodes with this limit of descriptors each."""

    def __init__(self, limit):
        self.limit = limit
        self.directory = tempfile.TemporaryDirectory(prefix="mortise-few-")
        self.ports = free_ports(3)
        self.nodes = [self.start(node) for node in (1, 2, 3)]

    def start(self, node):
        path = Path(self.directory.name) / f"node-{node}.toml"
        path.write_text(config_text(node, self.ports, self.directory.name), encoding="utf-8")
        errors = open(Path(self.directory.name) / f"errors-{node}", "w", encoding="utf-8")
        with errors:
            return subprocess.Popen(
                [PROGRAM, "node", "--config", path], env=environment(), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=errors, text=True, preexec_fn=self.bound)

    def bound(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (self.limit, self.limit))

    def said(self, node):
        path = Path(self.directory.name) / f"errors-{node}"
        return path.read_text(encoding="utf-8")

    def running(self):
        return [node.poll() for node in self.nodes]

    def descriptors(self):
        return [len(os.listdir(f"/proc/{node.pid}/fd")) for node in self.nodes]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            if node.poll() is None:
                node.kill()
            node.wait()
            node.stdout.close()
        self.directory.cleanup()

    def reports(self):
        """The status of each node; those that do not answer are left out."""
        peers = [word for port in self.ports for word in ("--peer", f"127.0.0.1:{port}")]
        answer = run("status", "--json", *peers)
        found = json.loads(answer.stdout) if answer.stdout else []
        return [report["status"] for report in found if report.get("status")]

    def goes_on_from(self, commit):
        reports = self.reports()
        return len(reports) == 3 and all(
            report["ready"] and report["commit_index"] > commit for report in reports)


def crowd(ports, each):
    """Connections that say nothing."""
    sockets = []
    for port in ports:
        for _ in range(each):
            one = socket.socket()
            one.settimeout(2)
            try:
                one.connect(("127.0.0.1", port))
                sockets.append(one)
            except OSError:  # its queue is full
                one.close()
    return sockets


class Descriptors(unittest.TestCase):
    def ready(self, few):
        for node in few.nodes:
            self.assertIn("is ready", node.stdout.readline())

    def test_silent_strangers_stop_nobody(self):
        for limit in (40, 64, 96, 256):
            with self.subTest(limit=limit), Few(limit) as few:
                self.ready(few)
                silent = crowd(few.ports, 300)
                peak = few.descriptors()
                # With all members running, and sessions renewed meanwhile.
                wait_until(lambda few=few: few.goes_on_from(0))
                commit = max(report["commit_index"] for report in few.reports())
                wait_until(lambda few=few, commit=commit: few.goes_on_from(commit))
                self.assertEqual(few.running(), [None] * 3)
                for node in (1, 2, 3):
                    self.assertNotIn("suspended", few.said(node))
                print(f"limit {limit}: {peak} descriptors with {len(silent)} silent connections")
                for one in silent:
                    one.close()

    def test_too_few_are_refused_with_one_line(self):
        with Few(24) as few:
            for number, node in enumerate(few.nodes, 1):
                self.assertEqual(node.wait(PATIENCE), IO_ERROR)
                self.assertRegex(few.said(number), r"^mortise: [^\n]*24 descriptors[^\n]*\n$")

    def test_few_are_warned_of_once(self):
        with Few(80) as few:
            self.ready(few)
            self.assertEqual(few.said(1).count("RLIMIT_NOFILE"), 1)


class Closed(unittest.TestCase):
    def test_a_program_without_standard_descriptors_keeps_its_directory_well(self):
        with tempfile.TemporaryDirectory(prefix="mortise-closed-") as directory:
            port, = free_ports(1)
            path = Path(directory) / "node-1.toml"
            path.write_text(config_text(1, [port], directory), encoding="utf-8")
            words = ["sh", "-c", f'exec "{PROGRAM}" node --config "{path}" <&- >&- 2>&-']
            node = subprocess.Popen(words, env=environment())
            try:
                wait_until(lambda: run("status", "--peer", f"127.0.0.1:{port}").returncode == OK)
                links = [os.readlink(f"/proc/{node.pid}/fd/{number}") for number in (0, 1, 2)]
                self.assertEqual(links, ["/dev/null"] * 3)
            finally:
                node.terminate()
                self.assertEqual(node.wait(PATIENCE), OK)
            lock = Path(directory) / "node-1" / "LOCK"
            self.assertRegex(lock.read_text(encoding="utf-8"), r"^\d+( \d+)?\n$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
