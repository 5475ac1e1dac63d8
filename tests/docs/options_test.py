#!/usr/bin/env python3
"""The commands and options of the `mortise` program that the pages name exist.

    options_test.py MORTISE

A command is named in backticks or in a block of `sh`, from the word `mortise` to the end or to a
sign of the shell.
"""

import functools
import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import shell_blocks  # noqa: E402
import tidy  # noqa: E402

PROGRAM = sys.argv.pop(1)
COMMAND = re.compile(r"(?<![\w./$-])mortise ((?:[^`|;&)<>\n\\]|\\\n)+)")
# These tell of the past.
NOT_NOW = ("docs/decisions/", "CHANGELOG.md")
# A line with these words is about a command of a later version.
NOT_YET = "not in this version"


@functools.cache
def help_of(*words):
    done = subprocess.run([PROGRAM, *words, "--help"], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def commands(lines):
    """(line, words of a command line) for each that a page has."""
    for block in shell_blocks.blocks(lines):
        if block.language == "sh":
            for words in COMMAND.findall(block.text):
                yield block.line, words.replace("\\\n", " ").split()
    for number, line in tidy.unfenced(lines):
        for code in re.findall(r"`([^`]+)`", "" if NOT_YET in line else line):
            if code.startswith("mortise "):
                for words in COMMAND.findall(code):
                    yield number, words.split()


def complaint(words):
    """What is wrong with a command line, or None. Words in capitals and prefixes of options that
    stand for others are the reader's to replace."""
    if not re.fullmatch(r"[a-z-]+", words[0]) or words[0].startswith("-"):
        return None
    path = [words[0]]
    if help_of(*path) is None:
        return f"mortise has no command {words[0]}"
    text = help_of(*path)
    if len(words) > 1 and re.fullmatch(r"[a-z]+", words[1]) and re.search(
            rf"^ +{words[1]}\b", text, re.MULTILINE):
        path.append(words[1])
        text += help_of(*path) or ""
    if "--" in words:
        words = words[:words.index("--")]
    for option in re.findall(r"(?<!\S)--[a-z-]+", " ".join(words)):
        if not re.search(rf"(?<![\w-]){option}(?![\w-])", text):
            return f"mortise {' '.join(path)} has no option {option}"
    return None


class Options(unittest.TestCase):
    def test_mistakes_are_found(self):
        self.assertIsNone(complaint("status --peer HOST:PORT --ready".split()))
        self.assertIsNone(complaint("cert issue --node 1".split()))
        self.assertIn("no command", complaint(["vanish"]))
        self.assertIn("no option --vanish", complaint("cert issue --vanish".split()))
        self.assertIn("no option --read", complaint("status --read".split()))

    def test_the_pages_have_none(self):
        found, count = [], 0
        for name in tidy.tree(ROOT):
            if name.endswith(".md") and not name.startswith(NOT_NOW):
                for number, words in commands(tidy.read(ROOT / name)):
                    count += 1
                    if problem := complaint(words):
                        found.append(f"{name}:{number}: {problem}: {' '.join(words)}")
        self.assertEqual(found, [])
        self.assertGreater(count, 60)


if __name__ == "__main__":
    unittest.main()
