"""The effects of signals on `mortise node`."""

import contextlib
import os
import pty
import resource
import signal
import subprocess
import threading
import time
import unittest
from pathlib import Path

from program import (OK, PROGRAM, WITH_TLS, Case, Cluster, config_text, environment, free_ports,
                     full_pipe, run, start, wait_until)


class Signals(Case):
    def setUp(self):
        super().setUp()
        self.port, = free_ports(1)
        self.errors = self.directory / "errors"
        self.config = self.directory / "mortise.toml"
        self.config.write_text(config_text(1, [self.port], self.directory), encoding="utf-8")

    def start(self, before=None, stdout=subprocess.PIPE, **more):
        """A single node that is ready; its stderr goes to a file."""
        node = self.start_soon(log=self.errors, stdout=stdout, preexec_fn=before, **more)
        self.wait_ready()
        return node

    def start_soon(self, **options):
        return self.keep(start("node", "--config", self.config, stdin=subprocess.DEVNULL,
                               **options))

    def is_ready(self):
        return run("status", "--ready", "--peer", f"127.0.0.1:{self.port}").returncode == OK

    def test_a_child_of_another_program_is_reaped(self):
        """As the first process of a container, a node gets such children."""
        def leave_a_child():
            if os.fork() == 0:
                time.sleep(0.1)
                os._exit(0)
        node = self.start(before=leave_a_child)
        children = Path(f"/proc/{node.pid}/task/{node.pid}/children")
        wait_until(lambda: children.read_text(encoding="ascii") == "")

    def wait_ready(self):
        wait_until(self.is_ready)

    def said(self):
        return [line for line in self.errors.read_text(encoding="utf-8").splitlines()
                if line.startswith("mortise: SIG")]

    def expect(self, *lines):
        wait_until(lambda: len(self.said()) >= len(lines))
        self.assertEqual(len(self.said()), len(lines), self.said())
        for line, text in zip(self.said(), lines):
            self.assertIn(text, line)

    def end(self, node):
        self.assertEqual(node.stop(), OK, node.logged())

    def test_it_ends_although_nobody_reads_what_it_says(self):
        """It is not ready, which it says after two seconds."""
        ports = free_ports(3)
        self.config.write_text(config_text(1, ports, self.directory), encoding="utf-8")
        reader, writer = full_pipe()
        self.addCleanup(os.close, reader)
        node = self.start_soon(stdout=subprocess.DEVNULL, stderr=writer)
        os.close(writer)
        time.sleep(3)
        self.assertEqual(node.stop(10), OK)

    def test_a_node_without_a_program_says_that_it_is_of_no_use_as_a_client(self):
        self.config.write_text(
            f'role = "client"\n[[peer]]\nid = 1\naddress = "127.0.0.1:{self.port}"\n',
            encoding="utf-8")
        node = self.start_soon()
        self.assertIn("no program uses it", node.stderr.readline())
        self.assertEqual(node.stop(), OK)

    def test_sighup_has_a_daemon_read_its_files_again(self):
        node = self.start()
        node.send_signal(signal.SIGHUP)
        lines = ["read the certificates again" if WITH_TLS else "there is nothing to read again"]
        self.expect(*lines)
        text = self.config.read_text(encoding="utf-8")
        first = ["read the certificates again"] if WITH_TLS else []
        for change, line in ((text + "# another one\n", "it takes effect at the next start"),
                             (text.replace('"3s"', '"3 sheep"'), "session_ttl"),
                             (text, "there is nothing to read again")):
            self.config.write_text(change, encoding="utf-8")
            node.send_signal(signal.SIGHUP)
            lines += first
            if change != text or not WITH_TLS:
                lines.append(line)
            self.expect(*lines)
        self.config.unlink()
        node.send_signal(signal.SIGHUP)
        self.expect(*lines, *first, "keeps the former one")
        self.assertTrue(self.is_ready())
        self.end(node)

    def test_what_was_ignored_stays_ignored(self):
        # as under nohup, and for `&` in a script
        ignored = (signal.SIGHUP, signal.SIGINT, signal.SIGUSR1)
        def ignore():
            for one in ignored:
                signal.signal(one, signal.SIG_IGN)
        node = self.start(before=ignore)
        for one in ignored:
            node.send_signal(one)
        node.send_signal(signal.SIGUSR2)
        self.expect("SIGUSR2 has no effect on a node")
        self.assertTrue(self.is_ready())
        self.end(node)

    def test_signals_without_a_meaning_do_nothing(self):
        node = self.start()
        node.send_signal(signal.SIGUSR1)
        self.expect("SIGUSR1 has no effect on a node")
        node.send_signal(signal.SIGUSR2)
        self.expect("SIGUSR1 has no effect on a node", "SIGUSR2 has no effect on a node")
        node.send_signal(signal.SIGPIPE)
        self.assertTrue(self.is_ready())
        self.end(node)

    def test_impatience_changes_nothing(self):
        """Not even between the end of main() and the end of the process."""
        for _ in range(3):
            node = self.start()
            end = time.monotonic() + 60
            while node.poll() is None and time.monotonic() < end:
                for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(node.pid, one)
            self.assertEqual(node.wait(60), OK, node.logged())

    def test_sigquit_leaves_a_core_at_once(self):
        def no_core():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        node = self.start(before=no_core)
        node.send_signal(signal.SIGQUIT)
        self.assertEqual(node.wait(60), -signal.SIGQUIT)

    def test_nobody_reads_what_it_says(self):
        reader, writer = os.pipe()
        os.close(reader)
        node = self.start(stdout=writer)
        os.close(writer)
        wait_until(lambda: "mortise: cannot write to standard output\n" in node.logged())
        self.assertTrue(self.is_ready())
        self.end(node)

    def test_a_configuration_may_come_through_a_pipe(self):
        through = self.directory / "pipe"
        os.mkfifo(through)
        text = self.config.read_text(encoding="utf-8")
        self.config = through
        waits = self.start_soon()
        time.sleep(0.3)
        self.assertEqual(waits.stop(), -signal.SIGTERM)
        writer = threading.Thread(target=through.write_text, args=(text,))
        writer.start()
        node = self.start()
        writer.join()
        node.send_signal(signal.SIGHUP)
        self.expect("read the certificates again" if WITH_TLS else "there is nothing to read again")
        self.end(node)

    # --- with a terminal

    def start_in_a_terminal(self):
        """A terminal as its controlling terminal. Returns the other side of it."""
        errors = os.open(self.errors, os.O_WRONLY | os.O_CREAT, 0o600)
        pid, terminal = pty.fork()
        if pid == 0:
            os.dup2(errors, 2)
            os.execve(PROGRAM, [PROGRAM, "node", "--config", str(self.config)], environment(False))
        os.close(errors)
        self.addCleanup(self.reap, pid)
        self.wait_ready()
        return pid, terminal

    def reap(self, pid):
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def exit_code(self, pid):
        status = None
        def ended():
            nonlocal status
            gone, status = os.waitpid(pid, os.WNOHANG)
            return gone == pid
        wait_until(ended)
        return os.waitstatus_to_exitcode(status)

    def test_a_terminal_that_hangs_up_ends_it_in_order(self):
        pid, terminal = self.start_in_a_terminal()
        os.close(terminal)
        self.assertEqual(self.exit_code(pid), OK)
        self.assertEqual(self.said(), [])

    def test_sighup_in_a_terminal_that_is_there_ends_nothing(self):
        pid, terminal = self.start_in_a_terminal()
        os.kill(pid, signal.SIGHUP)
        self.expect("SIGHUP: ")
        self.assertTrue(self.is_ready())
        os.kill(pid, signal.SIGTERM)
        self.assertEqual(self.exit_code(pid), OK)
        os.close(terminal)

    def test_a_shell_hands_the_hang_up_on(self):
        """The shell leads the session; the node is its background job."""
        command = f"""set -m; {PROGRAM} node --config {self.config} 2> {self.errors} &
                  trap 'kill -HUP $!; wait $!; echo $? > {self.directory}/code; exit' HUP
                  while :; do sleep 0.1; done"""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve("/bin/bash", ["bash", "-c", command], environment(False))
        self.addCleanup(self.reap, pid)
        self.wait_ready()
        os.close(terminal)
        code = self.directory / "code"
        os.waitpid(pid, 0)
        wait_until(lambda: code.exists() and code.read_text(encoding="utf-8"))
        self.assertEqual(code.read_text(encoding="utf-8").strip(), "0")


class HandingOver(unittest.TestCase):
    def test_a_reload_is_no_reason_to_elect(self):
        with Cluster() as cluster:
            cluster.wait_ready()
            for process in cluster.processes:
                process.send_signal(signal.SIGHUP)
            time.sleep(1)
            self.assertEqual(run("status", "--ready", *cluster.peers()).returncode, OK)
            self.assertEqual(cluster.end(), [OK] * 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
