"""Tests that bad histories are detected, and good ones accepted."""

import contextlib
import io
import json
import os
import tempfile
import unittest
from pathlib import Path

import history

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("HISTORY_CHECK", ROOT / "build/dev/tests/history_check")
SECOND = 1_000_000_000


def acquire(process, token, begin, end, mode="exclusive", valid_until=None, **more):
    return {"process": process, "node": 1, "operation": "acquire", "name": "a", "mode": mode,
            "invoke": begin, "return": end, "outcome": "granted", "token": str(token),
            "valid_until": valid_until or end + 100, **more}


def release(process, token, begin, end, **more):
    return {"process": process, "node": 1, "operation": "release", "name": "a", "invoke": begin,
            "return": end, "outcome": "released", "token": str(token), **more}


def told(operation, process, token, begin, end, **more):
    return {**release(process, token, begin, end, **more), "operation": operation}


def write(process, token, value, outcome="accepted"):
    call = {"process": process, "operation": "write", "name": "a", "invoke": 1,
            "token": str(token), "value": value}
    return {**call, "return": 2, "outcome": outcome} if outcome else call


def found(rule, calls, *more):
    return list(rule(sorted(calls, key=lambda call: call["invoke"]), *more))


def is_refused(*calls, deaths=None, restarts=None):
    """By the search, whose answer is about all calls at once."""
    with (tempfile.TemporaryDirectory(prefix="mortise-history-") as folder,
          contextlib.redirect_stdout(io.StringIO())):
        return bool([*history.search(PROGRAM, f"{folder}/history", calls, deaths or {},
                                     restarts or {})])


class Overlaps(unittest.TestCase):
    def test_one_after_the_other(self):
        self.assertFalse(is_refused(acquire("p", 1, 10, 20), release("p", 1, 30, 50),
                                    acquire("q", 2, 15, 40)))

    def test_before_the_release_was_asked_for(self):
        self.assertTrue(is_refused(acquire("p", 1, 10, 20), release("p", 1, 30, 50),
                                   acquire("q", 2, 15, 29)))

    def test_before_the_lease_ended(self):
        held = acquire("p", 1, 10, 20, valid_until=60), told("lost", "p", 1, 50, 99)
        self.assertTrue(is_refused(*held, acquire("q", 2, 15, 59)))
        self.assertFalse(is_refused(*held, acquire("q", 2, 15, 61)))

    def test_a_later_look_makes_it_longer(self):
        held = acquire("p", 1, 10, 20, valid_until=60), told("lost", "p", 1, 50, 99)
        look = told("valid", "p", 1, 50, 51, valid_until=90)
        self.assertTrue(is_refused(*held, look, acquire("q", 2, 15, 70)))
        self.assertFalse(is_refused(*held, acquire("q", 2, 15, 70)))

    def test_what_is_lost_is_over(self):
        lost = told("lost", "p", 1, 20, 40)
        self.assertFalse(is_refused(acquire("p", 1, 10, 20), lost, acquire("q", 2, 15, 41)))
        self.assertTrue(is_refused(acquire("p", 1, 10, 20), lost, acquire("q", 2, 15, 39)))

    def test_what_is_broken_was_over_when_its_owner_heard_of_it(self):
        lost = told("lost", "p", 1, 30, 50, why="broken")
        self.assertFalse(is_refused(acquire("p", 1, 10, 20), lost, acquire("q", 2, 15, 31)))
        self.assertTrue(is_refused(acquire("p", 1, 10, 20), lost, acquire("q", 2, 15, 29)))

    def test_what_a_closed_node_had_was_over_when_its_owner_heard_of_it(self):
        lost = told("lost", "p", 1, 30, 50, why="node_stopped")
        self.assertFalse(is_refused(acquire("p", 1, 10, 20), lost, acquire("q", 2, 15, 31)))
        self.assertTrue(is_refused(acquire("p", 1, 10, 20), lost, acquire("q", 2, 15, 29)))

    def test_of_two_readers_of_a_process_each_has_what_is_said_of_it(self):
        readers = (acquire("p", 1, 10, 20, "shared", hold=1),
                   acquire("p", 1, 12, 22, "shared", hold=2))
        one, other = (release("p", 1, 30, 31, hold=1), release("p", 1, 50, 51, hold=2))
        self.assertFalse(is_refused(*readers, one, other, acquire("q", 2, 15, 50)))
        self.assertTrue(is_refused(*readers, one, other, acquire("q", 2, 15, 49)))
        self.assertTrue(is_refused(*readers, one, acquire("q", 2, 15, 60)))

    def test_the_dead_hold_nothing(self):
        """Once another process has their directory, or when their lease is over."""
        calls = acquire("p", 1, 10, 20), acquire("q", 2, 15, 41)
        self.assertFalse(is_refused(*calls, deaths={"p": 40}, restarts={"p": 41}))
        self.assertTrue(is_refused(*calls, deaths={"p": 40}, restarts={"p": 42}))
        self.assertTrue(is_refused(*calls))

    def test_readers_together_but_not_beside_a_writer(self):
        readers = acquire("p", 1, 10, 20, "shared"), acquire("q", 1, 10, 21, "shared")
        self.assertFalse(is_refused(*readers))
        self.assertTrue(is_refused(*readers, acquire("r", 2, 10, 22)))

    def test_other_names_do_not_matter(self):
        self.assertFalse(is_refused(acquire("p", 1, 10, 20), acquire("q", 2, 15, 25, name="b")))

    def test_learning_late_of_what_is_over_is_no_overlap(self):
        late = acquire("p", 1, 10, 200, valid_until=90), told("lost", "p", 1, 10, 200)
        self.assertFalse(is_refused(*late, acquire("q", 2, 15, 150)))


class Tokens(unittest.TestCase):
    def test_rising(self):
        self.assertFalse(is_refused(acquire("p", 1, 10, 20), release("p", 1, 21, 22),
                                    acquire("q", 2, 30, 40)))

    def test_back(self):
        self.assertTrue(is_refused(acquire("p", 2, 10, 20), release("p", 2, 21, 22),
                                   acquire("q", 1, 30, 40)))

    def test_any_order_while_both_are_under_way(self):
        self.assertFalse(is_refused(acquire("p", 2, 10, 40, "shared"),
                                    acquire("q", 1, 30, 50, "shared")))

    def test_only_readers_share(self):
        def twice(one, other):
            return is_refused(acquire("p", 1, 10, 20, one), release("p", 1, 35, 36),
                              acquire("q", 1, 30, 40, other))
        self.assertFalse(twice("shared", "shared"))
        self.assertTrue(twice("exclusive", "exclusive"))
        self.assertTrue(twice("shared", "exclusive"))


class Store(unittest.TestCase):
    def seen(self, *calls):
        return len(found(history.store, calls))

    def test_each_adds_one(self):
        self.assertEqual(self.seen(write("p", 1, 1), write("q", 3, 2)), 0)

    def test_a_lost_write(self):
        self.assertEqual(self.seen(write("p", 1, 1), write("q", 2, 1)), 1)

    def test_what_was_refused_is_not_there(self):
        self.assertEqual(self.seen(write("p", 2, 1), write("q", 1, 1, "refused")), 0)

    def test_an_older_token_after_a_newer_one(self):
        self.assertEqual(self.seen(write("p", 2, 1), write("q", 1, 2)), 1)

    def test_a_write_out_of_nothing(self):
        self.assertEqual(self.seen(write("p", 1, 1), write("q", 2, 3)), 1)

    def test_the_write_of_one_who_died_may_be_there_or_not(self):
        self.assertEqual(self.seen(write("p", 1, 1), write("q", 2, 2, None), write("r", 3, 3)), 0)
        self.assertEqual(self.seen(write("p", 1, 1), write("q", 2, 2, None), write("r", 3, 2)), 0)


def value(process, token, operation, number=None, outcome="accepted"):
    call = told(f"{operation}_value", process, token, token * 10, token * 10 + 1)
    return {**call, "outcome": outcome, **({"value": str(number)} if number is not None else {})}


class Values(unittest.TestCase):
    def seen(self, *calls):
        return len(found(history.values, calls))

    def test_the_newest_is_read(self):
        self.assertEqual(self.seen(value("p", 1, "read", 0), value("p", 1, "write"),
                                   value("q", 2, "write"), value("r", 3, "read", 2)), 0)

    def test_an_older_one_is_read(self):
        self.assertEqual(self.seen(value("p", 1, "write"), value("q", 2, "write"),
                                   value("r", 3, "read", 1)), 1)

    def test_what_was_written_is_gone(self):
        self.assertEqual(self.seen(value("p", 1, "write"), value("q", 2, "read", 0)), 1)

    def test_one_whose_writer_does_not_know_may_be_read_or_not(self):
        unknown = value("p", 1, "write"), value("q", 2, "write", outcome="unknown")
        self.assertEqual(self.seen(*unknown, value("r", 3, "read", 2)), 0)
        self.assertEqual(self.seen(*unknown, value("r", 3, "read", 1)), 0)

    def test_one_that_was_refused_is_read(self):
        self.assertEqual(self.seen(value("p", 1, "write", outcome="refused"),
                                   value("q", 2, "read", 1)), 1)

    def test_what_nobody_wrote_yet_is_read(self):
        self.assertEqual(self.seen(value("p", 2, "read", 2), value("p", 2, "write")), 1)


class ValuesAndLossesOfPower(unittest.TestCase):
    """Of calls at 10, 20 and so on, as their tokens say."""

    calls = value("p", 1, "write"), value("q", 2, "write"), value("r", 3, "read", 1)

    def seen(self, *blackouts):
        return len(found(history.values, self.calls, blackouts))

    def test_what_was_written_just_before_may_be_forgotten(self):
        self.assertEqual(self.seen((15, 25)), 0)

    def test_what_was_written_long_before_may_not(self):
        self.assertEqual(self.seen((22, 25)), 1)

    def test_what_was_written_after_it_may_not(self):
        self.assertEqual(self.seen((5, 19)), 1)

    def test_nothing_is_forgotten_before_the_power_is_lost(self):
        self.assertEqual(self.seen((15, 35)), 1)

    def test_only_the_newest_may_be_forgotten(self):
        calls = (*self.calls[:2], value("r", 3, "read", 0))
        self.assertEqual(len(found(history.values, calls, [(15, 25)])), 1)


class Terms(unittest.TestCase):
    def seen(self, *calls, blackouts=()):
        return len(found(history.terms, calls, blackouts))

    def test_longer_than_a_max_hold(self):
        grant = acquire("p", 1, 10, 20, max_hold=30)
        self.assertEqual(self.seen(grant, told("valid", "p", 1, 50, 51)), 0)
        self.assertEqual(self.seen(grant, told("valid", "p", 1, 51, 52)), 1)

    def test_of_two_readers_of_a_process_nobody_knows_which(self):
        readers = (acquire("p", 1, 10, 20, "shared", max_hold=30),
                   acquire("p", 1, 12, 22, "shared"))
        self.assertEqual(self.seen(*readers, told("valid", "p", 1, 90, 91)), 0)

    def test_of_two_readers_of_a_process_the_bounded_one(self):
        readers = (acquire("p", 1, 10, 20, "shared", max_hold=30, hold=1),
                   acquire("p", 1, 12, 22, "shared", hold=2))
        self.assertEqual(self.seen(*readers, told("valid", "p", 1, 90, 91, hold=1)), 1)
        self.assertEqual(self.seen(*readers, told("valid", "p", 1, 90, 91, hold=2)), 0)

    def test_earlier_than_a_min_hold(self):
        grant = acquire("p", 1, 10, 20, min_hold=30)
        self.assertEqual(self.seen(grant, acquire("q", 2, 15, 40)), 0)
        self.assertEqual(self.seen(grant, acquire("q", 2, 15, 39)), 1)

    def test_earlier_than_a_lock_delay(self):
        lost = (acquire("p", 1, 10, 20, lock_delay=30),
                told("lost", "p", 1, 25, 28, why="expired"))
        self.assertEqual(self.seen(*lost, acquire("q", 2, 15, 55)), 0)
        self.assertEqual(self.seen(*lost, acquire("q", 2, 15, 54)), 1)

    def test_a_delay_is_forgotten_with_an_era(self):
        lost = (acquire("p", 1, 10, 20, lock_delay=30),
                told("lost", "p", 1, 25, 28, why="expired"))
        other = acquire("q", 2, 15, 54)
        self.assertEqual(self.seen(*lost, other, blackouts=[(15, 26)]), 0)
        self.assertEqual(self.seen(*lost, other, blackouts=[(5, 9)]), 1)

    def test_no_delay_without_a_loss(self):
        grant = acquire("p", 1, 10, 20, lock_delay=30)
        stopped = told("lost", "p", 1, 25, 28, why="node_stopped")
        self.assertEqual(self.seen(grant, stopped, acquire("q", 2, 15, 40)), 0)

    def test_readers_come_beside_a_reader(self):
        grant = acquire("p", 1, 10, 20, "shared", min_hold=30)
        self.assertEqual(self.seen(grant, acquire("q", 2, 15, 25, "shared"),
                                   acquire("r", 3, 15, 39)), 1)


class Late(unittest.TestCase):
    call = acquire("p", 1, 0, 9 * SECOND, bound=5 * SECOND)

    def test_in_time(self):
        self.assertEqual(found(history.late, [{**self.call, "bound": 7 * SECOND}], []), [])

    def test_too_late(self):
        self.assertEqual(len(found(history.late, [self.call], [])), 1)

    def test_whoever_stood_still_has_an_excuse(self):
        for slowed, seen in (((1, SECOND, 4 * SECOND), 0), ((1, 8 * SECOND, 90 * SECOND), 1),
                             ((2, SECOND, 4 * SECOND), 1)):
            self.assertEqual(len(found(history.late, [self.call], [slowed])), seen)

    def test_an_answer_that_never_came(self):
        call = {key: value for key, value in self.call.items() if key != "return"}
        self.assertEqual(len(found(history.unanswered, [call], {})), 1)
        self.assertEqual(len(found(history.unanswered, [call], {"p": 5})), 0)


class Lines(unittest.TestCase):
    def test_are_joined_and_a_torn_one_is_left_out(self):
        lines = ['{"call":1,"operation":"acquire","name":"a","mode":"shared","invoke":5}',
                 '{"call":2,"operation":"try","name":"b","mode":"exclusive","invoke":6}',
                 '{"call":1,"return":9,"outcome":"granted","token":"3"}', '{"call":2,"retu']
        first, second = history.join(lines, "p", 1)
        self.assertEqual((first["invoke"], first["return"], first["token"]), (5, 9, "3"))
        self.assertNotIn("return", second)

    def test_the_longest_gap_counts_the_time_before_and_after(self):
        times = history.grant_times([acquire("p", 2, 1, 30), acquire("p", 1, 1, 10),
                                     acquire("p", 3, 1, 35), release("p", 1, 20, 25)])
        self.assertEqual(history.longest_gap(times, 0, 40), 20)
        self.assertEqual(history.longest_gap(times, 0, 90), 55)
        self.assertEqual(history.longest_gap(times, 11, 30), 19)

    def test_the_locks_of_the_dead_are_free_when_somebody_else_has_them(self):
        calls = [acquire("p", 1, 1, 10), acquire("q", 2, 1, 30), acquire("q", 3, 1, 40)]
        self.assertEqual(list(history.orphaned(calls, {"p": 15})), [15])
        self.assertEqual(list(history.orphaned([*calls, release("p", 1, 12, 13)], {"p": 15})), [])

    def test_for_the_search_a_lease_ends_before_a_late_restart(self):
        lines = history.for_the_search([acquire("p", 1, 10, 20)], {"p": 50}, {"p": 900})
        self.assertEqual([(line["operation"], line["invoke"]) for line in lines],
                         [("acquire", 10), ("died", 50), ("lost", 120)])

    def test_for_the_search_a_restart_ends_each_of_two_readers(self):
        calls = [acquire("p", 1, 10, 20, "shared", hold=1),
                 acquire("p", 1, 12, 22, "shared", hold=2), release("p", 1, 30, 31, hold=1)]
        lines = history.for_the_search(calls, {"p": 50}, {"p": 60})
        self.assertEqual([(line["invoke"], line["hold"]) for line in lines
                          if line["operation"] == "lost"], [(60, 2)])

    def test_for_the_search_what_is_broken_or_closed_is_over_before_its_owner_hears_of_it(self):
        for why, ends in (("broken", 30), ("node_stopped", 30), ("expired", None)):
            lines = history.for_the_search([acquire("p", 1, 10, 20),
                                            told("lost", "p", 1, 30, 50, why=why)], {}, {})
            self.assertEqual(lines[-1].get("valid_until"), ends)

    def test_for_the_search_a_restart_ends_what_the_dead_had(self):
        calls = [acquire("p", 1, 10, 20), acquire("p", 2, 30, 40), release("p", 1, 21, 22),
                 write("p", 2, 1)]
        lines = history.for_the_search(calls, {"p": 50}, {"p": 60})
        self.assertEqual([(line["operation"], line["invoke"]) for line in lines],
                         [("acquire", 10), ("release", 21), ("acquire", 30), ("died", 50),
                          ("lost", 60)])
        self.assertEqual(json.loads(json.dumps(lines[-1]))["token"], "2")


if __name__ == "__main__":
    unittest.main()
