"""`mortise top` against a cluster, printed once and on a terminal."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from program import (HOLDER, OK, PROGRAM, UNAVAILABLE, Case, Cluster, environment, free_ports, run,
                     wait_until)

BEGIN, END = b"\x1b[?1049h", b"\x1b[?1049l"
HOME = b"\x1b[H"  # in front of each frame


class Terminal:
    """The program with a terminal of its own."""

    def __init__(self, words, columns=100, rows=30):
        self.master, slave = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.said = b""
        self.process = subprocess.Popen(
            [PROGRAM, *words], stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            env=environment(TERM="xterm", LANG="C.UTF-8"),
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def resize(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        while select.select([self.master], [], [], 0.05)[0]:
            self.said += os.read(self.master, 65536)
        return self.said

    def type(self, text):
        os.write(self.master, text)

    def wait(self, patience=10):
        end = time.monotonic() + patience
        while self.process.poll() is None and time.monotonic() < end:
            self.read()
        self.read()
        return self.process.poll()

    def is_as_before(self):
        return termios.tcgetattr(self.slave) == self.before and self.said.endswith(END)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


class Top(Case):
    @classmethod
    def setUpClass(cls):
        # The holder has the lock orders/42, and waits for it a second time.
        cls.cluster = Cluster(last=HOLDER, does=["one"], session_ttl="20s")
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.cluster.wait_ready()
        wait_until(lambda: cls.activity()["waiters"] == 1)

    @classmethod
    def activity(cls, *words):
        return json.loads(run("top", "--json", *words, *cls.cluster.peers()).stdout)

    def on_a_terminal(self, *words):
        terminal = Terminal(["top", *words, *self.cluster.peers()])
        self.addCleanup(terminal.close)
        wait_until(lambda: b"orders/42" in terminal.read())
        return terminal

    def test_it_prints_one_frame_without_a_terminal(self):
        for words in ((), ("--once",)):
            result = run("top", *words, *self.cluster.peers())
            self.assertEqual((result.returncode, result.stderr), (OK, ""))
            self.assertRegex(result.stdout, r"leader \d, 3 members, \d+ sessions?, \d+ names?\n"
                                            r"1 waiter for 1 name, oldest wait \d")
            self.assertRegex(result.stdout, r"(?m)^orders/42 +lock +1 +1 +\d")
            self.assertRegex(result.stdout, r"(?m)^grants/s ")
            self.assertNotIn("\x1b", result.stdout)

    def test_json_has_all_of_it(self):
        told = self.activity()
        self.assertEqual(told["members"], 3)
        self.assertEqual([name["name"] for name in told["hottest"]], ["orders/42"])
        self.assertGreaterEqual(told["recent"]["grants"], 1)
        self.assertGreaterEqual(len(told["slots"]), 1)

    def test_a_prefix_narrows_the_names(self):
        self.assertEqual(self.activity("--prefix", "jobs/")["hottest"], [])
        self.assertEqual(len(self.activity("--prefix", "orders/")["hottest"]), 1)
        result = run("top", "--once", "--prefix", "jobs/", *self.cluster.peers())
        self.assertIn("nobody waits for a name that begins with jobs/", result.stdout)

    def test_a_key_ends_it_and_nothing_is_left(self):
        terminal = self.on_a_terminal()
        self.assertTrue(terminal.said.startswith(BEGIN))
        self.assertNotEqual(termios.tcgetattr(terminal.slave), terminal.before)
        terminal.type(b"x")
        frames = terminal.read().count(HOME)
        wait_until(lambda: terminal.read().count(HOME) >= frames + 2)  # it goes on
        self.assertIsNone(terminal.process.poll())
        terminal.type(b"q")
        self.assertEqual(terminal.wait(), OK)
        self.assertTrue(terminal.is_as_before())

    def test_signals_and_the_interrupt_key_end_it_as_well(self):
        for end in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, b"\x03"):
            terminal = self.on_a_terminal()
            if isinstance(end, bytes):
                terminal.type(end)
            else:
                terminal.process.send_signal(end)
            self.assertEqual(terminal.wait(), OK, end)
            self.assertTrue(terminal.is_as_before(), end)

    def test_it_gives_the_terminal_back_while_it_is_stopped(self):
        terminal = self.on_a_terminal()
        terminal.process.send_signal(signal.SIGTSTP)
        wait_until(lambda: terminal.read().endswith(END))
        self.assertTrue(terminal.is_as_before())
        seen = len(terminal.said)
        terminal.process.send_signal(signal.SIGCONT)
        wait_until(lambda: b"orders/42" in terminal.read()[seen:])
        terminal.type(b"q")
        self.assertEqual(terminal.wait(), OK)

    def test_it_follows_the_size_of_the_terminal(self):
        terminal = self.on_a_terminal()
        terminal.resize(30, 12)

        def fits():
            frame = terminal.read().rpartition(HOME)[2].decode()
            lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", frame).split("\r\n")
            return len(lines) <= 12 and max(map(len, lines)) <= 30
        wait_until(fits)

    def test_without_a_member_it_says_so(self):
        result = run("top", "--peer", f"127.0.0.1:{free_ports(1)[0]}", "--timeout", "1s")
        self.assertEqual(result.returncode, UNAVAILABLE)
        self.assertIn("no member answered", result.stderr)


class TopWhileTheClusterEnds(Case):
    def test_it_goes_on_with_what_it_knows(self):
        cluster = Cluster(last=HOLDER, does=["one"], session_ttl="20s")
        cluster.__enter__()
        self.addCleanup(cluster.__exit__)
        cluster.wait_ready()
        terminal = Terminal(["top", *cluster.peers()])
        self.addCleanup(terminal.close)
        wait_until(lambda: b"orders/42" in terminal.read())
        for process in cluster.processes:
            process.kill()
        wait_until(lambda: b"no member answered" in terminal.read())
        self.assertIn(b"orders/42", terminal.said.rpartition(b"\x1b[H")[2])
        terminal.type(b"q")
        self.assertEqual(terminal.wait(), OK)
        self.assertTrue(terminal.is_as_before())


if __name__ == "__main__":
    unittest.main()
