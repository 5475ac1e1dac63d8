#!/usr/bin/env python3
"""Each rule has a test, and tools/evidence.py finds who cites a rule."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import evidence  # noqa: E402

RULES = "# R\n\n| # | rule |\n| --- | --- |\n| S1 | **One.** It is. | x |\n| S2 | Two | x |\n"


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.plant("docs/rules.md", RULES)

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def finds(self, kind, *names):
        self.assertEqual(sorted(evidence.evidence(self.root)["S1"][kind]), sorted(names))

    def test_in_names_comments_and_bodies(self):
        self.plant("tests/x_test.cpp",
                   "TEST(Door, S1_Opens) {\n}\n\n// S1: it does.\nTEST(Door, Closes) {\n}\n\n"
                   "TEST_F(Door,\n       Slams) {  // S1, S2\n}\n\n"
                   'TEST(Door, Creaks) {\n    say("S1");\n}\n\n'
                   "TEST(Door, Turns) {\n    turn();  // (S1)\n}\n")
        self.finds("tests", "Door.S1_Opens", "Door.Closes", "Door.Slams", "Door.Turns")
        self.finds("suites")

    def test_at_the_top_of_a_file_and_elsewhere_in_it(self):
        self.plant("tests/x_test.cpp", "// Doors (S1).\n#include <x>\nTEST(Door, Opens) {\n}\n")
        self.plant("tests/y_test.cpp", "int help();  // S1\nTEST(Gate, Opens) {\n}\n")
        self.plant("tests/z.py", "# S1\n")
        self.plant("core/z.cpp", "// S1\n")
        self.finds("suites", "Door")
        self.finds("files", "tests/y_test.cpp", "tests/z.py")
        self.finds("tests")

    def test_of_a_mutant_and_the_test_that_kills_it(self):
        self.plant("tests/mutants/table/x.toml",
                   "[m]\nwhat = 'S1: It is wrong.'\nkilled_by = 'unit: Door.Opens'\n")
        self.finds("mutants", "m")
        self.finds("tests", "Door.Opens")
        self.assertEqual(evidence.untested(self.root), ["S2"])


class Tree(unittest.TestCase):
    def test_each_rule_has_a_test(self):
        self.assertEqual(evidence.untested(ROOT), [])


if __name__ == "__main__":
    unittest.main()
