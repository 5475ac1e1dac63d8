"""The fenced blocks of a page that a reader types or saves, in the order of the page.

A block of `sh` is executed. What may stand on the lines before its fence:

    <!-- sh full: REASON -->      executed in `./dev test --full` only
    <!-- sh newcomer: REASON -->  executed by tests/docs/newcomer.py, which has a bare system
    <!-- sh skip: REASON -->      not executed
    <!-- sh fails: REASON -->     executed, and its last command has to fail

    <!-- file: NAME -->           any block: its text is saved as NAME in the working directory

A block of `text` right after a block of `sh` is what that prints: each of its lines, in this order,
is among the lines of the output; numbers and runs of blanks may differ, and "..." stands for any
lines. Commands that the page does not show, for example a cluster to ask, are in a comment:

    <!-- sh hidden: REASON
    COMMANDS
    -->
"""

import re
from dataclasses import dataclass, field

MODES = ("run", "full", "newcomer", "skip", "fails", "hidden")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,}) *(\S*)")
MARKER = re.compile(r"<!-- sh (\w+): \S.* -->")
FILE = re.compile(r"<!-- file: (\S+) -->")
HIDDEN = re.compile(r"<!-- sh hidden: \S")


class Mistake(Exception):
    """A page that cannot be read as described above."""


@dataclass
class Block:
    line: int  # of the fence
    language: str
    text: str
    mode: str = "run"
    file: str = ""
    shows: list = field(default_factory=list)  # the lines of its output

    @property
    def is_command(self):
        return self.language == "sh" and not self.file


def blocks(lines):
    """All fenced blocks of a page, and the hidden commands as blocks of `sh`."""
    markers, previous = [], None
    rest = iter(enumerate(lines, 1))
    for number, line in rest:
        if hidden := HIDDEN.match(line):
            previous = Block(number, "sh", body(rest, "-->", number), "hidden")
            yield previous
        elif fence := FENCE.match(line):
            block = Block(number, fence[2], body(rest, fence[1], number))
            mark(block, markers, number)
            if shows(previous, block):
                previous.shows = block.text.splitlines()
            markers, previous = [], block
            yield block
        elif line.strip():
            is_marker = line.strip().startswith("<!--")
            markers = [*markers, line.strip()] if is_marker else []
            # Only markers may be between commands and what they print.
            previous = previous if is_marker else None


def body(rest, end, begin):
    text = []
    for _, line in rest:
        if line.strip() == end:
            return "".join(each + "\n" for each in text)
        text.append(line)
    raise Mistake(f"{begin}: the block does not end")


def mark(block, markers, number):
    for marker in markers:
        if found := FILE.fullmatch(marker):
            block.file = found[1]
        elif found := MARKER.fullmatch(marker):
            if found[1] not in MODES or block.language != "sh":
                raise Mistake(f"{number}: no such marker for a block of "
                              f"{block.language or 'text'}: {marker}")
            block.mode = found[1]
        elif marker.startswith("<!-- sh"):
            raise Mistake(f"{number}: a marker is <!-- sh MODE: REASON -->, not {marker}")


def shows(previous, block):
    return (previous is not None and previous.is_command and previous.mode != "hidden"
            and block.language == "text" and not block.file)


def normal(line):
    """Without what differs from run to run: numbers, and the width of columns."""
    line = re.sub(r"\b[0-9a-f]{16,}\b", "0", line)
    return re.sub(r"\s+", " ", re.sub(r"\d+", "0", line)).strip()


def missing(expected, output):
    """The first expected line that the output does not have after the ones before it, or None."""
    left = iter([normal(line) for line in output])
    for line in expected:
        wanted = normal(line)
        if wanted in ("", "..."):
            continue
        if wanted not in left:  # takes what comes before it
            return line
    return None
