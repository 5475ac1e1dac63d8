#!/usr/bin/env python3
"""mortise.aio, with the library of this build: python_aio_test.py PACKAGE_FOLDER LIBRARY."""

import asyncio
import gc
import os
import random
import sys
import tempfile
import unittest
from unittest import mock

from one_python_node import (
    PATIENCE, config_text, free_ports, local, mortise, open_node, run, wait_for)

from mortise import _callbacks, aio  # pylint: disable=wrong-import-order


def threads():
    return len(os.listdir("/proc/self/task"))


class OneNode(unittest.TestCase):
    def setUp(self):
        self.node = open_node()
        self.addCleanup(self.node.close)

    def free(self, *names):
        """Whether nobody holds the names, or stops to do so."""
        def is_free(name):
            if (hold := self.node.try_acquire(name)) is None:
                return False
            hold.release()
            return True
        return all(wait_for(lambda name=name: is_free(name)) for name in names)

    async def all_are_sent(self):
        """The node answers in order, so it has everything that was asked before."""
        async with aio.lock(self.node, "asked last"):
            pass

    async def has_waiters(self, name, count):
        while len((await asyncio.to_thread(self.node.inspect, name))["waiters"]) != count:
            await asyncio.sleep(0.001)

    def test_a_block_holds_the_lock(self):
        async def go():
            async with aio.lock(self.node, "x", label="me") as hold:
                self.assertTrue(hold.valid)
                self.assertEqual(hold.name, "x")
                self.assertIsNone(self.node.try_acquire("x"))
                with self.assertRaises(mortise.TimedOut) as caught:
                    await aio.lock(self.node, "x", wait_max=0.02)
                self.assertEqual(caught.exception.name, "x")
            self.assertIs(hold.state, mortise.HoldState.RELEASED)
            with self.assertRaises(mortise.NotHeld):
                async with hold:
                    self.fail("the block ran without the lock")
            again = await aio.lock(self.node, "x", wait_max=PATIENCE)
            with self.assertRaises(KeyError):
                async with again:
                    raise KeyError
            self.assertIs(again.state, mortise.HoldState.RELEASED)
        asyncio.run(go())

    def test_permits_and_leadership(self):
        async def go():
            pool = mortise.Semaphore(self.node, "pool", 3)
            async with aio.permits(pool, 2) as hold:
                self.assertEqual(len(hold.slots), 2)
                with self.assertRaises(mortise.TimedOut):
                    await aio.permits(pool, 2, wait_max=0)
            election = mortise.Election(self.node, "boss")
            async with aio.campaign(election, "here") as hold:
                self.assertEqual(election.leader().value, b"here")
                self.assertEqual(election.leader().token, hold.token)
        asyncio.run(go())

    def test_several_names(self):
        async def go():
            async with aio.lock_all(self.node, ["a", ("b", mortise.Mode.SHARED)]) as hold:
                self.assertEqual(list(hold.parts), ["a", "b"])
                self.assertFalse(hold.lost.is_set())
                with self.assertRaises(mortise.TimedOut) as caught:
                    await aio.lock_all(self.node, ["c", "a"], wait_max=0.02)
                self.assertEqual(caught.exception.name, "c")
                async with aio.lock_any(self.node, ["a", b"c"]) as other:
                    self.assertEqual(other.name, b"c")
                waiting = asyncio.ensure_future(aio.lock_all(self.node, ["a", "d"]))
                await self.all_are_sent()
                waiting.cancel()
                await asyncio.wait({waiting})
        asyncio.run(go())
        self.assertTrue(self.free("a", "b", "c", "d"))

    def test_a_latch(self):
        async def go():
            latch = mortise.Latch(self.node, "ready", 1)
            waiting = asyncio.ensure_future(aio.wait(latch, label="me"))
            with self.assertRaises(mortise.TimedOut) as caught:
                await aio.wait(latch, 0.02)
            self.assertEqual(caught.exception.name, "ready")
            cancelled = asyncio.ensure_future(aio.wait(latch))
            await asyncio.wait_for(self.has_waiters("ready", 2), PATIENCE)
            cancelled.cancel()
            await asyncio.wait({cancelled})
            await asyncio.wait_for(self.has_waiters("ready", 1), PATIENCE)
            self.assertFalse(waiting.done())
            await aio.count_down(latch)
            await asyncio.wait_for(waiting, PATIENCE)
            with self.assertRaises(mortise.InvalidArgument) as caught:
                await aio.count_down(latch)
            self.assertEqual(caught.exception.reason, "less than that remains to be counted")
        asyncio.run(go())

    def test_a_barrier(self):
        async def go():
            barrier = mortise.Barrier(self.node, "step", 100)
            before = threads()
            parties = [asyncio.ensure_future(aio.arrive_and_wait(barrier)) for _ in range(99)]
            await self.all_are_sent()
            self.assertLess(threads(), before + 10)
            self.assertFalse(any(party.done() for party in parties))
            await aio.arrive_and_wait(barrier, PATIENCE)
            await asyncio.wait_for(asyncio.gather(*parties), PATIENCE)
            party = asyncio.ensure_future(aio.arrive_and_wait(barrier))
            await self.all_are_sent()
            party.cancel()
            await asyncio.wait({party})
            with self.assertRaises(mortise.SessionExpired) as caught:
                await aio.arrive_and_wait(barrier)
            self.assertIn("the barrier is broken", caught.exception.reason)
        asyncio.run(go())

    def test_errors_are_those_of_the_node(self):
        async def go():
            with self.assertRaises(mortise.InvalidArgument) as caught:
                await aio.lock(self.node, "")
            self.assertEqual(caught.exception.reason, "a name has 1 to 512 bytes")
            with self.assertRaises(TypeError):
                aio.lock(self.node, "x", no_such_option=1)
            canceller = mortise.Canceller()
            async with aio.lock(self.node, "x"):
                waiting = asyncio.ensure_future(aio.lock(self.node, "x", canceller=canceller))
                await self.all_are_sent()
                canceller.cancel()
                with self.assertRaises(mortise.Cancelled):
                    await waiting
        asyncio.run(go())

    def test_a_cancelled_task_withdraws_its_wait_and_no_other(self):
        async def go():
            canceller = mortise.Canceller()
            async with aio.lock(self.node, "x"):
                one, other = (asyncio.ensure_future(
                    aio.lock(self.node, "x", canceller=canceller)) for _ in range(2))
                await self.all_are_sent()
                one.cancel()
                await asyncio.wait({one})
                self.assertTrue(one.cancelled())
                self.assertTrue(wait_for(lambda: len(mortise._callbacks._waits) == 1))
            async with await other:
                pass
        asyncio.run(go())

    def test_a_grant_that_crosses_the_cancellation_is_released(self):
        async def go(cancelled_first):
            def tell(loop, deliver, *arguments):
                def cross():  # within one step of the loop
                    if cancelled_first:
                        task.cancel()
                    deliver(*arguments)
                    task.cancel()
                loop.call_soon_threadsafe(cross)

            async def acquire():
                return await aio.lock(self.node, "x")

            with mock.patch.object(aio, "_tell", tell):
                task = asyncio.create_task(acquire())
                await asyncio.wait({task})
            self.assertTrue(task.cancelled())
        for cancelled_first in (False, True):
            asyncio.run(go(cancelled_first))
            self.assertTrue(self.free("x"))

    def test_a_thousand_tasks_that_are_cancelled_at_random_hold_nothing(self):
        names, pool = ["a", "b", "c"], mortise.Semaphore(self.node, "pool", 3)
        inside = dict.fromkeys(names, 0)
        ended = {"work": 0, "thread": 0, "threads": 0}
        rng = random.Random(7)

        async def work(number):
            if number % 4 == 3:
                async with aio.permits(pool, rng.randint(1, 3)):
                    await asyncio.sleep(rng.random() / 1000)
            else:
                name = names[number % 4]
                async with aio.lock(self.node, name):
                    inside[name] += 1
                    try:
                        self.assertEqual(inside[name], 1)
                        await asyncio.sleep(rng.random() / 1000)
                    finally:
                        inside[name] -= 1
            ended["work"] += 1

        async def others(tasks):
            while not all(task.done() for task in tasks):
                ended["threads"] = max(ended["threads"], await asyncio.to_thread(threads))
                ended["thread"] += 1
                rng.choice(tasks).cancel()

        async def go():
            tasks = [asyncio.create_task(work(number)) for number in range(1000)]
            results = await asyncio.wait_for(
                asyncio.gather(others(tasks), *tasks, return_exceptions=True), PATIENCE)
            return [one for one in results
                    if one is not None and not isinstance(one, asyncio.CancelledError)]

        before = threads()
        self.assertEqual(asyncio.run(go()), [])
        self.assertGreater(ended["work"], 100)
        self.assertGreater(ended["thread"], 10)
        self.assertLess(ended["threads"], before + 30)
        self.assertTrue(self.free(*names))
        self.assertTrue(wait_for(lambda: pool.try_acquire(3) is not None))

    def test_waiting_tasks_leave_the_threads_of_the_loop_alone(self):
        async def go():
            hold = await aio.lock(self.node, "x")
            tasks = [asyncio.ensure_future(aio.lock(self.node, "x")) for _ in range(100)]
            await self.all_are_sent()
            self.assertTrue(await asyncio.wait_for(asyncio.to_thread(lambda: hold.valid), PATIENCE))
            hold.unlock()
            for task in tasks:
                async with await asyncio.wait_for(task, PATIENCE):
                    pass
        asyncio.run(go())

    def test_the_end_of_the_node_reaches_holders_and_waiters(self):
        async def go():
            with self.assertRaises(mortise.NodeStopped):
                async with aio.lock(self.node, "x") as hold:
                    waiting = asyncio.ensure_future(aio.lock(self.node, "x"))
                    self.assertFalse(hold.lost.is_set())
                    await asyncio.to_thread(self.node.close)
                    await asyncio.wait_for(hold.lost.wait(), PATIENCE)
                    self.assertIs(hold.why_lost, mortise.LossReason.NODE_STOPPED)
                    with self.assertRaises(mortise.NodeStopped):
                        await waiting
            with self.assertRaises(mortise.NodeStopped):
                await aio.lock(self.node, "x")
        asyncio.run(go())

    def test_the_child_of_a_fork_is_refused(self):
        async def go():
            try:
                await asyncio.wait_for(aio.lock(self.node, "x"), PATIENCE)
            except mortise.Forked:
                os._exit(0)
        if (child := os.fork()) == 0:
            try:
                asyncio.run(go())
            finally:
                os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_an_upgrade_waits_for_the_readers(self):
        async def go():
            async with aio.lock(self.node, "x", mode=mortise.Mode.UPDATE) as hold:
                async with aio.lock(self.node, "x", mode=mortise.Mode.SHARED):
                    with self.assertRaises(mortise.TimedOut) as caught:
                        await aio.upgrade(hold, 0.02)
                    self.assertEqual(caught.exception.name, "x")
                    waiting = asyncio.ensure_future(aio.upgrade(hold))
                    await self.all_are_sent()
                    waiting.cancel()
                    await asyncio.wait({waiting})
                    self.assertIs(hold.mode, mortise.Mode.UPDATE)
                    await aio.lock(self.node, "x", mode=mortise.Mode.SHARED, wait_max=PATIENCE)
                    waiting = asyncio.ensure_future(aio.upgrade(hold))
                    await self.all_are_sent()
                    self.assertFalse(waiting.done())
                await asyncio.wait_for(waiting, PATIENCE)
                self.assertIs(hold.mode, mortise.Mode.EXCLUSIVE)
        asyncio.run(go())


class Changes(unittest.TestCase):
    def setUp(self):
        self.node = open_node()
        self.addCleanup(self.node.close)
        self.kept = len(_callbacks._functions)

    def nothing_is_left(self):
        gc.collect()
        return wait_for(lambda: len(_callbacks._functions) == self.kept)

    def change(self, name):
        self.node.acquire(name, caching=mortise.Caching.OFF).release()

    @staticmethod
    async def until(changes, kind):
        """The events, up to the first one of that kind."""
        events = []
        async for event in changes:
            events.append(event)
            if event["event"] == kind:
                return events

    def test_the_state_comes_and_then_each_change(self):
        async def go():
            before = threads()
            hold = self.node.acquire("jobs/1")
            many = [aio.observe(self.node, "jobs/") for _ in range(50)]
            for changes in many:
                state = await asyncio.wait_for(self.until(changes, "state_complete"), PATIENCE)
                self.assertEqual([event["event"] for event in state],
                                 ["gap", "state", "state_complete"])
            self.change("jobs/2")
            for changes in many:
                told = await asyncio.wait_for(self.until(changes, "released"), PATIENCE)
                self.assertEqual([(event["event"], event["name"]) for event in told],
                                 [("granted", "jobs/2"), ("released", "jobs/2")])
            self.assertLess(threads(), before + 12)
            where = told[0]["position"]
            after = aio.observe(self.node, "jobs/", position=where)
            self.assertEqual(len(await asyncio.wait_for(self.until(after, "released"), PATIENCE)),
                             1)
            hold.release()
        asyncio.run(go())
        self.assertTrue(self.nothing_is_left())

    def test_a_task_that_is_cancelled_leaves_nothing(self):
        async def go():
            changes = aio.observe(self.node, "")
            waiting = asyncio.ensure_future(self.until(changes, "never"))
            await asyncio.sleep(0)  # it waits now
            waiting.cancel()
            await asyncio.wait({waiting})
            self.assertTrue(waiting.cancelled())
            self.assertTrue(self.nothing_is_left())
            async for _ in changes:
                self.fail("it has ended")
        asyncio.run(go())

    def test_a_block_that_is_left_leaves_nothing(self):
        async def go():
            async with aio.observe(self.node, "") as changes:
                async for event in changes:
                    self.assertEqual(event["event"], "gap")
                    break
            self.assertTrue(self.nothing_is_left())
            async for _ in aio.observe(self.node, ""):
                break
            self.assertTrue(self.nothing_is_left())
        asyncio.run(go())

    def test_who_is_too_slow_gets_the_present_state(self):
        async def go():
            changes = aio.observe(self.node, "a")
            await asyncio.wait_for(self.until(changes, "state_complete"), PATIENCE)
            with mock.patch.object(aio, "_EVENTS_MAX", 3):
                for _ in range(4):
                    self.change("a")
                self.assertTrue(wait_for(lambda: changes._box.has_missed_some))
                kinds = [event["event"] for event in
                         await asyncio.wait_for(self.until(changes, "state_complete"), PATIENCE)]
            self.assertEqual((kinds[0], kinds[-1]), ("gap", "state_complete"))
        asyncio.run(go())

    def test_it_ends_with_its_node(self):
        async def go():
            changes = aio.observe(self.node, "")
            await asyncio.wait_for(self.until(changes, "state_complete"), PATIENCE)
            waiting = asyncio.ensure_future(self.until(changes, "never"))
            await asyncio.sleep(0)  # it waits now
            self.node.close()
            with self.assertRaises(mortise.NodeStopped):
                await asyncio.wait_for(waiting, PATIENCE)
            with self.assertRaises(mortise.NodeStopped):
                await self.until(aio.observe(self.node, ""), "never")
        asyncio.run(go())
        self.assertTrue(self.nothing_is_left())


class TwoNodes(unittest.TestCase):
    def test_a_break_by_another_node_reaches_the_holder(self):
        async def go(mine, other):
            with self.assertRaises(mortise.LockLost):
                async with aio.lock(mine, "x") as hold:
                    lost = hold.lost
                    await asyncio.to_thread(other.break_lock, "x", hold.token, "because")
                    await asyncio.wait_for(lost.wait(), PATIENCE)
                    self.assertFalse(hold.valid)
                    self.assertIs(hold.why_lost, mortise.LossReason.BROKEN)

        every = local(free_ports(2))
        with tempfile.TemporaryDirectory(prefix="mortise-aio-") as folder:
            configs = [mortise.Config.from_string(
                config_text(number, every, f"{folder}/{number}", address))
                       for number, address in every.items()]
            for config in configs:
                config.set_log(mortise.LogLevel.OFF)
            with mortise.Node(configs[0]) as mine, mortise.Node(configs[1]) as other:
                for node in (mine, other):
                    node.wait_ready(PATIENCE)
                asyncio.run(go(mine, other))


class Program(unittest.TestCase):
    """Ends while acquires wait, or have just been refused."""

    START = ("import asyncio, mortise\nfrom mortise import aio\n"
             "config = mortise.Config.in_memory()\nconfig.set_log(mortise.LogLevel.OFF)\n"
             "node = mortise.Node(config)\nnode.wait_ready(30)\n")

    def ends_well(self, program):
        ended = run(self.START + program)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))

    def test_with_tasks_that_wait(self):
        self.ends_well("async def main():\n"
                       "    hold = await aio.lock(node, 'x')\n"
                       "    waits = [asyncio.ensure_future(aio.lock(node, 'x'))"
                       " for _ in range(50)]\n"
                       "    async with aio.lock(node, 'y'):\n"
                       "        pass\n"
                       "asyncio.run(main())\n")

    def test_with_a_closed_node(self):
        for _ in range(5):
            self.ends_well("node.close()\n"
                           "async def main():\n"
                           "    try:\n"
                           "        await aio.lock(node, 'x')\n"
                           "    except mortise.NodeStopped:\n"
                           "        pass\n"
                           "asyncio.run(main())\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
