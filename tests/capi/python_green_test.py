#!/usr/bin/env python3
"""Programs whose threads are greenlets, and programs that may not begin threads any more.

    python_green_test.py PACKAGE_FOLDER LIBRARY
"""

import sys
import unittest
from pathlib import Path

from one_python_node import run

HERE = str(Path(__file__).resolve().parent)
SOON = 10  # seconds, for what takes less than one

NODE = '''
config = mortise.Config.in_memory()
lines = []
config.set_log(mortise.LogLevel.DEBUG, lambda level, line: lines.append(line))
node = mortise.Node(config)
'''

# Each sleeps while it has the lock, so the others run, and wait for it.
TAKE_TURNS = '''
order = []
def take(number):
    with node.acquire("x") as hold:
        order.append(number)
        time.sleep(0.05)
        order.append(number)
green_threads.join(*[lambda n=n: take(n) for n in range(3)])
assert order[::2] == order[1::2] and sorted(order) == [0, 0, 1, 1, 2, 2], order
'''

BEFORE = "import green_threads, time; green_threads.patch(); import mortise\n"
AFTER = "import green_threads, time, mortise; green_threads.patch()\n"


def ended(program):
    return run("import faulthandler, sys\n"
               f"sys.path.append({HERE!r})\n"
               f"faulthandler.dump_traceback_later({SOON}, exit=True)\n" + program)


class Greenlets(unittest.TestCase):
    def runs(self, program):
        for patched in (BEFORE, AFTER):
            with self.subTest(patched):
                result = ended(patched + NODE + program + "print('done')")
                self.assertEqual((result.returncode, result.stdout, result.stderr),
                                 (0, "done\n", ""))

    def test_a_node_with_a_sink(self):
        self.runs("node.wait_ready()\n"
                  "node.close()\n"
                  "while not lines: time.sleep(0.01)\n")

    def test_they_wait_for_each_other(self):
        self.runs(TAKE_TURNS)

    def test_all_kinds_of_waits(self):
        self.runs('''
latch = mortise.Latch(node, "latch", 1)
barrier = mortise.Barrier(node, "barrier", 2)
semaphore = mortise.Semaphore(node, "pool", 1)
election = mortise.Election(node, "boss")
def use(acquire):
    with acquire(): time.sleep(0.02)
green_threads.join(latch.wait, lambda: (time.sleep(0.02), latch.count_down()),
                   barrier.arrive_and_wait, barrier.arrive_and_wait,
                   *2 * [lambda: use(semaphore.acquire), lambda: use(election.campaign)])
''')

    def test_the_others_run_while_one_waits_for_the_cluster(self):
        self.runs('''
import tempfile
folder = tempfile.TemporaryDirectory(prefix="mortise-python-")
alone = mortise.Node(mortise.Config.from_string(f"""
    node_id = 1
    listen = "127.0.0.1:0"
    data_dir = "{folder.name}"
    peer = [{{ id = 1, address = "127.0.0.1:1" }}, {{ id = 2, address = "127.0.0.1:2" }}]
    log.level = "off"
"""))
turns = []
def wait():
    try: alone.wait_ready(0.5)
    except mortise.TimedOut: turns.append("end")
def run():
    while "end" not in turns:
        turns.append("turn")
        time.sleep(0.01)
green_threads.join(wait, run)
assert len(turns) > 20, turns
''')

    def test_a_wait_is_cancelled(self):
        self.runs('''
canceller = mortise.Canceller()
errors = []
def wait():
    try: node.acquire("x", canceller=canceller)
    except mortise.Cancelled as error: errors.append(error)
with node.acquire("x"):
    green_threads.join(wait, lambda: (time.sleep(0.05), canceller.cancel()))
assert errors
''')


# From 3.12 on there are no new threads when the last one that is not daemon has ended.
class EndOfTheProgram(unittest.TestCase):
    def handler(self, program):
        result = ended(
            "import atexit, mortise\n"
            "def handler():\n"
            "    mortise._threads.start = lambda work: False\n"
            + program + "atexit.register(handler)\n")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def test_a_handler_acquires(self):
        self.assertEqual(self.handler("    with mortise.Node(mortise.Config.in_memory()) as node:\n"
                                      "        with node.acquire('x'): print('held')\n"), "held\n")

    def test_a_handler_opens_a_node_with_a_sink(self):
        lines = self.handler("    config = mortise.Config.in_memory()\n"
                             "    config.set_log(mortise.LogLevel.DEBUG, lambda _, l: print(l))\n"
                             "    node = mortise.Node(config)\n"
                             "    node.wait_ready()\n")
        self.assertIn("mortise node 1: ", lines)

    def test_a_daemon_that_waits_does_not_keep_it(self):
        self.ends_with_a_waiting_thread("daemon=True", "")

    def test_nor_does_a_thread_whose_wait_is_cancelled(self):
        self.ends_with_a_waiting_thread("daemon=False", "canceller.cancel()\n")

    def ends_with_a_waiting_thread(self, kind, last):
        result = ended(
            "import mortise, threading, time\n"
            "node = mortise.Node(mortise.Config.in_memory())\n"
            "hold = node.acquire('x')\n"
            "canceller = mortise.Canceller()\n"
            "def wait():\n"
            "    try: node.acquire('x', canceller=canceller)\n"
            "    except mortise.Cancelled: print('cancelled')\n"
            "    except mortise.NodeStopped: pass\n"
            f"threading.Thread(target=wait, {kind}).start()\n"
            "time.sleep(0.1)\n" + last)
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (0, "cancelled\n" if last else "", ""))

    # So the package cannot end waits by itself when the main thread ends.
    def test_a_thread_works_on_after_the_main_thread(self):
        result = ended(
            "import mortise, threading, time\n"
            "node = mortise.Node(mortise.Config.in_memory())\n"
            "hold = node.acquire('x')\n"
            "def work():\n"
            "    with node.acquire('x') as mine: print(mine.valid)\n"
            "threading.Thread(target=work).start()\n"
            "threading.Timer(0.2, hold.release).start()\n")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "True\n", ""))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
