#!/usr/bin/env python3
"""The tables of docs/cli.md that repeat `mortise --help` are those of the program.

    help_tables_test.py MORTISE [--write]

Each stands after a line `<!-- table of the program: NAME -->`, up to the next empty line. --write
puts them there as they should be.
"""

import collections
import functools
import re
import subprocess
import sys
import unittest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/cli.md"
PROGRAM = sys.argv.pop(1)
TABLE = re.compile(r"(?<=<!-- table of the program: )(\w+) -->\n\n(?:\|.*\n)*")


@functools.cache
def help_of(*words):
    return subprocess.run([PROGRAM, *words, "--help"], capture_output=True, text=True,
                          check=True).stdout


def section(title, *words):
    """(heading, text) of each entry of a section of a command's help."""
    entries = []
    found = re.search(rf"^{title}:\n((?:  .*\n)+)", help_of(*words), re.MULTILINE)
    for line in found[1].splitlines() if found else []:
        if re.match(r"  \S", line):
            entries.append([*re.split(r"  +", line.strip(), maxsplit=1), ""][:2])
        else:
            entries[-1][1] = f"{entries[-1][1]} {line.strip()}".strip()
    return entries


def all_commands(*words):
    for name, does in section("Commands", *words):
        yield (*words, name), does
        yield from all_commands(*words, name)


def commands():
    """How each command is called, and what it does."""
    yield "command", "does"
    for words, does in all_commands():
        usage = re.search(r"^Usage: ((?:.+\n)+)", help_of(*words), re.MULTILINE)[1]
        usage = " ".join(usage.split()).replace(" [OPTIONS]", "")
        if section("Commands", *words):
            usage = usage.removesuffix(" [COMMAND]")
        if not usage.endswith(" COMMAND"):
            yield f"`{usage}`", does


def codes():
    """What each exit code means: mostly, and for the commands where it means something else."""
    yield "code", "means"
    meanings = collections.defaultdict(lambda: collections.defaultdict(list))
    for words, _ in [((), ""), *all_commands()]:
        for code, means in section("Exit codes", *words):
            meanings[int(code)][means].append(f"`{' '.join(words) or 'mortise'}`")
    for code, by_meaning in sorted(meanings.items()):
        most = max(map(len, by_meaning.values()))
        said = [means for means, names in by_meaning.items() if len(names) == most > 1][:1]
        said += [f"{', '.join(names)}: {means}" for means, names in by_meaning.items()
                 if means not in said]
        yield str(code), "; ".join(said)


def table(name):
    first, *rows = [f"| {' | '.join(row)} |\n" for row in {"commands": commands,
                                                          "codes": codes}[name]()]
    return "".join([first, "| --- | --- |\n", *rows])


def corrected(text):
    return TABLE.sub(lambda found: f"{found[1]} -->\n\n{table(found[1])}", text)


class HelpTables(unittest.TestCase):
    def test_the_page_has_those_of_the_program(self):
        self.maxDiff = None
        text = PAGE.read_text(encoding="utf-8")
        self.assertEqual(TABLE.findall(text), ["commands", "codes"])
        self.assertEqual(corrected(text), text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(corrected(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        unittest.main()
