"""Tests that a fault which others notice is a violation."""

import unittest
from types import SimpleNamespace

import watched

SECOND = 1_000_000_000


class Cluster:
    def __init__(self, *leadership):
        self.said = list(leadership)
        self.complaints = []

    def leadership(self):
        return self.said.pop(0)

    def complain(self, what):
        self.complaints.append(what)


def complaints(granted_at, leadership=((1, 5), (1, 5)), keeps_leader=True):
    cluster = Cluster(*leadership)
    fault = SimpleNamespace(alone=0, keeps_leader=keeps_leader, kind="liar",
                            where=lambda: "node1")
    seconds = watched.Watched(cluster, fault)
    seconds.begin, seconds.until = 0, 6 * SECOND
    seconds.judge([{"outcome": "granted", "return": int(at * SECOND)} for at in granted_at])
    return len(cluster.complaints)


class Gaps(unittest.TestCase):
    def test_those_that_are_short(self):
        self.assertEqual(complaints([0.5, 1.9, 3.3, 4.7]), 0)

    def test_one_that_is_too_long(self):
        self.assertEqual(complaints([0.5, 1, 5]), 1)

    def test_nothing_at_all(self):
        self.assertEqual(complaints([]), 1)


class Leaders(unittest.TestCase):
    grants = (1, 2, 3, 4, 5)

    def test_another_one(self):
        self.assertEqual(complaints(self.grants, [(1, 5), (2, 6)]), 1)

    def test_the_same_one_in_another_term(self):
        self.assertEqual(complaints(self.grants, [(1, 5), (1, 7)]), 1)

    def test_another_one_where_that_is_allowed(self):
        self.assertEqual(complaints(self.grants, [(1, 5), (2, 6)], keeps_leader=False), 0)


if __name__ == "__main__":
    unittest.main()
