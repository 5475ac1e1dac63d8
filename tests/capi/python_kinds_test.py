#!/usr/bin/env python3
"""Semaphores, latches, barriers, elections and rate limiters of the Python package:
python_kinds_test.py PACKAGE_FOLDER LIBRARY. Also between two processes.
"""

import os
import signal
import sys
import threading
import time
import unittest
from pathlib import Path

from one_python_node import (
    PATIENCE, ProcessesOfPython, mortise, open_node, wait_for)


class OneNode(unittest.TestCase):
    def setUp(self):
        self.node = open_node()
        self.addCleanup(self.node.close)

    def beside(self, function):
        """Runs it on a thread, and returns where its result will be."""
        results = []

        def run():
            try:
                results.append(function())
            except mortise.LockError as error:
                results.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        self.addCleanup(thread.join, PATIENCE)
        return results


class Semaphores(OneNode):
    def test_it_has_so_many_permits(self):
        pool = mortise.Semaphore(self.node, "pool", 3)
        with pool.acquire(2, label="me") as two:
            self.assertEqual(two.slots, [0, 1])
            self.assertGreater(two.token, 0)
            self.assertIsNone(pool.try_acquire(2))
            with pool.try_acquire() as one:
                self.assertEqual(one.slots, [2])
                self.assertIsNone(pool.acquire_for(1, 0.05))
                with self.assertRaises(mortise.TimedOut) as caught:
                    pool.acquire(wait_max=0.05)
        self.assertEqual(caught.exception.name, "pool")
        with pool.acquire(3) as all_of_them:
            self.assertEqual(all_of_them.slots, [0, 1, 2])
        self.assertEqual(all_of_them.slots, [])

    def test_a_lock_has_no_slots(self):
        with self.node.acquire("lock") as hold:
            self.assertEqual(hold.slots, [])

    def test_a_waiter_gets_what_comes_back(self):
        pool = mortise.Semaphore(self.node, "pool", 1)
        hold = pool.acquire()
        got = self.beside(lambda: pool.acquire(wait_max=PATIENCE).slots)
        time.sleep(0.02)
        self.assertEqual(got, [])
        hold.release()
        self.assertTrue(wait_for(lambda: got))
        self.assertEqual(got, [[0]])

    def test_its_limit_changes(self):
        pool = mortise.Semaphore(self.node, "pool", 1)
        self.assertEqual(pool.limit(), 1)
        pool.resize(2)
        self.assertEqual(mortise.Semaphore(self.node, "pool", 7).limit(), 2)
        with pool.acquire(2):
            with self.assertRaises(mortise.InvalidArgument):
                self.node.remove("pool")
        self.node.remove("pool")
        with self.node.acquire("pool") as lock:
            self.assertTrue(lock.valid)
            with self.assertRaises(mortise.KindMismatch):
                pool.acquire()

    def test_wrong_arguments(self):
        for limit in (0, 65537, -1, 2**32):
            with self.assertRaises(mortise.InvalidArgument):
                mortise.Semaphore(self.node, "pool", limit)
        pool = mortise.Semaphore(self.node, "pool", 2)
        for count in (0, 1025, -1, 2**32 + 1):
            with self.assertRaises(mortise.InvalidArgument):
                pool.acquire(count)
        with self.assertRaises(mortise.InvalidArgument):
            pool.acquire(mode=mortise.Mode.SHARED)

    def test_a_canceller_ends_a_wait(self):
        pool = mortise.Semaphore(self.node, "pool", 1)
        canceller = mortise.Canceller()
        with pool.acquire():
            ended = self.beside(lambda: pool.acquire(canceller=canceller))
            time.sleep(0.02)
            canceller.cancel()
            self.assertTrue(wait_for(lambda: ended))
        self.assertIsInstance(ended[0], mortise.Cancelled)

    def test_ctrl_c_ends_a_wait(self):
        pool = mortise.Semaphore(self.node, "pool", 1)
        with pool.acquire():
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
            with self.assertRaises(KeyboardInterrupt):
                pool.acquire()
        with pool.acquire(wait_max=PATIENCE) as hold:
            self.assertTrue(hold.valid)


class RateLimiters(OneNode):
    def test_it_gives_no_more_in_its_time(self):
        limiter = mortise.RateLimiter(self.node, "calls", 2, 0.5)
        begin = time.monotonic()
        first = limiter.acquire(2)
        self.assertEqual([permit.number for permit in first], [0, 1])
        self.assertIsNone(limiter.try_acquire())
        self.assertIsNone(limiter.acquire_for(1, 0.01))
        with self.assertRaises(mortise.TimedOut):
            limiter.acquire(wait_max=0.01)
        second = limiter.acquire(wait_max=PATIENCE)
        self.assertGreaterEqual(time.monotonic() - begin, 0.5)
        self.assertGreater(second[0].token, first[0].token)

    def test_wrong_arguments(self):
        for permits, per in ((0, 1), (1, 0), (1, -1)):
            with self.assertRaises(mortise.InvalidArgument):
                mortise.RateLimiter(self.node, "calls", permits, per)
        limiter = mortise.RateLimiter(self.node, "calls", 2, 1)
        for count in (0, 3, 2000):
            with self.assertRaises(mortise.InvalidArgument):
                limiter.acquire(count)


class Latches(OneNode):
    def test_who_waits_passes_when_all_is_counted(self):
        latch = mortise.Latch(self.node, "ready", 2)
        passed = self.beside(lambda: latch.wait(label="worker"))
        self.assertFalse(latch.try_wait())
        latch.count_down()
        self.assertFalse(latch.wait_for(0.05))
        self.assertFalse(latch.wait_for(0))
        with self.assertRaises(mortise.TimedOut) as caught:
            latch.wait(0.05)
        self.assertEqual(caught.exception.name, "ready")
        latch.count_down()
        self.assertTrue(wait_for(lambda: passed))
        self.assertEqual(passed, [None])
        self.assertTrue(latch.try_wait())
        with self.assertRaises(mortise.InvalidArgument):
            latch.count_down()

    def test_a_canceller_ends_a_wait(self):
        latch = mortise.Latch(self.node, "ready", 1)
        canceller = mortise.Canceller()
        ended = self.beside(lambda: latch.wait(canceller=canceller))
        canceller.cancel()
        self.assertTrue(wait_for(lambda: ended))
        self.assertIsInstance(ended[0], mortise.Cancelled)

    def test_ctrl_c_ends_a_wait(self):
        latch = mortise.Latch(self.node, "ready", 1)
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            latch.wait()

    def test_wrong_arguments(self):
        for expected in (-1, 2**31, 2**64):
            with self.assertRaises(mortise.InvalidArgument):
                mortise.Latch(self.node, "ready", expected)


class Barriers(OneNode):
    def test_all_pass_together(self):
        barrier = mortise.Barrier(self.node, "step", 2)
        for _ in range(3):
            other = self.beside(barrier.arrive_and_wait)
            barrier.arrive_and_wait(PATIENCE)
            self.assertTrue(wait_for(lambda: other))
            self.assertEqual(other, [None])

    def test_a_party_that_gives_up_breaks_it(self):
        barrier = mortise.Barrier(self.node, "step", 2)
        self.assertFalse(barrier.arrive_and_wait_for(0.05))
        with self.assertRaises(mortise.SessionExpired):
            barrier.arrive_and_wait()
        self.node.remove("step")
        with self.assertRaises(mortise.TimedOut):
            barrier.arrive_and_wait(0.05)

    def test_who_drops_is_missed_no_more(self):
        barrier = mortise.Barrier(self.node, "step", 2)
        other = self.beside(barrier.arrive_and_wait)
        barrier.arrive_and_drop()
        self.assertTrue(wait_for(lambda: other))
        barrier.arrive_and_wait(PATIENCE)  # alone

    def test_wrong_arguments(self):
        for parties in (0, 1025):
            with self.assertRaises(mortise.InvalidArgument):
                mortise.Barrier(self.node, "step", parties)
        with self.assertRaises(mortise.InvalidArgument):
            mortise.Barrier(self.node, "step", 2).arrive_and_wait_for(0)


class Elections(OneNode):
    def test_one_leads_and_resigns(self):
        election = mortise.Election(self.node, "boss")
        self.assertIsNone(election.leader())
        told = []
        with election.observe(told.append):
            hold = election.campaign(b"10.0.0.1\0:80", label="first")
            leader = election.leader()
            self.assertEqual(leader, mortise.Leader(self.node.id, b"10.0.0.1\0:80", hold.token))
            election.resign(hold)
            self.assertIsNone(election.leader())
            self.assertTrue(wait_for(lambda: told[-1:] == [None] and leader in told))
        count = len(told)
        with election.campaign("second"):
            self.assertEqual(election.leader().value, b"second")
        self.assertEqual(len(told), count)
        with self.assertRaises(mortise.NotHeld):
            election.resign(hold)

    def test_a_hold_of_another_name_does_not_resign(self):
        with self.node.acquire("other") as hold:
            with self.assertRaises(mortise.InvalidArgument):
                mortise.Election(self.node, "boss").resign(hold)
            self.assertTrue(hold.valid)

    def test_an_observation_that_is_forgotten_ends(self):
        before = len(mortise._callbacks._functions)
        mortise.Election(self.node, "boss").observe(lambda leader: None)
        self.assertTrue(wait_for(lambda: len(mortise._callbacks._functions) == before))

    def test_a_value_may_be_too_long(self):
        with self.assertRaises(mortise.InvalidArgument):
            mortise.Election(self.node, "boss").campaign(b"v" * 4001)


# What the processes do; the first argument names it.

def share(node, log):
    """Takes a permit of two again and again; meets the other before and after; counts at the
    end."""
    meeting = mortise.Barrier(node, "meeting", 2)
    pool = mortise.Semaphore(node, "pool", 1)
    meeting.arrive_and_wait()
    for _ in range(20):
        with pool.acquire() as hold:
            with open(log, "a", encoding="utf-8") as file:
                file.write(f"begin {node.id} {hold.token} {hold.slots}\n")
                file.flush()
                file.write(f"end {node.id} {hold.token} {hold.slots}\n")
    meeting.arrive_and_wait()
    mortise.Latch(node, "done", 2).count_down()
    mortise.Latch(node, "checked", 1).wait()


def lead(node, log):
    """Leads until it is killed."""
    with mortise.Election(node, "boss").campaign(str(node.id)):
        Path(log).write_text(str(node.id), encoding="utf-8")
        time.sleep(2 * PATIENCE)


def stand_by(node, log):
    """Is a member, until it is killed."""
    time.sleep(2 * PATIENCE)


class ThreeProcesses(ProcessesOfPython):
    def test_two_of_them_meet_and_share_a_permit(self):
        children = [self.start(number, "share") for number in (2, 3)]
        with mortise.Node(f"{self.folder}/1.toml") as node:
            node.wait_ready(PATIENCE)
            mortise.Latch(node, "done", 2).wait(PATIENCE)
            mortise.Latch(node, "checked", 1).count_down()
            for child in children:
                self.assertEqual(child.wait(PATIENCE), 0)
        lines = Path(self.log).read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(lines), 80)
        for begin, end in zip(lines[::2], lines[1::2]):
            self.assertEqual(end, begin.replace("begin", "end"))
            self.assertTrue(begin.endswith("[0]"), begin)
        tokens = [int(line.split()[2]) for line in lines[::2]]
        self.assertEqual(tokens, sorted(set(tokens)))

    def test_another_leads_when_the_leader_is_killed(self):
        child = self.start(2, "lead")
        self.start(3, "stand_by")
        with mortise.Node(f"{self.folder}/1.toml") as node:
            node.wait_ready(PATIENCE)
            election = mortise.Election(node, "boss")
            told = []
            observation = election.observe(told.append)
            self.assertTrue(wait_for(lambda: told and told[-1] is not None))
            first = told[-1]
            self.assertEqual((first.node, first.value), (2, b"2"))
            child.kill()
            with election.campaign("1", canceller=None) as hold:
                self.assertGreater(hold.token, first.token)
                self.assertTrue(wait_for(lambda: told[-1] == mortise.Leader(1, b"1", hold.token)))
            observation.close()


def process(what, config, log):
    with mortise.Node(config) as node:
        node.wait_ready(PATIENCE)
        {"share": share, "lead": lead, "stand_by": stand_by}[what](node, log)


if __name__ == "__main__":
    if sys.argv[3:4] == ["--process"]:
        process(*sys.argv[4:])
    else:
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
