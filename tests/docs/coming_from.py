"""Checks docs/coming-from.md: the calls that it names exist, and so do the tests and examples.

    a table with a column "Mortise"     each word in backticks there is in a public header, in the
                                        command line, or a key of the configuration
    the table "subject", "shown by"     tests as `Suite.Test`, and links to examples that a test
                                        runs; the page has it
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import tidy  # noqa: E402

PAGE = "docs/coming-from.md"
CALLS, SHOWN = "Mortise", "shown by"
REFERENCE = re.compile(r"`([A-Z]\w*\.[A-Z]\w*)`|\[[^\]]+\]\(([^)#\s]+)\)")


def cells(line):
    """The cells of a row; a bar in backticks separates nothing."""
    line = re.sub(r"`[^`]*`", lambda code: code[0].replace("|", "\0"), line.strip())
    return [cell.strip().replace("\0", "|") for cell in line.strip("|").split("|")]


def tables(lines):
    """The tables of a page: a header, and its rows with their line numbers."""
    header, rows = None, []
    for number, line in [*tidy.unfenced(lines), (0, "")]:
        if not line.startswith("|"):
            if header:
                yield header, rows
            header, rows = None, []
        elif header is None:
            header = cells(line)
        elif not re.fullmatch(r"[|\s:-]+", line):
            rows.append((number, cells(line)))


class Tree:
    """What a row may name."""

    def __init__(self, root):
        self.root = root
        names = tidy.tree(root)
        sources = [name for name in names if re.match(r"tests/.*\.cpp$", name)]
        self.tests = {".".join(test) for name in sources for test in
                      tidy.TEST.findall(self.text(name))}
        lists = [name for name in names if re.match(r"tests/.*CMakeLists\.txt$", name)]
        self.run = {Path(word).stem for name in lists for word in
                    re.findall(r"[\w./-]+", re.sub(r"#.*", "", self.text(name)))}
        public = [name for name in names if re.match(r"embed/include/.*\.(hpp|h)$", name)]
        public += [name for name in ("docs/cli.md", "docs/configuration.md") if name in names]
        self.words = {word for name in public for word in re.findall(r"\w+", self.text(name))}

    def text(self, name):
        return "\n".join(tidy.read(self.root / name))

    def runs(self, path):
        """True if a list of tests names this example or its target."""
        stem = Path(path).stem
        return bool(self.run & {stem, f"example_{stem}", f"story_{stem}"})


def shown_by(tree, cell):
    """Complaints about the last cell of a row."""
    if rest := REFERENCE.sub("", cell).strip(" ,;"):
        yield f"no test and no link: {rest}"
    references = REFERENCE.findall(cell)
    if not references:
        yield "the row names no test and no example"
    for test, link in references:
        if test and test not in tree.tests:
            yield f"there is no test {test}"
        path = link.removeprefix("../")
        if link and not (path.startswith("examples/") and (tree.root / path).is_file()):
            yield f"there is no example {link}"
        elif link and not tree.runs(path):
            yield f"no test runs {link}"


def calls(tree, cell):
    """Complaints about the calls of Mortise that a row names."""
    for code in re.findall(r"`([^`]+)`", cell):
        for word in re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", code)):
            if word not in tree.words:
                yield f"{word} is not in the public API"


def row(tree, header, content):
    if len(content) != len(header):
        yield f"{len(content)} cells below a header of {len(header)}"
        return
    by_name = dict(zip(header, content))
    if CALLS in by_name:
        yield from calls(tree, by_name[CALLS])
    if SHOWN in by_name:
        yield from shown_by(tree, by_name[SHOWN])


def complaints(root):
    """Every complaint about the page, as `line: text`."""
    tree = Tree(root)
    found = list(tables(tidy.read(root / PAGE)))
    if not any(SHOWN in header for header, _ in found):
        yield f"1: no table has a column '{SHOWN}'"
    for header, rows in found:
        for number, content in rows:
            for text in row(tree, header, content):
                yield f"{number}: {text}"
