#!/usr/bin/env python3
"""The Python package beside its library: which library it takes, values that it does not know,
numbers that do not fit, and log lines. python_library_test.py PACKAGE_FOLDER LIBRARY C_COMPILER
"""

import ctypes
import datetime
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

from one_python_node import LIBRARY, PATIENCE, mortise, open_node, run, wait_for

COMPILER = sys.argv[3]
INTERFACE = "MORTISE_0 { global: *; };"


class Import(unittest.TestCase):
    """The libraries of these tests have little more than a version."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="mortise-python-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def compile(self, code, symbol_versions):
        (self.folder / "library.c").write_text(code, encoding="utf-8")
        (self.folder / "library.map").write_text(symbol_versions, encoding="utf-8")
        library = str(self.folder / "libmortise.so.0")
        subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, self.folder / "library.c",
                        f"-Wl,--version-script={self.folder}/library.map"], check=True)
        return library

    def refused(self, library, *words):
        ended = run("import mortise", MORTISE_LIBRARY=library)
        self.assertEqual(ended.returncode, 1)
        line = ended.stderr.splitlines()[-1]
        self.assertTrue(line.startswith(f"ImportError: {library} "), line)
        for word in (f"the Python package mortise {mortise.__version__}", *words):
            self.assertIn(word, line)

    def of_version(self, version, symbol_versions=INTERFACE):
        return self.compile(f'const char* mortise_version(void) {{ return "{version}"; }}',
                            symbol_versions)

    def test_an_older_library_is_refused(self):
        self.refused(self.of_version("0.0.9"), "0.0.9", "or a later one")

    def why_refused(self, package, library):
        loader = sys.modules["mortise._load"]
        loaded = ctypes.CDLL(self.of_version(library))
        with mock.patch.object(loader, "VERSION", package):
            return loader._unfit(loaded, [])

    def test_before_the_interface_is_stable_a_newer_one_is_refused(self):
        self.assertIn("stable from 0.2.0 on", self.why_refused("0.1.0", "0.1.1"))

    def test_a_newer_library_is_taken_since_the_interface_is_stable(self):
        self.assertIsNone(self.why_refused("0.2.0", "0.3.1"))

    def test_another_binary_interface_is_refused(self):
        other = self.of_version(mortise.__version__, "MORTISE_1 { global: *; };")
        self.refused(other, "MORTISE_0")

    def test_a_library_without_a_function_is_refused(self):
        self.refused(self.of_version(mortise.__version__), "mortise_")

    def test_another_library_is_refused(self):
        self.refused(self.compile("int other(void) { return 0; }", INTERFACE), "no library of")

    def test_a_missing_library_is_named(self):
        ended = run("import mortise", MORTISE_LIBRARY="/nowhere/libmortise.so.0")
        self.assertIn("/nowhere/libmortise.so.0", ended.stderr.splitlines()[-1])


class UnknownValues(unittest.TestCase):
    """Of a library that is newer than the package."""

    def setUp(self):
        self.node = open_node()
        self.addCleanup(self.node.close)

    def returns(self, function, value):
        return mock.patch.object(mortise._library.lib, function, lambda *arguments: value)

    def test_of_a_hold(self):
        hold = self.node.acquire("x")
        with self.returns("hold_state", 99):
            self.assertIs(hold.state, mortise.HoldState.LOST)
            self.assertIn("lost", repr(hold))
        with self.returns("hold_why_lost", 99):
            self.assertIs(hold.why_lost, mortise.LossReason.EXPIRED)
        with self.returns("hold_mode", 99):
            self.assertIs(hold.mode, mortise.Mode.EXCLUSIVE)

    def test_at_the_end_of_a_block(self):
        with self.returns("hold_state", 99):
            with self.node.acquire("x") as hold:
                pass
        self.assertIs(hold.state, mortise.HoldState.RELEASED)

    def test_of_the_previous_holder(self):
        def write(handle, previous, error):
            previous._obj.how = 99
            return 0

        hold = self.node.acquire("x")
        with mock.patch.object(mortise._library.lib, "hold_previous", write):
            self.assertIs(hold.previous().how, mortise.Predecessor.EXPIRED)

    def test_of_an_error(self):
        with self.returns("node_break_lock", 12345):
            with self.assertRaises(mortise.LockError) as caught:
                self.node.break_lock("x", 1)
        self.assertEqual(caught.exception.code, 12345)


class Numbers(unittest.TestCase):
    """ctypes would take them modulo the size of the parameter."""

    def setUp(self):
        self.node = open_node()
        self.addCleanup(self.node.close)

    def refuses(self, error, call, *arguments, **options):
        with self.assertRaises(error):
            call(*arguments, **options)

    def test_a_token_that_is_too_large(self):
        hold = self.node.acquire("x")
        for token in (hold.token + 2**64, hold.token - 2**64, 2**63, -2**63 - 1, -1, 0):
            self.refuses(ValueError, self.node.break_lock, "x", token)
        for token in (1.5, "1", None):
            self.refuses(TypeError, self.node.break_lock, "x", token)
        self.assertTrue(hold.valid)

    def test_an_option_that_is_too_large(self):
        for option in ("priority", "mode", "queue_policy", "on_uncertain", "caching"):
            for value in (2**32, -2**32, 2**31, 100, -1):
                self.refuses(ValueError, self.node.try_acquire, "x", **{option: value})
            self.refuses(TypeError, self.node.try_acquire, "x", **{option: 0.5})
        self.refuses(ValueError, mortise.Config.in_memory().set_log, 2**32)

    def test_times(self):
        nanoseconds = mortise._arguments.nanoseconds
        for time, wanted in ((1.5, 1_500_000_000), (0, 0), (1e-12, 1), (1e300, 2**63 - 1),
                             (10**400, 2**63 - 1), (float("inf"), 2**63 - 1), (-1e-12, -1),
                             (float("-inf"), -1), (datetime.timedelta(microseconds=7), 7000)):
            self.assertEqual(nanoseconds(time, 5), wanted)
        self.assertEqual(nanoseconds(None, 5), 5)
        self.refuses(ValueError, nanoseconds, float("nan"), 5)
        self.refuses(ValueError, mortise.RateLimiter, self.node, "x", 1, -1e-12)
        waits = mortise._arguments.wait_of
        self.assertEqual([waits(-1), waits(-1e-12), waits(0), waits(1e-12), waits(None)],
                         [0, 0, 0, 1, 2**63 - 1])


class Log(unittest.TestCase):
    def opened(self, sink, level=mortise.LogLevel.DEBUG):
        config = mortise.Config.in_memory()
        config.set_log(level, sink)
        node = mortise.Node(config)
        self.addCleanup(node.close)
        node.wait_ready(PATIENCE)
        return node

    # The functions of a PyDLL keep the GIL.
    def test_a_node_works_while_another_thread_has_the_gil(self):
        lines = []
        config = mortise.Config.in_memory()
        config.set_log(mortise.LogLevel.DEBUG, lambda level, line: lines.append(line))
        node = mortise._library.NodeHandle()
        keeping = ctypes.PyDLL(LIBRARY)
        for name in ("mortise_node_open", "mortise_node_wait_ready"):
            getattr(keeping, name).argtypes = mortise._library.SIGNATURES[name[8:]][1]
        self.assertEqual(keeping.mortise_node_open(config._handle, ctypes.byref(node), None), 0)
        self.assertEqual(keeping.mortise_node_wait_ready(node, 10 * 10**9, None), 0)
        self.assertTrue(wait_for(lambda: lines))

    def test_a_slow_sink_loses_lines_and_is_told_how_many(self):
        lines, go_on = [], threading.Event()

        def sink(level, line):
            go_on.wait()
            lines.append((level, line))

        with mock.patch.object(mortise._log, "LINES_MAX", 1):
            node = self.opened(sink)
        self.doCleanups()
        go_on.set()
        del node  # the end of the lines tells how many were dropped
        self.assertTrue(wait_for(lambda: any("lines were dropped" in line for _, line in lines)))
        for level, line in lines:
            self.assertIsInstance(level, mortise.LogLevel)
            self.assertIsInstance(line, str)

    def test_a_sink_that_raises_gets_the_next_line(self):
        lines, errors = [], []

        def sink(level, line):
            lines.append(line)
            if len(lines) < 3:
                raise KeyError(line)

        with mock.patch.object(threading, "excepthook", errors.append):
            self.opened(sink)
            self.assertTrue(wait_for(lambda: len(errors) > 1))
        self.assertIs(errors[0].exc_type, KeyError)
        self.assertGreater(len(lines), 1)

    def test_a_sink_may_call_its_node(self):
        held = threading.Event()

        def sink(level, line):
            if not held.is_set() and ready.is_set():
                with node.acquire("x", wait_max=PATIENCE):
                    pass
                held.set()  # the node may close now

        ready = threading.Event()
        node = self.opened(sink)
        ready.set()
        hold = node.acquire("x")
        node.break_lock("x", hold.token)  # writes a line
        self.assertTrue(held.wait(PATIENCE))

    def test_its_thread_ends_with_the_config_and_its_nodes(self):
        others = set(mortise._log._readers)  # they may end meanwhile

        def own():
            return mortise._log._readers - others

        node = self.opened(lambda level, line: None)
        self.assertTrue(wait_for(own))
        self.doCleanups()
        del node
        self.assertTrue(wait_for(lambda: not own()))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
