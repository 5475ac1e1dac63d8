#!/usr/bin/env python3
"""Several names, conversions, inspection and changes in the Python package:
python_look_test.py PACKAGE_FOLDER LIBRARY.
"""

import contextlib
import copy
import gc
import os
import signal
import sys
import threading
import unittest

from one_python_node import PATIENCE, mortise, open_node, run, wait_for

Mode = mortise.Mode


class OneNode(unittest.TestCase):
    def setUp(self):
        self.node = open_node()
        self.addCleanup(self.node.close)

    def interrupt(self):
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

    def taken(self, *names):
        """Those of the names that somebody holds."""
        found = []
        for name in names:
            if (hold := self.node.try_acquire(name)) is None:
                found.append(name)
            else:
                hold.release()
        return found


class SeveralNames(OneNode):
    def test_all_are_held_together_and_each_has_its_token(self):
        with self.node.acquire_all(["b", (b"a\xff", Mode.SHARED)], label="me") as hold:
            self.assertTrue(hold.valid)
            parts = hold.parts
            self.assertEqual(list(parts), [b"a\xff", "b"])
            self.assertEqual(parts["b"].mode, Mode.EXCLUSIVE)
            self.assertEqual(parts[b"a\xff"].mode, Mode.SHARED)
            self.assertGreater(parts["b"].token, 0)
            parts["b"].set_value(b"v")
            self.assertEqual(parts["b"].value(), b"v")
            self.assertEqual(parts["b"].previous().how, mortise.Predecessor.NONE)
            self.assertEqual(self.taken("b", b"a\xff"), ["b", b"a\xff"])
            for wrong in (hold.value, hold.previous, lambda: hold.downgrade(Mode.SHARED)):
                with self.assertRaises(mortise.InvalidArgument):
                    wrong()
        self.assertEqual(self.taken("b", b"a\xff"), [])
        self.assertEqual(parts["b"].token, 0)

    def test_a_part_keeps_its_hold(self):
        part = self.node.acquire_all(["a", "b"]).parts["a"]
        gc.collect()
        self.assertGreater(part.token, 0)
        self.assertEqual(self.taken("b"), ["b"])
        del part
        gc.collect()
        self.assertTrue(wait_for(lambda: not self.taken("a", "b")))

    def test_all_or_nothing(self):
        with self.node.acquire("b"):
            with self.assertRaises(mortise.TimedOut) as caught:
                self.node.acquire_all(["a", "b"], wait_max=0.02)
            self.assertEqual(caught.exception.name, "a")
            self.assertEqual(self.taken("a"), [])

    def test_any_is_the_first_that_is_free(self):
        with self.node.acquire_any(["a", "b"]) as first:
            self.assertEqual((first.name, first.parts), ("a", {}))
            with self.node.try_acquire_any(["a", "b"]) as second:
                self.assertEqual(second.name, "b")
                self.assertIsNone(self.node.try_acquire_any(["a", "b"]))
                with self.assertRaises(mortise.TimedOut):
                    self.node.acquire_any(["a", "b"], wait_max=0.02)

    def test_wrong_lists(self):
        for names, error in (([], mortise.InvalidArgument), ("ab", TypeError), ([1], TypeError),
                             (["a", ("a", Mode.SHARED)], mortise.InvalidArgument),
                             ([("a", 9)], mortise.InvalidArgument)):
            with self.assertRaises(error):
                self.node.acquire_all(names)

    def test_ctrl_c_ends_a_wait_and_leaves_nothing(self):
        with self.node.acquire("b"):
            self.interrupt()
            with self.assertRaises(KeyboardInterrupt):
                self.node.acquire_all(["a", "b"])
        self.assertTrue(wait_for(lambda: not self.taken("a", "b")))


class Conversions(OneNode):
    def hold(self, mode):
        return self.node.acquire("x", mode=mode, caching=mortise.Caching.OFF)

    def test_a_downgrade_lets_readers_in(self):
        with self.hold(Mode.EXCLUSIVE) as hold:
            token = hold.token
            hold.downgrade(Mode.SHARED)
            self.assertEqual((hold.mode, hold.token), (Mode.SHARED, token))
            self.hold(Mode.SHARED).release()
            with self.assertRaises(mortise.InvalidArgument):
                hold.downgrade(Mode.EXCLUSIVE)

    def test_an_upgrade_waits_for_the_readers(self):
        with self.hold(Mode.UPDATE) as hold:
            token, reader = hold.token, self.hold(Mode.SHARED)
            self.assertFalse(hold.upgrade_for(0))
            with self.assertRaises(mortise.TimedOut) as caught:
                hold.upgrade(0.02)
            self.assertEqual(caught.exception.name, "x")
            threading.Timer(0.05, reader.release).start()
            hold.upgrade()
            self.assertEqual(hold.mode, Mode.EXCLUSIVE)
            self.assertGreater(hold.token, token)

    def test_ctrl_c_and_a_canceller_end_the_wait(self):
        with self.hold(Mode.UPDATE) as hold, self.hold(Mode.SHARED):
            self.interrupt()
            with self.assertRaises(KeyboardInterrupt):
                hold.upgrade()
            canceller = mortise.Canceller()
            threading.Timer(0.05, canceller.cancel).start()
            with self.assertRaises(mortise.Cancelled):
                hold.upgrade(canceller=canceller)
            self.assertEqual((hold.mode, hold.valid), (Mode.UPDATE, True))
            self.hold(Mode.SHARED).release()  # nothing keeps readers out any more

    def test_two_readers_do_not_wait_for_each_other(self):
        with self.hold(Mode.SHARED) as hold, self.hold(Mode.SHARED):
            with self.assertRaises(mortise.Deadlock):
                hold.upgrade()


class Looks(OneNode):
    def test_a_lock_shows_its_holder_and_its_value(self):
        with self.node.acquire(b"x\xff", label="me") as hold:
            hold.set_value("v")
            for local in (False, True):
                lock = self.node.inspect(b"x\xff", local=local)
                self.assertEqual((lock["name"], lock["kind"]), (b"x\xff", "lock"))
                self.assertEqual(lock["value"]["bytes"], b"v")
                holder, = lock["holders"]
                self.assertEqual((holder["label"], holder["token"]), ("me", hold.token))
        self.assertEqual(self.node.inspect("free")["holders"], [])

    def test_names_have_pages(self):
        holds = [self.node.acquire(name) for name in ("a/1", "a/2", b"a/\xff", "b")]
        self.assertEqual([lock["name"] for lock in self.node.locks("a/", limit=2)], ["a/1", "a/2"])
        last, = self.node.locks("a/", after="a/2", limit=2)
        self.assertEqual(last["name"], b"a/\xff")
        self.assertEqual(self.node.locks("a/", after=last["name"]), [])
        self.assertEqual(len(self.node.locks(local=True)), 4)
        for limit in (0, -1, 2**32):
            with self.assertRaises(mortise.InvalidArgument):
                self.node.locks(limit=limit)
        del holds

    def test_the_sessions_are_counted(self):
        with self.node.acquire("x"):
            for local in (False, True):
                session, = self.node.sessions(local=local)
                self.assertEqual((session["node"], session["holds"]), (self.node.id, 1))

    def test_a_value_is_dirty_after_a_loss(self):
        lost = self.node.acquire("x", max_hold=0.05)
        lost.set_value("v")
        with self.node.acquire("x") as hold:
            self.assertTrue(self.node.inspect("x")["value"]["dirty"])
            hold.consistent()
            self.assertFalse(self.node.inspect("x")["value"]["dirty"])

    def test_an_operator_breaks_and_asks(self):
        for immediate in (False, True):
            hold = self.node.acquire("x")
            self.node.request_release("x", "please")
            self.assertTrue(hold.valid)
            self.node.break_lock("x", hold.token, "because", immediate=immediate)
            self.assertTrue(wait_for(lambda hold=hold: not hold.valid))
            self.assertEqual(hold.why_lost, mortise.LossReason.BROKEN)
        with self.assertRaises(mortise.NotHeld):
            self.node.request_release("free")

    def test_an_evicted_session_loses_its_holds(self):
        session, = (each["session"] for each in self.node.sessions())
        for immediate in (False, True):
            with self.assertRaises(mortise.NotHeld):
                self.node.evict(session + 1, "why", immediate=immediate)
            with self.assertRaises(mortise.InvalidArgument):
                self.node.evict(-1, immediate=immediate)
        hold = self.node.acquire("x")
        # The caller evicts its own session, so it may not get the answer.
        with contextlib.suppress(mortise.OutcomeUnknown):
            self.node.evict(session, "why", immediate=True)
        self.assertTrue(wait_for(lambda: not hold.valid))

    def test_a_break_at_once_is_logged_as_one(self):
        lines = []
        config = mortise.Config.in_memory()
        config.set_log(mortise.LogLevel.WARN, lambda level, line: lines.append(line))
        with mortise.Node(config) as node:
            for name, immediate in (("confirmed", False), ("now", True)):
                hold = node.acquire(name)
                node.break_lock(name, hold.token, "why", immediate=immediate)
        self.assertTrue(wait_for(lambda: [line for line in lines if '"now"' in line]))
        broken = [line for line in lines if "broke" in line]
        self.assertEqual(["at once" in line for line in broken], [False, True], broken)

    def test_a_leader_publishes_another_value(self):
        election = mortise.Election(self.node, "boss")
        with election.campaign("one") as hold:
            election.publish(hold, b"two")
            self.assertEqual(election.leader().value, b"two")
            with self.node.acquire("other") as other, self.assertRaises(mortise.NotHeld):
                election.publish(other, b"three")

    def test_a_closed_node_tells_nothing(self):
        self.node.close()
        for call in (lambda: self.node.inspect("x"), self.node.locks, self.node.sessions,
                     lambda: self.node.observe("", lambda event: None)):
            with self.assertRaises(mortise.NodeStopped):
                call()


class Changes(OneNode):
    def test_the_state_is_told_and_then_each_change(self):
        events = []

        def find(kind, name):
            return [event for event in list(events)
                    if event["event"] == kind and event.get("name") == name]

        with self.node.acquire("a/1"), self.node.observe("a/", events.append):
            self.assertTrue(wait_for(lambda: find("state", "a/1")))
            with self.node.acquire("a/2") as hold, self.node.acquire("b"):
                self.assertTrue(wait_for(lambda: find("granted", "a/2")))
                granted, = find("granted", "a/2")
                self.assertEqual(granted["holder"]["token"], hold.token)
            self.assertTrue(wait_for(lambda: find("released", "a/2")))
            self.assertEqual(find("granted", "b"), [])
        count, position = len(events), granted["position"]
        with self.node.acquire("a/3"):
            pass
        self.assertEqual(len(events), count)

        events.clear()
        with self.node.observe("a/2", events.append, position=position, only_this_name=True):
            self.assertTrue(wait_for(lambda: find("released", "a/2")))
            self.assertEqual(find("gap", None), [])

    def test_wrong_arguments(self):
        with self.assertRaises(mortise.InvalidArgument):
            self.node.observe("", lambda event: None, position="no position")
        with self.assertRaises(mortise.InvalidArgument):
            self.node.observe("x" * 513, lambda event: None)

    def test_an_observation_that_is_forgotten_ends(self):
        before = len(mortise._callbacks._functions)
        self.node.observe("", lambda event: None)
        gc.collect()
        self.assertTrue(wait_for(lambda: len(mortise._callbacks._functions) == before))

    def test_a_program_ends_while_it_observes(self):
        ended = run("import mortise\nconfig = mortise.Config.in_memory()\n"
                    "config.set_log(mortise.LogLevel.OFF)\nnode = mortise.Node(config)\n"
                    "node.wait_ready(30)\nobservation = node.observe('', lambda event: None)\n"
                    "holds = [node.acquire(str(number)) for number in range(100)]\n")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))


class Contended(OneNode):
    def test_a_holder_hears_of_those_who_wait_and_who_ask(self):
        heard = []
        before = len(mortise._callbacks._functions)
        with self.node.acquire("a", on_contended=lambda *words: heard.append(words)):
            waiting = threading.Thread(target=lambda: self.node.acquire(
                "a", mode=Mode.SHARED).release())
            waiting.start()
            self.assertTrue(wait_for(lambda: heard == [(Mode.SHARED, 1, "")]))
            self.node.request_release("a", "please")
            self.assertTrue(wait_for(lambda: heard[1:] == [(Mode.EXCLUSIVE, 1, "please")]))
        waiting.join(PATIENCE)
        gc.collect()
        self.assertTrue(wait_for(lambda: len(mortise._callbacks._functions) == before))

    def test_a_holder_that_hears_of_others_may_give_way(self):
        given_up = threading.Event()
        hold = self.node.acquire("a", on_contended=lambda *_: (hold.unlock(), given_up.set()))
        with self.node.acquire("a", wait_max=PATIENCE):
            self.assertTrue(given_up.wait(PATIENCE))


class Lockers(OneNode):
    def test_a_name_is_acquired_again(self):
        locker = mortise.Locker(self.node, "import")
        with self.node.acquire("a", locker=locker) as first:
            with self.node.acquire("a", locker=locker) as second:
                self.assertEqual(first.token, second.token)
                self.assertEqual(locker.hold_count, 2)
                with self.assertRaises(mortise.InvalidArgument):
                    self.node.acquire("b", locker=mortise.Locker(self.node, "x" * 257))
            self.assertEqual(self.taken("a"), ["a"])
        self.assertEqual(locker.hold_count, 0)
        self.assertEqual(self.taken("a"), [])

    def test_all_are_released_at_once(self):
        locker = mortise.Locker(self.node)
        holds = [self.node.acquire(name, locker=locker) for name in "abc"]
        locker.release_all()
        self.assertEqual(self.taken("a", "b", "c"), [])
        self.assertIs(holds[0].state, mortise.HoldState.RELEASED)
        with self.assertRaises(TypeError):
            copy.copy(locker)

    def test_a_wait_cycle_is_a_deadlock(self):
        one, two = mortise.Locker(self.node, "one"), mortise.Locker(self.node, "two")
        refused = []

        def acquire(locker, first, second, together):
            with self.node.acquire(first, locker=locker):
                together.wait(PATIENCE)
                try:
                    self.node.acquire(second, locker=locker, wait_max=PATIENCE).release()
                except mortise.Deadlock:
                    refused.append(locker)

        together = threading.Barrier(2)
        threads = [threading.Thread(target=acquire, args=(one, "a", "b", together)),
                   threading.Thread(target=acquire, args=(two, "b", "a", together))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual(len(refused), 1)


class Numbers(OneNode):
    def test_metrics(self):
        self.node.acquire("a").release()
        metrics = self.node.metrics()
        self.assertEqual((metrics["acquires"], metrics["acquire_results"]["granted"]), (1, 1))
        self.assertIsNone(metrics["certificate_left_ms"])
        self.assertIn("# TYPE mortise_", self.node.prometheus())

    def test_members(self):
        me, = self.node.members()
        self.assertEqual((me["id"], me["role"]), (self.node.id, "voter"))
        self.node.transfer_leadership(self.node.id)
        for change in (lambda: self.node.promote_member(9),
                       lambda: self.node.move_member(9, "127.0.0.1:1"),
                       lambda: self.node.remove_member(-1),
                       lambda: self.node.add_member(self.node.id, "")):
            with self.assertRaises(mortise.InvalidArgument):
                change()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
