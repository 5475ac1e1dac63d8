#!/usr/bin/env python3
"""Ctrl-C at any moment, forgotten objects, and the end of the program.

    python_interrupt_test.py PACKAGE_FOLDER LIBRARY

A signal handler runs between two instructions of Python on the main thread. So a trace function
that raises before the n-th instruction stands for Ctrl-C at that moment, for every n.
"""

import faulthandler
import gc
import signal
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from one_python_node import FOLDER, PATIENCE, mortise, open_node, run, wait_for

SOON = 10  # seconds, for what takes some milliseconds


class Alarm(RuntimeError):
    """What the signal handler of some programs raises."""


def interrupted(act, number, folder=FOLDER, error=KeyboardInterrupt):
    """Calls `act`, and raises the error before the instruction of that number in the files of the
    folder. False if there are not that many."""
    left = number

    def trace(frame, event, argument):
        nonlocal left
        if not frame.f_code.co_filename.startswith(folder):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left == 0:
                raise error
        return trace

    try:
        sys.settrace(trace)
        act()
    except error:
        pass
    finally:
        sys.settrace(None)
    return left <= 0


def at_every_instruction(act, afterwards, folder=FOLDER, error=KeyboardInterrupt):
    """Calls `act` once for each of its instructions, interrupted there, and returns how many there
    were. `afterwards` is called after each."""
    interruptions = 0
    for number in range(1, 5000):
        was_interrupted = interrupted(act, number, folder, error)
        afterwards()
        interruptions += was_interrupted
        if number > 100 and not was_interrupted:
            break
    return interruptions


def threads_of_nodes():
    names = []
    for task in Path("/proc/self/task").iterdir():
        try:
            names.append((task / "comm").read_text(encoding="utf-8"))
        except OSError:  # it has ended
            pass
    return sum(name.startswith("mortise") for name in names)


class Signals(unittest.TestCase):
    """SIGALRM stands for the SIGINT of Ctrl-C."""

    def interrupt(self, number, frame):
        raise KeyboardInterrupt

    def setUp(self):
        former = signal.signal(signal.SIGALRM, self.interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, former)


class AtEveryInstruction(unittest.TestCase):
    def leaves_nothing(self, act, folder=FOLDER, error=KeyboardInterrupt):
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        self.addCleanup(faulthandler.cancel_dump_traceback_later)
        with open_node() as node:
            # Raises TimedOut if something holds it.
            count = at_every_instruction(lambda: act(node),
                                         lambda: node.acquire("x", wait_max=SOON).release(),
                                         folder, error)
        self.assertGreater(count, 50)

    def test_an_attempt_leaves_no_hold(self):
        self.leaves_nothing(lambda node: node.try_acquire("x"))

    def test_an_acquire_leaves_no_hold(self):
        self.leaves_nothing(lambda node: node.acquire("x"))

    # The locks of the module `threading` are Python code: an interruption leaves them taken.
    def test_nor_does_it_within_the_standard_library(self):
        self.leaves_nothing(lambda node: node.acquire("x"), folder="")

    def test_nor_does_it_if_the_handler_raises_what_a_failed_start_does(self):
        returned = []

        def acquire(node):
            node.acquire("x")
            returned.append(True)
        self.leaves_nothing(acquire, error=Alarm)
        self.assertEqual(len(returned), 1)  # the last one, which was not interrupted

    def test_a_block_leaves_no_hold(self):
        def block(node):
            with node.try_acquire("x") as hold:
                hold.check()
        self.leaves_nothing(block)

    def test_opening_leaves_no_node(self):
        config = mortise.Config.in_memory()
        config.set_log(mortise.LogLevel.OFF)
        before = threads_of_nodes()
        self.assertGreater(
            at_every_instruction(lambda: mortise.Node(config), lambda: None), 20)
        self.assertTrue(wait_for(lambda: threads_of_nodes() <= before))

    def test_forgetting_a_hold_releases_it(self):
        with open_node() as node:
            holds = [node.acquire("x")]
            at_every_instruction(holds.clear,
                                 lambda: holds.append(node.acquire("x", wait_max=SOON)), folder="")


class WhatIsInterrupted(Signals):
    def setUp(self):
        super().setUp()
        self.node = open_node()
        self.addCleanup(self.node.close)

    def test_a_shared_canceller_goes_on(self):
        canceller = mortise.Canceller()
        ends = []

        def wait():
            try:
                with self.node.acquire("x", canceller=canceller):
                    ends.append("held")
            except mortise.Cancelled:
                ends.append("cancelled")

        with self.node.acquire("x"):
            other = threading.Thread(target=wait)
            other.start()
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with self.assertRaises(KeyboardInterrupt):
                self.node.acquire("x", wait_max=PATIENCE, canceller=canceller)
            other.join(0.2)
            self.assertEqual(ends, [])
        other.join(PATIENCE)
        self.assertEqual(ends, ["held"])
        self.node.acquire("x", canceller=canceller).release()
        canceller.cancel()
        with self.assertRaises(mortise.Cancelled):  # also for a wait that begins later
            self.node.acquire("x", canceller=canceller)

    def test_a_canceller_forgets_the_waits_that_ended(self):
        canceller = mortise.Canceller()
        for _ in range(3):
            self.node.acquire("x", canceller=canceller).release()
        gc.collect()
        self.assertTrue(wait_for(lambda: len(canceller._parts) == 0))

    def test_the_wait_for_a_cluster(self):
        folder = tempfile.TemporaryDirectory(prefix="mortise-python-")
        self.addCleanup(folder.cleanup)
        peers = ", ".join(f'{{ id = {i}, address = "127.0.0.1:{i}" }}' for i in (1, 2, 3))
        config = mortise.Config.from_string(f'node_id = 1\nlisten = "127.0.0.1:0"\n'
                                            f'data_dir = "{folder.name}"\npeer = [{peers}]')
        config.set_log(mortise.LogLevel.OFF)
        with mortise.Node(config) as alone:
            begun = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with self.assertRaises(KeyboardInterrupt):
                alone.wait_ready(2 * SOON)
            self.assertLess(time.monotonic() - begun, SOON)
            with self.assertRaises(mortise.TimedOut) as caught:
                alone.wait_ready(0.3)
            self.assertTrue(caught.exception.reason)


class References(unittest.TestCase):
    def test_a_hold_keeps_its_node(self):
        before = threads_of_nodes()
        hold = open_node().acquire("x")
        gc.collect()
        hold.confirm(SOON)
        self.assertTrue(hold.valid)
        del hold
        gc.collect()
        self.assertTrue(wait_for(lambda: threads_of_nodes() <= before))

    def test_a_failed_acquire_keeps_no_node(self):
        before = threads_of_nodes()
        gc.disable()
        self.addCleanup(gc.enable)
        node = open_node()
        try:  # assertRaises() would clear the frames
            node.acquire("")
        except mortise.InvalidArgument:
            pass
        del node
        self.assertTrue(wait_for(lambda: threads_of_nodes() <= before))

    def test_a_hold_of_a_closed_node_says_so(self):
        with open_node() as node:
            hold = node.acquire("x")
        self.assertFalse(hold.valid)
        self.assertEqual(hold.why_lost, mortise.LossReason.NODE_STOPPED)
        self.assertRaises(mortise.NodeStopped, hold.check)
        self.assertRaises(mortise.NodeStopped, hold.value)
        self.assertRaises(mortise.NodeStopped, hold.release)


class EndOfTheProgram(unittest.TestCase):
    def ends_well(self, program):
        ended = run("import mortise, threading, time\n"
                    "begun, go_on, forgotten = (threading.Event() for _ in range(3))\n"
                    "node = mortise.Node(mortise.Config.in_memory())\n"
                    "hold = node.acquire('x', max_hold=0.05)\n" + program)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "done\n", ""))

    def test_a_callback_is_awaited_that_closed_its_node(self):
        self.ends_well("def lost(hold):\n"
                       "    node.close()\n"
                       "    begun.set()\n"
                       "    time.sleep(0.3)\n"
                       "    print('done', flush=True)\n"
                       "hold.on_lost(lost)\n"
                       "begun.wait()\n")

    # The last thing of Python that a thread of the node runs is the end of a callback's context.
    def test_a_callback_is_awaited_that_had_the_last_references(self):
        self.ends_well("class Slow(dict):\n"
                       "    def pop(self, *arguments):\n"
                       "        forgotten.set()\n"
                       "        time.sleep(0.3)\n"
                       "        print('done', flush=True)\n"
                       "        return super().pop(*arguments)\n"
                       "mortise._callbacks._functions = Slow()\n"
                       "def lost(hold):\n"
                       "    begun.set()\n"
                       "    go_on.wait()\n"
                       "hold.on_lost(lost)\n"
                       "begun.wait()\n"
                       "del node, hold\n"
                       "go_on.set()\n"
                       "forgotten.wait()\n")

    def test_the_last_lines_reach_the_sink(self):
        ended = run("import mortise, time\n"
                    "def sink(level, line):\n"
                    "    time.sleep(0.02)\n"
                    "    print(line, flush=True)\n"
                    "config = mortise.Config.in_memory()\n"
                    "config.set_log(mortise.LogLevel.DEBUG, sink)\n"
                    "node = mortise.Node(config)\n"
                    "node.wait_ready()\n")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertIn("mortise node 1: ", ended.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
