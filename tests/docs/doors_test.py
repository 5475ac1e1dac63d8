#!/usr/bin/env python3
"""SECURITY.md says of each port that a node can open who reaches it, and what that allows."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import tidy  # noqa: E402

# The files that listen, and the options that say where. None of them: nobody is served there.
LISTENING = {
    "transport/sockets/listener.cpp": ["Config::listen"],
    "embed/http/listen_address.cpp": ["ConsoleOptions::listen", "HttpDoorOptions::listen"],
    "tools/mortise/doctor/port_check.cpp": [],  # whether a port is free
    "embed/testing/link_proxy.cpp": [],  # between the nodes of a test
}
PRODUCT = re.compile(r"(core|storage|transport|embed|tools)/.*\.(cpp|hpp)$")
LISTENS = re.compile(r"::listen\(\w|acceptor\w*\.listen\(")
OPTION = re.compile(r"^    std::string listen\b", re.MULTILINE)
STRUCT = re.compile(r"^struct (\w+) \{", re.MULTILINE)


def options(header):
    """The options of a header that say where something listens: `Config::listen`."""
    for option in OPTION.finditer(header):
        yield STRUCT.findall(header[:option.start()])[-1] + "::listen"


def rows(page):
    """The first column of the table "Who can do what"."""
    section = page.split("\n## Who can do what\n")[1].split("\n## ")[0]
    return [line.split("|")[1] for line in section.splitlines() if line.startswith("| ")]


class Doors(unittest.TestCase):
    def setUp(self):
        files = [str(path) for path in tidy.tree(ROOT)]
        self.sources = {path: (ROOT / path).read_text(encoding="utf-8")
                        for path in files if PRODUCT.match(path)}

    def test_each_file_that_listens_is_known(self):
        found = {path for path, text in self.sources.items() if LISTENS.search(text)}
        self.assertEqual(found, set(LISTENING))

    def test_each_option_is_that_of_a_file(self):
        found = {option for path, text in self.sources.items()
                 if "/include/" in path for option in options(text)}
        self.assertEqual(found, set().union(*LISTENING.values()))

    def test_each_option_has_a_row(self):
        names = "\n".join(rows((ROOT / "SECURITY.md").read_text(encoding="utf-8")))
        for option in set().union(*LISTENING.values()):
            self.assertIn(f"`{option}`", names)


class Reading(unittest.TestCase):
    def test_options_and_rows(self):
        self.assertEqual(list(options("struct A {\n};\nstruct B {\n    std::string listen{};\n")),
                         ["B::listen"])
        self.assertEqual(rows("x\n## Who can do what\n\n| a | b |\n| c `D` | e |\n## y\n| z | z |"),
                         [" a ", " c `D` "])


if __name__ == "__main__":
    unittest.main()
