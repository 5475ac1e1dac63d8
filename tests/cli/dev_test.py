"""`mortise dev`, as somebody uses it who has just got the program, and `mortise lock`."""

import os
import re
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from program import (INTERRUPTED, OK, PROGRAM, TAKEN, UNAVAILABLE, USAGE, Case, environment,
                     run, start, wait_until)

LOST = 76


class Dev:
    """A running `mortise dev`, and what it has printed until it was ready."""

    def __init__(self, directory, *words):
        self.process = start("dev", *words, TMPDIR=str(directory))
        self.words = ""
        while "all locks stay" not in self.words:
            line = self.process.stdout.readline()
            if not line:
                break
            self.words += line
        self.peers = dict(re.findall(r"export (MORTISE_PEER_LIST)=\"(\S+)\"", self.words))
        self.processes = {int(node): int(pid) for node, pid in
                          re.findall(r"node (\d) .* process (\d+)", self.words)}

    def wait_for(self, text):
        while text not in (line := self.process.stdout.readline()):
            if not line:
                raise EOFError(text)
        return line

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)
        return self.process.returncode


class DevTest(Case):
    def start(self, *words):
        dev = Dev(self.directory, *words)
        self.addCleanup(lambda: dev.process.poll() is None and dev.end())
        self.assertEqual(len(dev.processes), 3, dev.words)
        return dev

    def test_what_it_says_can_be_pasted(self):
        dev = self.start("--port", "0")
        lines = [line[2:] for line in dev.words.splitlines() if line.startswith("  export")]
        lines += [line[2:] for line in dev.words.splitlines() if line.startswith("  /")]
        self.assertEqual([line.split()[1] for line in lines[1:]], ["run", "lock", "locks"])
        script = "\n".join([lines[0], lines[1], f"exec {lines[2]}"])
        with subprocess.Popen(["sh", "-c", script], env=environment(), stdout=subprocess.PIPE,
                              text=True) as shell:
            self.assertEqual(shell.stdout.readline(), "token 1\n")
            self.assertEqual(shell.stdout.readline(), "orders/42 is held, token 2\n")
            shown = subprocess.run(["sh", "-c", "\n".join([lines[0], lines[3]])],
                                   env=environment(), capture_output=True, text=True, check=True)
            self.assertIn("orders/42", shown.stdout)
            shell.send_signal(signal.SIGINT)
            self.assertEqual(shell.wait(60), OK)
        with_console = "console " in dev.words
        self.assertEqual(with_console, "--no-console" in run("dev", "--help").stdout)

    def test_it_leaves_nothing_behind(self):
        dev = self.start("--port", "0")
        self.assertEqual(len(list(self.directory.iterdir())), 1)
        self.assertEqual(dev.end(), OK)
        self.assertEqual(list(self.directory.iterdir()), [])
        self.assertFalse([pid for pid in dev.processes.values() if Path(f"/proc/{pid}").exists()])

    def test_a_lock_stays_when_the_leader_is_killed(self):
        dev = self.start("--port", "0")
        holder = self.keep(start("lock", "orders/42", **dev.peers))
        self.assertEqual(holder.stdout.readline(), "orders/42 is held, token 1\n")
        leader = int(re.search(r"node (\d) leads", dev.words).group(1))
        os.kill(dev.processes[leader], signal.SIGKILL)
        dev.wait_for(f"node {leader} has ended")
        self.assertNotIn(f"node {leader} ", dev.wait_for(" leads"))
        self.assertEqual(run("lock", "orders/42", "--wait", "0s", **dev.peers).returncode, TAKEN)
        dev.wait_for(f"node {leader} starts again")
        wait_until(lambda: run("status", "--ready", **dev.peers).returncode == OK)
        holder.send_signal(signal.SIGTERM)
        self.assertEqual(holder.wait(60), OK)

    def test_a_port_in_use(self):
        first = self.start("--port", "0")
        port = first.peers["MORTISE_PEER_LIST"].split(",")[0].rsplit(":", 1)[1]
        result = run("dev", "--port", port, TMPDIR=str(self.directory))
        self.assertEqual(result.returncode, TAKEN, result.stderr)
        # Others may have the next ports.
        self.assertRegex(result.stderr, r"cannot listen on 127.0.0.1:\d+: Address already in use")


class LockTest(Case):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="mortise-dev-test-")
        cls.addClassCleanup(directory.cleanup)
        cls.dev = Dev(directory.name, "--port", "0")
        cls.addClassCleanup(cls.dev.end)

    def start(self, *words):
        return self.keep(start("lock", *words, **self.dev.peers))

    def test_readers_share_it(self):
        first = self.start("reports", "--shared")
        first.stdout.readline()
        second = self.start("reports", "--shared", "--wait", "0s")
        self.assertIn("reports is held", second.stdout.readline())
        third = run("lock", "reports", "--wait", "0s", **self.dev.peers)
        self.assertEqual((third.returncode, third.stdout), (TAKEN, ""))
        self.assertIn("reports is taken: a client", third.stderr)

    def test_a_loss_ends_it(self):
        for words, reason in (((), "broken"), (("--max-hold", "500ms"), "expired")):
            with self.subTest(reason):
                holder = self.start(f"lost/{reason}", *words)
                token = holder.stdout.readline().split()[-1]
                if not words:
                    run("break", f"lost/{reason}", "--token", token, "--reason", "test",
                        **self.dev.peers)
                self.assertEqual(holder.wait(60), LOST)
                self.assertEqual(holder.stderr.read(),
                                 f"mortise: lost/{reason} is lost: {reason}\n")

    def test_several_are_held_together(self):
        holder = self.start("both/2", "both/1")
        lines = [holder.stdout.readline() for _ in range(2)]
        self.assertRegex("".join(lines), r"both/2 is held, token \d+\nboth/1 is held, token \d+\n")
        third = run("lock", "both/1", "both/3", "--wait", "0s", **self.dev.peers)
        self.assertEqual(third.returncode, TAKEN)
        self.assertEqual(run("lock", "both/3", "--wait", "0s", "--max-hold", "100ms",
                             **self.dev.peers).returncode, LOST)
        run("break", "both/1", "--token", lines[1].split()[-1], "--reason", "test",
            **self.dev.peers)
        self.assertEqual(holder.wait(60), LOST)
        self.assertEqual(holder.stderr.read(),
                         "mortise: both/2 or another of 2 locks is lost: broken\n")

    def test_an_end_before_the_grant(self):
        holder = self.start("waited/for")
        holder.stdout.readline()
        waiter = self.start("waited/for")
        wait_until(lambda: '"waiters": []' not in run("inspect", "waited/for", "--json",
                                                      **self.dev.peers).stdout)
        waiter.send_signal(signal.SIGINT)
        self.assertEqual(waiter.wait(60), INTERRUPTED)

    def test_mistakes(self):
        for words, code in ((("",), USAGE), (("x" * 513,), USAGE),
                            (("a", "--peer", "127.0.0.1:1", "--timeout", "200ms"), UNAVAILABLE)):
            with self.subTest(words):
                self.assertEqual(run("lock", *words, **self.dev.peers).returncode, code)


if __name__ == "__main__":
    assert os.path.isabs(PROGRAM)
    unittest.main(verbosity=2)
