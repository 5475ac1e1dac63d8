"""What `mortise run` does with processes, signals and terminals; see run_here.cpp."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

RUN_HERE = os.path.abspath(sys.argv.pop(1))
PATIENCE = 30
BUSY, LOST = 75, 76


def words_of(command, how="free", max_hold="none", grace="100ms", wait="none"):
    return [RUN_HERE, how, max_hold, grace, wait, "--", *command]


def shell(script):
    return ["sh", "-c", script]


def is_alive(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] \
            not in ("Z", "X")
    return False


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("waited in vain")
        time.sleep(0.02)


class Run(unittest.TestCase):
    def run_here(self, command, **options):
        return subprocess.run(words_of(command, **options), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)

    def start(self, command, **options):
        process = subprocess.Popen(words_of(command, **options), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()

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
        for wait in ("0s", "300ms"):
            with self.subTest(wait=wait):
                result = self.run_here(shell("echo runs"), how="taken", wait=wait)
                self.assertEqual((result.returncode, result.stdout), (BUSY, ""))
                self.assertRegex(result.stderr, r"^mortise: jobs/nightly is taken: "
                                                r"node \d+ \(the other\) has it\n$")

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

    def test_whoever_stops_the_supervisor_does_not_stop_the_end_of_the_lease(self):
        process = self.start(shell("echo $$; sleep 1000"), max_hold="2s")
        command = int(process.stdout.readline())
        process.send_signal(signal.SIGSTOP)
        self.assertTrue(is_alive(command))
        wait_until(lambda: not is_alive(command))
        process.send_signal(signal.SIGCONT)
        self.assertEqual(process.wait(PATIENCE), LOST)

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


class RunAtATerminal(unittest.TestCase):
    """The terminal is the controlling one; the supervisor leads its session."""

    def start(self, script, **options):
        words = words_of(shell(script), **options)
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(words[0], words)
        self.addCleanup(self.reap, pid, terminal)
        self.pid, self.terminal, self.seen = pid, terminal, b""

    def reap(self, pid, terminal):
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(terminal)

    def expect(self, text):
        end = time.monotonic() + PATIENCE
        while text not in self.seen:
            self.assertLess(time.monotonic(), end, self.seen)
            ready, _, _ = select.select([self.terminal], [], [], 0.1)
            if ready:
                self.seen += os.read(self.terminal, 4096)
        self.seen = self.seen.split(text, 1)[1]

    def state(self, options=0):
        """Its next change."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG | options)
            if pid == self.pid:
                return status
            time.sleep(0.02)
        raise TimeoutError("waited in vain")

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
        self.assertTrue(os.WIFSTOPPED(self.state(os.WUNTRACED)))
        os.kill(self.pid, signal.SIGCONT)

    def test_the_stop_key_stops_both(self):
        self.start("echo runs; sleep 1; echo done")
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
        self.start("echo runs; sleep 1; sleep 1000; echo done", max_hold="4s")
        self.expect(b"runs")
        os.write(self.terminal, b"\x1a")
        self.assertTrue(os.WIFSTOPPED(self.state(os.WUNTRACED)))
        time.sleep(4.5)
        os.kill(self.pid, signal.SIGCONT)
        self.assertEqual(os.waitstatus_to_exitcode(self.state()), LOST)
        self.assertNotIn(b"done", self.seen)


if __name__ == "__main__":
    unittest.main(verbosity=2)
