"""What `mortise run` does with processes, signals and terminals; see run_here.cpp."""

import contextlib
import ctypes
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from program import PROGRAM as RUN_HERE
from program import Case, Process, full_pipe, wait_until

PATIENCE = 30
BUSY, LOST = 75, 76


def words_of(command, how="free", max_hold="none", grace="100ms", wait="none"):
    return [RUN_HERE, how, max_hold, grace, wait, "--", *command]


def shell(script):
    return ["sh", "-c", script]


def state_of(pid):
    """A letter of proc(5): T is stopped, Z and X have ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    return "X"


def is_alive(pid):
    return state_of(pid) not in ("Z", "X")


def children_of(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()


class Run(Case):
    def run_here(self, command, **options):
        return subprocess.run(words_of(command, **options), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)

    def start(self, command, **options):
        return self.begin(words_of(command, **options))

    def begin(self, words, **options):
        return self.keep(Process(words, **({"stdin": subprocess.DEVNULL} | options)))

    # --- exit codes and the environment

    def test_the_exit_code_is_that_of_the_command(self):
        for script, code in (("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 128 + 9),
                             ("kill -INT $$", 128 + 2)):
            with self.subTest(script=script):
                result = self.run_here(shell(script))
                self.assertEqual((result.returncode, result.stderr), (code, ""))

    def test_a_command_that_cannot_be_executed(self):
        for command, code in (("/does/not/exist", 127), ("no-such-command", 127), ("/etc", 126),
                              ("/etc/passwd", 126), ("/etc/passwd/x", 127)):
            with self.subTest(command=command):
                result = self.run_here([command])
                self.assertEqual(result.returncode, code)
                self.assertRegex(result.stderr,
                                 rf"^mortise: {command}: cannot execute the command: [^\n]+\n$")

    def test_the_command_knows_its_lock_and_its_token(self):
        result = self.run_here(shell("echo $MORTISE_LOCK $MORTISE_FENCING_TOKEN $SOMETHING"))
        self.assertRegex(result.stdout, r"^jobs/nightly [1-9]\d*\n$")

    def test_the_command_gets_words_and_signals_as_they_were(self):
        result = self.run_here(["printf", "%s|", "[a,b]", "--", "", "-x"])
        self.assertEqual(result.stdout, "[a,b]|--||-x|")
        # Neither blocked nor ignored.
        result = self.run_here(["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"])
        masks = [int(line.split()[1], 16) for line in result.stdout.splitlines()]
        self.assertEqual([mask & (1 << signal.SIGPIPE - 1 | 1 << signal.SIGTERM - 1)
                          for mask in masks], [0, 0])

    def test_a_lock_that_others_have_is_busy(self):
        host = socket.gethostname()
        for wait in ("0s", "300ms"):
            with self.subTest(wait=wait):
                result = self.run_here(shell("echo runs"), how="taken", wait=wait)
                self.assertEqual((result.returncode, result.stdout), (BUSY, ""))
                self.assertRegex(result.stderr, r"^mortise: jobs/nightly is taken: "
                                                r"node \d+ \(the other\) has it(, for \d[\d.]* s)?"
                                                rf", from \S+@{re.escape(host)}:\d+\n$")

    # --- the end of the lease

    def test_a_command_is_asked_to_end_and_then_killed(self):
        began = time.monotonic()
        result = self.run_here(
            shell('trap "echo asked" TERM; echo runs; while :; do sleep 0.05; done'),
            max_hold="2s", grace="1s")
        took = time.monotonic() - began
        self.assertEqual((result.returncode, result.stdout), (LOST, "runs\nasked\n"))
        # The shell may tell that its own command was terminated.
        said = [line for line in result.stderr.splitlines() if line.startswith("mortise: ")]
        self.assertEqual(said,
                         ["mortise: sh: the lock is about to be lost: the command is asked to end",
                          "mortise: sh: the lock is lost: the command is killed"])
        self.assertGreater(took, 1.9)

    def test_a_command_that_ends_when_it_is_asked_had_its_lock_for_all_its_time(self):
        result = self.run_here(shell('trap "exit 0" TERM; while :; do sleep 0.05; done'),
                               max_hold="20s", grace="19s")
        self.assertEqual(result.returncode, LOST)
        self.assertEqual(result.stderr.count("mortise: "), 1)

    def test_a_broken_lock_ends_the_command_with_all_its_processes(self):
        process = self.start(shell('trap "" TERM; sleep 1000 & echo $!; wait'), how="broken")
        child = int(process.stdout.readline())
        self.assertEqual(process.wait(PATIENCE), LOST)
        wait_until(lambda: not is_alive(child))

    # The grace begins at once, and its line has no room.
    def test_a_broken_lock_ends_the_command_although_nobody_reads_what_is_said(self):
        reader, writer = full_pipe()
        self.addCleanup(os.close, reader)
        process = self.begin(
            words_of(shell("echo $$; exec sleep 1000"), how="broken", max_hold="20s",
                     grace="19900ms"),
            stderr=writer, preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))
        os.close(writer)
        command = int(process.stdout.readline())
        began = time.monotonic()
        wait_until(lambda: not is_alive(command))
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(process.wait(PATIENCE), LOST)

    # It has the user id 0 in every respect, as with sudo.
    @unittest.skipIf(os.geteuid() != 0, "only root makes a program that becomes another user")
    def test_a_command_that_is_another_user_cannot_be_killed(self):
        with tempfile.TemporaryDirectory(prefix="mortise-run-test-") as directory:
            os.chmod(directory, 0o755)
            run_here, becomes_root = (shutil.copy(program, directory)
                                      for program in (RUN_HERE, shutil.which("setpriv")))
            os.chmod(becomes_root, 0o4755)
            words = [run_here, *words_of([becomes_root, "--reuid=0", "sleep", "4"], max_hold="1s",
                                         how="broken")[1:]]
            process = self.begin(words, user=65534)
            said = next(line for line in process.stderr if line.startswith("mortise: "))
            self.assertIn("the lock is lost, and the command cannot be killed: "
                          "it runs as another user", said)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE), LOST)

    def test_whoever_stops_the_supervisor_does_not_stop_the_end_of_the_lease(self):
        process = self.start(shell("echo $$; sleep 1000"), max_hold="2s")
        command = int(process.stdout.readline())
        process.send_signal(signal.SIGSTOP)
        self.assertTrue(is_alive(command))
        wait_until(lambda: not is_alive(command))
        process.send_signal(signal.SIGCONT)
        self.assertEqual(process.wait(PATIENCE), LOST)

    def guard_of(self, process):
        def name(pid):
            with contextlib.suppress(OSError):
                return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
            return ""
        return next((int(pid) for pid in children_of(process.pid)
                     if name(pid) == "mortise-guard" and is_alive(pid)), None)

    def test_a_guard_that_was_killed_or_stopped_is_replaced(self):
        for number in (signal.SIGKILL, signal.SIGSTOP):
            with self.subTest(number=number):
                process = self.start(shell("echo $$; sleep 1000"), max_hold="3s")
                command = int(process.stdout.readline())
                guard = self.guard_of(process)
                os.kill(guard, number)
                wait_until(lambda: self.guard_of(process) not in (None, guard))
                self.assertTrue(is_alive(command))
                process.send_signal(signal.SIGSTOP)
                wait_until(lambda: not is_alive(command))
                process.send_signal(signal.SIGCONT)
                self.assertEqual(process.wait(PATIENCE), LOST)

    def test_what_the_command_leaves_behind_is_reaped(self):
        """As the first process of a container; a subreaper is one without a container."""
        def become_subreaper():
            pr_set_child_subreaper = 36
            ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1)
        orphans = "for i in 1 2 3 4 5 6 7 8 9 10; do (sleep 0.1 & ); done; echo left"
        process = self.begin(words_of(shell(f"{orphans}; read end")), stdin=subprocess.PIPE,
                             preexec_fn=become_subreaper)
        self.assertEqual(process.stdout.readline(), "left\n")
        # The guard and the command.
        wait_until(lambda: len(children_of(process.pid)) == 2)
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 1)

    def test_the_command_dies_with_its_supervisor(self):
        process = self.start(shell('trap "" TERM HUP; sleep 1000 & echo $$ $!; wait'))
        processes = [int(pid) for pid in process.stdout.readline().split()]
        self.assertEqual([is_alive(pid) for pid in processes], [True, True])
        process.kill()
        process.wait(PATIENCE)
        wait_until(lambda: not any(is_alive(pid) for pid in processes))

    # --- signals

    def test_signals_are_passed_on(self):
        for number, code in ((signal.SIGTERM, 5), (signal.SIGINT, 5), (signal.SIGUSR1, 5)):
            with self.subTest(number=number):
                process = self.start(
                    shell('trap "exit 5" TERM INT USR1; echo runs; while :; do sleep 0.05; done'))
                process.stdout.readline()
                process.send_signal(number)
                self.assertEqual(process.wait(PATIENCE), code)
                self.assertNotIn("mortise: ", process.stderr.read())

    def test_a_command_that_is_stopped_is_asked_to_end(self):
        process = self.start(shell("kill -STOP $$; sleep 1000"))
        wait_until(lambda: "T" in map(state_of, children_of(process.pid)))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE), 128 + signal.SIGTERM)

    def test_a_signal_ends_the_wait_for_the_lock(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number=number):
                process = self.start(shell("echo runs"), how="taken")
                time.sleep(0.5)
                process.send_signal(number)
                self.assertEqual(process.wait(PATIENCE), 128 + number)
                self.assertEqual((process.stdout.read(), process.stderr.read()), ("", ""))

    def test_what_was_ignored_stays_ignored(self):
        process = subprocess.run(
            ["sh", "-c", 'trap "" INT; exec "$@"', "sh",
             *words_of(["grep", "SigIgn", "/proc/self/status"])],
            capture_output=True, text=True, timeout=PATIENCE, check=True)
        self.assertTrue(int(process.stdout.split()[1], 16) & 1 << signal.SIGINT - 1)


def stop_and_tell(job, changes):
    """What a shell does for its job: it tells each change, and nothing else."""
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        os.write(changes, b"%d\n" % status)
        if not os.WIFSTOPPED(status):
            os._exit(0)


class RunAtATerminal(unittest.TestCase):
    """The terminal is the controlling one. A process like a shell leads its session.

    A script that is to be stopped forks before it tells that it runs: a stop between vfork and exec
    stops the child alone, and the script waits for it.
    """

    def start(self, script, **options):
        words = words_of(shell(script), **options)
        changes, tell = os.pipe()
        pid, terminal = pty.fork()
        if pid == 0:
            job = os.fork()
            if job == 0:
                os.setpgid(0, 0)
                signal.signal(signal.SIGTTOU, signal.SIG_IGN)
                os.tcsetpgrp(0, os.getpid())
                signal.signal(signal.SIGTTOU, signal.SIG_DFL)
                os.execv(words[0], words)
            os.write(tell, b"%d\n" % job)
            stop_and_tell(job, tell)
        os.close(tell)
        self.changes = os.fdopen(changes, encoding="utf-8")
        self.terminal, self.seen = terminal, b""
        self.pid = int(self.changes.readline())
        self.addCleanup(self.reap, pid, terminal)

    def reap(self, pid, terminal):
        for each in (self.pid, pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
        self.changes.close()

    def expect(self, text):
        end = time.monotonic() + PATIENCE
        while text not in self.seen:
            self.assertLess(time.monotonic(), end, self.seen)
            ready, _, _ = select.select([self.terminal], [], [], 0.1)
            if ready:
                self.seen += os.read(self.terminal, 4096)
        self.seen = self.seen.split(text, 1)[1]

    def state(self):
        """Its next change."""
        self.assertTrue(select.select([self.changes], [], [], PATIENCE)[0], "waited in vain")
        return int(self.changes.readline())

    def test_the_interrupt_key_reaches_the_command(self):
        self.start('trap "echo interrupted; exit 3" INT; echo runs; while :; do sleep 0.05; done')
        self.expect(b"runs")
        os.write(self.terminal, b"\x03")
        self.expect(b"interrupted")
        self.assertEqual(os.waitstatus_to_exitcode(self.state()), 3)

    def test_the_command_can_read_what_is_typed(self):
        self.start("echo runs; read line; echo got $line; read line; echo and $line")
        self.expect(b"runs")
        os.write(self.terminal, b"this\n")
        self.expect(b"got this")
        os.write(self.terminal, b"that\n")
        self.expect(b"and that")
        self.assertEqual(os.waitstatus_to_exitcode(self.state()), 0)

    def stop_and_continue(self):
        os.write(self.terminal, b"\x1a")
        self.assertTrue(os.WIFSTOPPED(self.state()))
        os.kill(self.pid, signal.SIGCONT)

    def test_the_stop_key_stops_both(self):
        self.start("sleep 1 & echo runs; wait; echo done")
        self.expect(b"runs")
        self.stop_and_continue()
        self.expect(b"done")
        self.assertEqual(os.waitstatus_to_exitcode(self.state()), 0)

    def test_the_stop_key_stops_both_while_the_command_has_the_terminal(self):
        self.start("read line; echo got $line; read line; echo and $line")
        os.write(self.terminal, b"this\n")
        self.expect(b"got this")
        time.sleep(0.2)
        self.stop_and_continue()
        os.write(self.terminal, b"that\n")
        self.expect(b"and that")
        self.assertEqual(os.waitstatus_to_exitcode(self.state()), 0)

    def test_a_stopped_job_that_lost_its_lock_is_killed_and_not_continued(self):
        self.start("sleep 1000 & echo runs; wait; echo done", max_hold="4s")
        self.expect(b"runs")
        os.write(self.terminal, b"\x1a")
        self.assertTrue(os.WIFSTOPPED(self.state()))
        time.sleep(4.5)
        os.kill(self.pid, signal.SIGCONT)
        self.assertEqual(os.waitstatus_to_exitcode(self.state()), LOST)
        self.assertNotIn(b"done", self.seen)


class RunAsTheLeaderOfASession(unittest.TestCase):
    """As by `ssh -t`: nobody would continue it."""

    def test_the_stop_key_has_no_effect(self):
        words = words_of(shell("echo runs; sleep 2; echo done; exit 3"))
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(words[0], words)
        self.addCleanup(os.close, terminal)
        seen = b""
        while b"runs" not in seen:
            seen += os.read(terminal, 4096)
        os.write(terminal, b"\x1a")
        end = time.monotonic() + PATIENCE
        ended, status = os.waitpid(pid, os.WNOHANG)
        while ended == 0 and time.monotonic() < end:
            time.sleep(0.05)
            ended, status = os.waitpid(pid, os.WNOHANG)
        if ended == 0:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.assertEqual(ended, pid)
        self.assertEqual(os.waitstatus_to_exitcode(status), 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
