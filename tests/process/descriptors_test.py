"""Real processes with few descriptors, and the effect of unauthenticated connections on them."""

import json
import os
import socket
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from program import (IO_ERROR, OK, PATIENCE, PROGRAM, Case, Cluster, Process,  # noqa: E402
                     config_text, environment, free_ports, run, wait_until)


class Few(Cluster):
    """Three nodes with this limit of descriptors each."""

    def __init__(self, limit):
        super().__init__()
        for node in (1, 2, 3):
            self.keep(Process(["prlimit", f"--nofile={limit}:{limit}", PROGRAM, "node", "--config",
                               self.config(node)], env=environment(),
                              log=self.place / f"errors-{node}"))

    def __enter__(self):
        return self

    def running(self):
        return [node.poll() for node in self.processes]

    def descriptors(self):
        return [len(os.listdir(f"/proc/{node.pid}/fd")) for node in self.processes]

    def reports(self):
        """The status of each node; those that do not answer are left out."""
        answer = run("status", "--json", *self.peers())
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
        for line in few.wait_ready():
            self.assertIn("is ready", line)

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
                for node in few.processes:
                    self.assertNotIn("suspended", node.logged())
                print(f"limit {limit}: {peak} descriptors with {len(silent)} silent connections")
                for one in silent:
                    one.close()

    def test_too_few_are_refused_with_one_line(self):
        with Few(24) as few:
            for node in few.processes:
                self.assertEqual(node.wait(PATIENCE), IO_ERROR)
                self.assertRegex(node.logged(), r"^mortise: [^\n]*24 descriptors[^\n]*\n$")

    def test_few_are_warned_of_once(self):
        with Few(80) as few:
            self.ready(few)
            self.assertEqual(few.processes[0].logged().count("RLIMIT_NOFILE"), 1)


class Closed(Case):
    def test_a_program_without_standard_descriptors_keeps_its_directory_well(self):
        port, = free_ports(1)
        path = self.directory / "node-1.toml"
        path.write_text(config_text(1, [port], self.directory), encoding="utf-8")
        words = ["sh", "-c", f'exec "{PROGRAM}" node --config "{path}" <&- >&- 2>&-']
        node = self.keep(Process(words, env=environment()))
        wait_until(lambda: run("status", "--peer", f"127.0.0.1:{port}").returncode == OK)
        links = [os.readlink(f"/proc/{node.pid}/fd/{number}") for number in (0, 1, 2)]
        self.assertEqual(links, ["/dev/null"] * 3)
        self.assertEqual(node.stop(), OK)
        lock = self.directory / "node-1" / "LOCK"
        self.assertRegex(lock.read_text(encoding="utf-8"), r"^\d+( \d+)?\n$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
