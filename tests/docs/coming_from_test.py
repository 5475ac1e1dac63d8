#!/usr/bin/env python3
"""The page docs/coming-from.md, and the script that checks it: each mistake is planted once."""

import tempfile
import unittest
from pathlib import Path

import coming_from

HEADER = "| theirs | Mortise | shown by |\n| --- | --- | --- |\n"


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.plant("tests/queue_test.cpp", "TEST(Queue, WakesOne) {\n}\n")
        self.plant("tests/CMakeLists.txt",
                   "foreach(example IN ITEMS 1_lock)\nrun(examples/stories/2_long.py)\n")
        self.plant("examples/1_lock.cpp", "int x;\n")
        self.plant("examples/stories/2_long.py", "x = 1\n")
        self.plant("examples/3_alone.cpp", "int x;\n")
        self.plant("embed/include/mortise/node.hpp", "class Node { Hold acquire(); };\n")

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def finds(self, row, *expected):
        self.plant(coming_from.PAGE, f"# Page\n\n{HEADER}{row}\n")
        found = list(coming_from.complaints(self.root))
        self.assertEqual(len(found), len(expected), found)
        for complaint, part in zip(found, expected):
            self.assertTrue(complaint.startswith("5: "), complaint)
            self.assertIn(part, complaint)

    def test_a_row_as_it_should_be(self):
        self.finds('| `a | b` | `Node::acquire("x")` | `Queue.WakesOne`, '
                   "[1](../examples/1_lock.cpp), [2](../examples/stories/2_long.py) |")
        self.finds("| a | no counterpart | `Queue.WakesOne` |")

    def test_tests_and_examples_that_do_not_exist(self):
        self.finds("| a | `Node` | `Queue.WakesAll` |", "no test Queue.WakesAll")
        self.finds("| a | `Node` | [1](../examples/9_gone.cpp) |", "no example")
        self.finds("| a | `Node` | [1](../tests/queue_test.cpp) |", "no example")
        self.finds("| a | `Node` | [3](../examples/3_alone.cpp) |", "no test runs")

    def test_rows_that_name_nothing(self):
        self.finds("| a | `Node` | |", "names no test")
        self.finds("| a | `Node` | - |", "no test and no link: -", "names no test")
        self.finds("| a | `Node` | see `Queue.WakesOne` |", "no test and no link: see")

    def test_calls_that_do_not_exist(self):
        self.finds("| a | `Node::vanish` | `Queue.WakesOne` |", "vanish is not in the public")

    def test_cells_that_are_missing(self):
        self.finds("| a | `Node` |", "2 cells below a header of 3")

    def test_tables_of_one_kind_alone(self):
        self.plant(coming_from.PAGE, "# Page\n\n| a | Mortise |\n| --- | --- |\n| c | `Gone` |\n")
        self.assertEqual(list(coming_from.complaints(self.root)),
                         ["1: no table has a column 'shown by'",
                          "5: Gone is not in the public API"])


class Page(unittest.TestCase):
    def test_names_only_what_exists(self):
        self.assertEqual(list(coming_from.complaints(coming_from.ROOT)), [])


if __name__ == "__main__":
    unittest.main()
