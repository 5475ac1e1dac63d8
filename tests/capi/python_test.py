#!/usr/bin/env python3
"""The Python package, with the library of this build: python_test.py PACKAGE_FOLDER LIBRARY.

Two processes exclude each other, a lost hold says so, and Ctrl-C ends a wait.
"""

import copy
import ctypes
import dataclasses
import multiprocessing
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from datetime import timedelta
from pathlib import Path

from one_python_node import (
    FOLDER, LIBRARY, PATIENCE, ProcessesOfPython, mortise, open_node, wait_for)


@dataclasses.dataclass
class Job:
    hold: object


def as_dict(one):
    return dataclasses.asdict(Job(one))


class OneNode(unittest.TestCase):
    def setUp(self):
        self.node = open_node()
        self.addCleanup(self.node.close)

    def test_a_block_holds_the_lock(self):
        with self.node.acquire("orders/42", label="me") as hold:
            self.assertTrue(hold.valid)
            self.assertGreater(hold.token, 0)
            self.assertGreater(hold.remaining, 0)
            self.assertEqual(hold.name, "orders/42")
            self.assertEqual(hold.mode, mortise.Mode.EXCLUSIVE)
            self.assertIn("held", repr(hold))
            hold.check()
            hold.confirm(PATIENCE)
            self.assertIsNone(self.node.try_acquire("orders/42"))
        self.assertFalse(hold.valid)
        self.assertEqual(hold.token, 0)
        with self.assertRaises(mortise.NotHeld):
            hold.release()
        with self.node.try_acquire("orders/42") as again:
            self.assertTrue(again.valid)

    def test_a_wait_ends(self):
        with self.node.acquire("x"):
            self.assertIsNone(self.node.acquire_for("x", timedelta(milliseconds=200)))
            for passed in (0, -1, -1e-12, float("-inf"), timedelta(days=-1)):
                self.assertIsNone(self.node.acquire_for("x", passed))
            for wait in (0, 0.2):
                with self.assertRaises(mortise.TimedOut) as caught:
                    self.node.acquire("x", wait_max=wait)
        self.assertIsInstance(caught.exception, TimeoutError)
        self.assertEqual(caught.exception.code, mortise.Code.TIMED_OUT)
        self.assertEqual(caught.exception.name, "x")

    def test_a_waiter_gets_the_lock_when_it_is_released(self):
        hold = self.node.acquire("x")
        threading.Timer(0.05, hold.release).start()
        with self.node.acquire_for("x", PATIENCE) as next_one:
            self.assertGreater(next_one.token, 0)

    def test_wrong_arguments_are_refused_with_a_reason(self):
        for call in (lambda: self.node.acquire(""), lambda: self.node.acquire("x", priority=9),
                     lambda: self.node.acquire_for("x", float("nan")),
                     lambda: mortise.Config.from_string("silly = 1")):
            with self.assertRaises(mortise.InvalidArgument) as caught:
                call()
            self.assertIsInstance(caught.exception, ValueError)
            self.assertGreater(len(str(caught.exception)), 10)
        with self.assertRaises(mortise.SystemFailure) as caught:
            mortise.Config.from_file("/nowhere/mortise.toml")
        self.assertEqual(caught.exception.errno, 2)
        with self.assertRaises(TypeError):
            self.node.acquire("x", no_such_option=1)

    def test_a_limit_of_zero_is_not_taken_for_none(self):
        for name in ("max_hold", "progress_timeout"):
            for zero in (0, 0.0, timedelta(0)):
                with self.assertRaisesRegex(mortise.InvalidArgument, name):
                    self.node.acquire("x", **{name: zero})
        with self.node.acquire("x", max_hold=None, progress_timeout=None, min_hold=0, lock_delay=0):
            pass

    def test_a_block_of_a_released_hold_does_not_run(self):
        hold = self.node.acquire("x")
        with hold:
            pass
        with self.assertRaises(mortise.NotHeld) as caught:
            with hold:
                self.fail("the block ran without the lock")
        self.assertEqual(caught.exception.name, "x")

    def test_a_block_of_a_closed_node_does_not_run(self):
        self.node.close()
        with self.assertRaises(mortise.NodeStopped):
            with self.node:
                self.fail("the block ran without a node")

    def test_a_number_is_no_name(self):
        for name in (42, [1, 2], None):
            with self.assertRaises(TypeError):
                self.node.acquire(name)

    def test_a_lost_hold_says_so(self):
        told = threading.Event()
        seen = []
        with self.assertRaises(mortise.LockLost) as caught:
            with self.node.acquire("x", max_hold=0.1) as hold:
                token = hold.token
                hold.set_value("half done")

                def lost(which):
                    seen.append((which is hold, which.valid))
                    told.set()

                hold.on_lost(lost)
                self.assertTrue(told.wait(PATIENCE))
                self.assertEqual(seen, [(True, False)])
                self.assertEqual(hold.state, mortise.HoldState.LOST)
                self.assertEqual(hold.why_lost, mortise.LossReason.EXPIRED)
                self.assertEqual(hold.token, token)
                with self.assertRaises(mortise.LockLost):
                    hold.check()
        self.assertEqual(caught.exception.name, "x")
        self.assertFalse(caught.exception.is_retryable)
        with self.node.acquire("x") as hold:
            self.assertEqual(hold.value(), b"half done")
            before = hold.previous()
            self.assertEqual(before.how, mortise.Predecessor.EXPIRED)
            self.assertEqual(before.token, token)

    def test_a_callback_is_forgotten_with_its_hold(self):
        before = len(mortise._callbacks._functions)
        released = self.node.acquire("x")
        released.on_lost(self.fail)
        released.release()
        forgotten = self.node.acquire("y")
        forgotten.on_lost(self.fail)
        self.assertRaises(mortise.InvalidArgument, forgotten.on_lost, self.fail)
        del forgotten
        self.assertEqual(len(mortise._callbacks._functions), before)

    def test_a_forgotten_hold_is_released(self):
        self.node.acquire("x")
        with self.node.acquire("x", wait_max=PATIENCE) as hold:
            self.assertTrue(hold.valid)

    def test_an_exception_of_the_block_passes(self):
        with self.assertRaises(KeyError):
            with self.node.acquire("x", max_hold=0.01) as hold:
                wait_for(lambda: not hold.valid)
                raise KeyError("its own")

    def test_values(self):
        with self.node.acquire("x") as hold:
            self.assertEqual(hold.value(), b"")
            hold.set_value(b"a\0b")
            self.assertEqual(hold.value(), b"a\0b")

    def test_a_broken_lock(self):
        hold = self.node.acquire(b"\xff\0")
        self.assertEqual(hold.name, b"\xff\0")
        self.assertRaises(mortise.NotHeld, self.node.break_lock, b"\xff\0", hold.token + 1)
        self.node.break_lock(b"\xff\0", hold.token, "stuck")
        self.assertTrue(wait_for(lambda: hold.why_lost == mortise.LossReason.BROKEN))

    def test_a_canceller_ends_a_wait(self):
        with self.node.acquire("x"):
            canceller = mortise.Canceller()
            threading.Timer(0.05, canceller.cancel).start()
            with self.assertRaises(mortise.Cancelled):
                self.node.acquire("x", canceller=canceller)

    def test_a_signal_ends_a_wait(self):
        def interrupt(number, frame):
            raise KeyboardInterrupt

        former = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, former)
        with self.node.acquire("x"):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with self.assertRaises(KeyboardInterrupt):
                self.node.acquire("x", wait_max=PATIENCE)
        with self.node.acquire("x", wait_max=PATIENCE):
            pass

    def test_signals_at_any_moment_leave_no_hold(self):
        armed = False

        def interrupt(number, frame):
            if armed:
                raise KeyboardInterrupt

        former = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, former)
        interrupted = 0
        for i in range(60):
            hold = None
            try:
                armed = True
                signal.setitimer(signal.ITIMER_REAL, 0.00002 * (i + 1))
                hold = self.node.acquire("x")
                armed = False
            except KeyboardInterrupt:
                interrupted += 1
            armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            if hold is not None:
                hold.unlock()
            del hold
        self.assertGreater(interrupted, 0)
        with self.node.acquire("x", wait_max=PATIENCE):
            pass

    def test_other_threads_run_during_a_wait(self):
        with self.node.acquire("x"):
            waiting = threading.Thread(target=lambda: self.node.acquire_for("x", 0.3))
            waiting.start()
            turns = 0
            while waiting.is_alive():
                turns += 1
                time.sleep(0.001)
            self.assertGreater(turns, 20)

    def test_status(self):
        status = self.node.status()
        self.assertEqual((status.node_id, status.leader_id, status.members), (1, 1, 1))
        self.assertTrue(status.is_ready)
        self.assertEqual(self.node.id, 1)
        self.assertEqual(mortise.version(), mortise.__version__)

    def test_a_closed_node(self):
        hold = self.node.acquire("x")
        self.node.close()
        self.assertEqual(hold.why_lost, mortise.LossReason.NODE_STOPPED)
        self.assertRaises(mortise.NodeStopped, self.node.acquire, "x")
        self.assertTrue(self.node.status().is_stopped)

    def test_a_log_sink(self):
        lines = []
        config = mortise.Config.in_memory()
        config.set_log(mortise.LogLevel.DEBUG, lambda level, line: lines.append((level, line)))
        with mortise.Node(config) as node:
            node.wait_ready(PATIENCE)
        self.assertTrue(wait_for(lambda: lines))
        self.assertIsInstance(lines[0][0], mortise.LogLevel)

    def test_nothing_that_has_one_owner_is_copied(self):
        hold = self.node.acquire("x")
        election = mortise.Election(self.node, "boss")
        owners = [self.node, hold, election, election.observe(lambda leader: None),
                  mortise.Config.in_memory(), mortise.Canceller(),
                  mortise.Semaphore(self.node, "pool", 1),
                  mortise.RateLimiter(self.node, "calls", 1, per=1),
                  mortise.Latch(self.node, "latch", 1), mortise.Barrier(self.node, "barrier", 1)]
        owners += [owner._handle for owner in owners]
        for owner in owners:
            for way in (copy.copy, copy.deepcopy, pickle.dumps, as_dict,
                        lambda one: multiprocessing.get_context("spawn").Process(
                            target=print, args=(one,)).start()):
                with self.assertRaisesRegex(TypeError, type(owner).__name__ + " cannot be copied"):
                    way(owner)
        self.assertTrue(hold.valid)
        self.assertIsNone(self.node.try_acquire("x"))

    def test_every_handle_has_one_owner(self):
        handles = [kind for name, kind in vars(mortise._library).items()
                   if name.endswith("Handle") and isinstance(kind, type)]
        self.assertGreater(len(handles), 10)
        for kind in handles:
            with self.assertRaises(TypeError):
                copy.copy(kind())

    def test_every_code_has_a_class(self):
        for code in mortise.Code:
            if code != mortise.Code.OK:
                self.assertIsNot(mortise._errors.class_of(code), mortise.LockError, code)


class SameAsTheHeader(unittest.TestCase):
    """tests/capi/abi.txt has the constants and the layout of mortise.h."""

    def setUp(self):
        self.record = (Path(__file__).parent / "abi.txt").read_text(encoding="utf-8")

    def test_constants(self):
        prefixes = {
            mortise.Code: "", mortise.Mode: "MODE_", mortise.QueuePolicy: "QUEUE_POLICY_",
            mortise.OnUncertain: "ON_UNCERTAIN_", mortise.Caching: "CACHING_",
            mortise.HoldState: "HOLD_", mortise.LossReason: "LOSS_",
            mortise.Predecessor: "PREDECESSOR_", mortise.LogLevel: "LOG_",
            mortise._enums.ReadLevel: "READ_"}
        ours = {f"{prefix}{member.name}": member.value
                for kind, prefix in prefixes.items() for member in kind}
        theirs = {name: int(value)
                  for name, value in re.findall(r"^MORTISE_(\w+) = (\d+)$", self.record, re.M)}
        self.assertEqual(ours, theirs)

    def test_structs(self):
        kinds = {"mortise_acquire_options": mortise._library.AcquireOptions,
                 "mortise_status": mortise._library.CStatus,
                 "mortise_previous": mortise._library.CPrevious,
                 "mortise_log_line": mortise._library.CLogLine,
                 "mortise_wait_options": mortise._library.WaitOptions,
                 "mortise_permit": mortise._library.CPermit,
                 "mortise_lock_request": mortise._library.CLockRequest,
                 "mortise_observe_options": mortise._library.CObserveOptions}
        ours = "".join(
            f"struct {name}: {ctypes.sizeof(kind)} bytes\n" +
            "".join(f"  {field}: {getattr(kind, field).size} bytes at "
                    f"{getattr(kind, field).offset}\n" for field, _ in kind._fields_)
            for name, kind in kinds.items())
        self.assertIn(ours, self.record)

    def test_functions(self):
        declared = set(re.findall(r"\bmortise_(\w+)\(", self.record))
        self.assertLessEqual(set(mortise._library.SIGNATURES), declared)


def builder():
    """An interpreter that can build a package without the network, or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        asks = ("from importlib.util import find_spec as find; "
                "raise SystemExit(not all(map(find, ('pip', 'setuptools', 'wheel'))))")
        if os.path.exists(python) and not subprocess.run([python, "-c", asks],
                                                         check=False).returncode:
            return python
    return None


@unittest.skipUnless(builder(), "there is no pip with setuptools and wheel")
class Installation(unittest.TestCase):
    def test_pip_installs_it_without_the_network(self):
        with tempfile.TemporaryDirectory(prefix="mortise-python-") as folder:
            source = f"{folder}/source"  # pip leaves files in it
            shutil.copytree(FOLDER, source, ignore=shutil.ignore_patterns("__pycache__"))
            subprocess.run([builder(), "-m", "pip", "install", "--quiet", "--no-index",
                            "--no-build-isolation", "--no-deps", "--no-warn-script-location",
                            "--root-user-action=ignore", "--target", f"{folder}/target", source],
                           check=True)
            # It is found in the folder of the package.
            os.symlink(LIBRARY, f"{folder}/target/mortise/libmortise.so.0")
            here = {name: value for name, value in os.environ.items() if name != "MORTISE_LIBRARY"}
            said = subprocess.run(
                [builder(), "-c", "import mortise; print(mortise.__file__, mortise.version())"],
                env={**here, "PYTHONPATH": f"{folder}/target"}, cwd=folder, check=True,
                capture_output=True, text=True).stdout
            self.assertEqual(said.split(), [f"{folder}/target/mortise/__init__.py",
                                            mortise.__version__])


# What the processes do; the first argument names it.

def take_turns(node, log):
    """Takes the lock again and again, and writes down when it had it."""
    for _ in range(30):
        with node.acquire("turn") as hold:
            with open(log, "a", encoding="utf-8") as file:
                file.write(f"begin {node.id} {hold.token}\n")
                file.flush()
                time.sleep(0.002)
                file.write(f"end {node.id} {hold.token}\n")


def lose(node, log):
    """Holds a lock until it is lost, and says so."""
    lost = threading.Event()
    hold = node.acquire("to lose")
    hold.on_lost(lambda which: lost.set())
    Path(log).write_text(str(hold.token), encoding="utf-8")
    assert lost.wait(PATIENCE)
    try:
        hold.check()
    except mortise.LockLost:
        print("lost", hold.why_lost.name)


def stand_by(node, log):
    """Is a member, until it is killed."""
    time.sleep(2 * PATIENCE)


class ThreeProcesses(ProcessesOfPython):
    def test_two_of_them_exclude_each_other(self):
        children = [self.start(number, "take_turns") for number in (2, 3)]
        with mortise.Node(f"{self.folder}/1.toml") as node:
            node.wait_ready(PATIENCE)
            for child in children:
                self.assertEqual(child.wait(PATIENCE), 0)
        lines = Path(self.log).read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(lines), 120)
        tokens = []
        for begin, end in zip(lines[::2], lines[1::2]):
            self.assertEqual(begin.split()[0], "begin")
            self.assertEqual(end, begin.replace("begin", "end"))
            tokens.append(int(begin.split()[2]))
        self.assertEqual(tokens, sorted(set(tokens)))

    def test_one_is_told_that_its_lock_is_lost(self):
        child = self.start(2, "lose")
        self.start(3, "stand_by")
        with mortise.Node(f"{self.folder}/1.toml") as node:
            node.wait_ready(PATIENCE)
            self.assertTrue(wait_for(lambda: Path(self.log).exists()))
            token = int(wait_for(lambda: Path(self.log).read_text(encoding="utf-8")))
            self.assertIsNone(node.try_acquire("to lose"))
            node.break_lock("to lose", token, "a test")
            self.assertEqual(child.stdout.read(), "lost BROKEN\n")
            with node.acquire("to lose", wait_max=PATIENCE) as hold:
                self.assertGreater(hold.token, token)
            self.assertEqual(child.wait(PATIENCE), 0)


def process(what, config, log):
    with mortise.Node(config) as node:
        node.wait_ready(PATIENCE)
        {"take_turns": take_turns, "lose": lose, "stand_by": stand_by}[what](node, log)


if __name__ == "__main__":
    if sys.argv[3:4] == ["--process"]:
        process(*sys.argv[4:])
    else:
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
