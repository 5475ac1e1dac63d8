#!/usr/bin/env python3
"""The pages, and the scripts that check them: each mistake is planted once.

    pages_test.py [CTEST BUILD-FOLDER]
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import pages
import shell_blocks

sys.path.insert(0, str(pages.ROOT / "tools/site"))
import dead_links  # noqa: E402

CTEST = sys.argv[1:3]
del sys.argv[1:]


def blocks(text):
    return list(shell_blocks.blocks(text.splitlines()))


class Blocks(unittest.TestCase):
    def test_their_modes_files_and_outputs(self):
        found = blocks("```sh\na\n```\n\n```text\nshown\n```\nwords\n```text\nnot shown\n```\n"
                       "<!-- sh full: it takes root -->\n```sh\nb\n```\n"
                       "<!-- file: x/y.toml -->\n<!-- from: z -->\n\n```toml\nc = 1\n```\n"
                       "```sh\nd\n```\n")
        self.assertEqual([(each.mode, each.file, each.shows) for each in found],
                         [("run", "", ["shown"]), ("run", "", []), ("run", "", []),
                          ("full", "", []), ("run", "x/y.toml", []), ("run", "", [])])
        self.assertEqual([each.is_command for each in found],
                         [True, False, False, True, False, True])

    def test_hidden_commands(self):
        found = blocks("words\n<!-- sh hidden: a cluster to ask\na\nb\n-->\n```sh\nc\n```\n")
        self.assertEqual([(each.mode, each.text) for each in found],
                         [("hidden", "a\nb\n"), ("run", "c\n")])

    def test_what_is_not_understood(self):
        for text in ("```sh\na\n", "<!-- sh later: why -->\n```sh\na\n```\n",
                     "<!-- sh full -->\n```sh\na\n```\n", "<!-- sh full: x -->\n```cpp\na\n```\n",
                     "<!-- sh hidden: x\na\n"):
            with self.subTest(text), self.assertRaises(shell_blocks.Mistake):
                blocks(text)

    def test_output_with_other_numbers_and_blanks(self):
        output = ["ID  NODE", "12  10.0.0.1:7401  00ff00ff00ff00ff", "more", "done in 2 s"]
        self.assertIsNone(shell_blocks.missing(["3 10.0.0.2:1 0123456789abcdef", "...",
                                                "done in 15 s"], output))
        self.assertEqual(shell_blocks.missing(["done in 1 s", "more"], output), "more")
        self.assertEqual(shell_blocks.missing(["ID"], output), "ID")


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.plant("dev", "  build [PRESET]   builds\n")
        self.plant(pages.LISTED_IN, "docs_page(docs/listed.md)\n")
        self.plant("embed/x.cpp", 'say("node " + id + " is too "\n    "far behind: \\"" + name);\n')

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def finds(self, name, text, *expected):
        self.plant(name, text)
        found = list(pages.complaints(self.root, ["core_unit", "process_test"]))
        self.assertEqual(len(found), len(expected), found)
        for complaint, part in zip(found, expected):
            self.assertIn(part, complaint)
        (self.root / name).unlink()

    def test_commands(self):
        self.finds("docs/listed.md", "```sh\n./dev build\n```\n")
        self.finds("docs/listed.md", "```sh\n./dev vanish\n```\n", "listed.md:1: ./dev has no")
        self.finds("docs/x.md", "```sh\ntrue\n```\n", "x.md:1: its commands are not executed")
        self.finds("docs/x.md", "<!-- sh skip: why -->\n```sh\ntrue\n```\n")
        self.finds("docs/x.md", "<!-- sh hidden: why\ntrue\n-->\n", "not executed")
        self.finds("docs/x.md", "```\nwords\n```\n", "x.md:1: a block of code has a language")
        self.finds("docs/x.md", "```sh\nwords\n", "1: the block does not end")

    def test_toml(self):
        self.finds("docs/x.md", "```toml\na = 1\n```\n")
        self.finds("docs/x.md", "```toml\na = \n```\n", "x.md:1: Invalid value")

    def test_messages(self):
        page = "# H\n\n## Symptoms\n\n| a | b |\n| --- | --- |\n| log: `{}` | `anything else` |\n"
        for good in ("node 3 is too far behind: ...", "... is too far behind", "short"):
            self.finds("docs/handbook.md", page.format(good))
        self.finds("docs/handbook.md", page.format("node ... is too slow"), "7: the program does")
        self.finds("docs/handbook.md", page.format("is too slow").replace("Symptoms", "Other"))

    def test_figures(self):
        self.plant("docs/source.md", "| a | 1,234 us, 5.50 |\n")
        page = "<!-- figures: docs/source.md -->\n| | x |\n| --- | --- |\n| a 7 | {} |\n"
        self.finds("docs/x.md", page.format("1,234 us, 5.50 s"))
        for wrong in ("1,23", "234", "5.5", "1,235"):
            self.finds("docs/x.md", page.format(wrong), "x.md:4: the page that the figures")

    def test_suites(self):
        self.finds("docs/x.md", "| `ctest -R process_test` | `ctest -R core` |\n")
        self.finds("docs/x.md", "words `ctest -R gone_test`\n", "x.md:1: there is no test gone")


class DeadLinks(unittest.TestCase):
    """Of the site that `./dev docs` makes."""

    def finds(self, html, *expected):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "x").mkdir()
            (Path(folder) / "x/y.html").write_text('<h1 id="a-b">A</h1><a name="old"></a>')
            (Path(folder) / "z.html").write_text(html)
            found = list(dead_links.complaints(Path(folder)))
        self.assertEqual(len(found), len(expected), found)
        for complaint, part in zip(found, expected):
            self.assertIn(part, complaint)

    def test_live_ones(self):
        self.finds('<a href="x/y.html#a-b">a</a> <a href="./x/y.html#old">b</a> <i id="c">c</i>'
                   '<a href="#c">d</a> <a href="https://example.org/gone">e</a>'
                   '<img src="x/y.html">')

    def test_dead_ones(self):
        self.finds('<a href="x/gone.html">a</a>', "z.html: link leads nowhere: x/gone.html")
        self.finds('<a href="x/y.html#b">a</a>', "z.html: no such anchor: x/y.html#b")
        self.finds('<a href="#b">a</a>', "no such anchor: #b")
        self.finds('<img src="gone.svg">', "leads nowhere: gone.svg")
        self.finds('<link href="gone.css">', "leads nowhere: gone.css")

    def test_what_is_fetched_from_elsewhere(self):
        self.finds('<script src="https://example.org/x.js"></script>', "from elsewhere: https")
        self.finds('<img src="//example.org/x.png">', "from elsewhere: //example.org")


class Pages(unittest.TestCase):
    def test_say_what_is_true(self):
        self.maxDiff = None
        listed = []
        if CTEST:
            words = [CTEST[0], "--test-dir", CTEST[1], "-N"]
            said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
            listed = re.findall(r"Test +#\d+: (\S+)", said)
            self.assertIn("docs_pages", listed)
        self.assertEqual(list(pages.complaints(pages.ROOT, listed)), [])


if __name__ == "__main__":
    unittest.main()
