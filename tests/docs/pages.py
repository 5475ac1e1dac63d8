"""What the pages say, held against the tree: blocks of commands, messages, figures, names of tests.

    complaints(root, listed)    `listed` are the names of all tests of ctest
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import shell_blocks  # noqa: E402
import tidy  # noqa: E402

EXECUTED = {"run", "full", "fails", "hidden"}
LISTED_IN = "tests/docs/CMakeLists.txt"
# The first column of the tables below these headings has messages of the program in backticks.
MESSAGES = {"docs/handbook.md": "## Symptoms"}
SOURCES = re.compile(r"(core|storage|transport|embed|tools)/.*\.(cpp|hpp)$")
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])'|"((?:[^"\\\n]|\\.)*)\"""", re.DOTALL)
# Shorter pieces of a message would be found anywhere.
PIECE_MIN = 8


def fences(name, lines):
    """Every block of code has a language, and every marker is understood."""
    try:
        for block in shell_blocks.blocks(lines):
            if not block.language:
                yield block.line, "a block of code has a language: sh, text, cpp, toml ..."
    except shell_blocks.Mistake as mistake:
        yield name, str(mistake)


def toml(lines):
    """Blocks of TOML can be read as such."""
    for block in shell_blocks.blocks(lines):
        if block.language == "toml":
            try:
                tomllib.loads(block.text)
            except tomllib.TOMLDecodeError as error:
                yield block.line, str(error)


def commands(root, lines):
    """The commands of ./dev are those of its help."""
    known = set(re.findall(r"^  (\w+) ", (root / "dev").read_text(), re.MULTILINE))
    for block in shell_blocks.blocks(lines):
        for word in re.findall(r"\./dev (\w+)", block.text if block.is_command else ""):
            if word not in known:
                yield block.line, f"./dev has no command {word}"


def is_executed(lines):
    return any(block.is_command and block.mode in EXECUTED for block in shell_blocks.blocks(lines))


def literals(root):
    """The texts of all string literals in the sources; neighbours are one."""
    found = []
    for name in tidy.tree(root):
        if not SOURCES.match(name):
            continue
        end, text = None, (root / name).read_text(encoding="utf-8")
        for token in TOKEN.finditer(text):
            if token[1] is None:
                continue
            if end is not None and not text[end:token.start()].strip():
                found[-1] += token[1]
            else:
                found.append(token[1])
            end = token.end()
    return "\n".join(found).replace('\\"', '"')


def pieces(message):
    """What of a quoted message is the program's: without "...", numbers, and what is short. Where
    one part explains another, as after a colon, the two may be in different places."""
    parts = [part.strip() for part in re.split(r"\.\.\.|\d+|: |; ", message)]
    return [part for part in parts if len(part) >= PIECE_MIN]


def quoted(lines, heading):
    """The messages in backticks in the first cells of the tables below a heading."""
    inside = False
    for number, line in tidy.unfenced(lines):
        if re.match(r"## ", line):
            inside = line.strip() == heading
        if inside and line.startswith("| "):
            for message in re.findall(r"`([^`]+)`", line.strip("|").split(" | ")[0]):
                if not message.startswith("mortise "):  # a command
                    yield number, message


def messages(lines, heading, printed):
    for number, message in quoted(lines, heading):
        for piece in pieces(message):
            if piece not in printed:
                yield number, f"the program does not print: {piece}"


def figures(root, lines):
    """The figures in the table after `<!-- figures: PAGE -->` are on that page."""
    source = None
    for number, line in tidy.unfenced(lines):
        if marker := re.fullmatch(r"<!-- figures: (\S+) -->", line.strip()):
            source = (root / marker[1]).read_text(encoding="utf-8")
        elif source is not None and not line.startswith("|"):
            source = None if line.strip() else source
        elif source is not None:
            for figure in re.findall(r"[\d,.]*\d", line.strip().strip("|").split("|")[-1]):
                if not re.search(rf"(?<![\d,.]){re.escape(figure)}(?![\d]|[,.]\d)", source):
                    yield number, f"the page that the figures are from does not have {figure}"


def suites(lines, listed):
    """Every `ctest -R NAME` names a test."""
    for number, line in tidy.unfenced(lines):
        for name in re.findall(r"ctest -R (\w+)", line):
            if listed and not any(name in each for each in listed):
                yield number, f"there is no test {name}"


def complaints(root, listed=()):
    """Every complaint about the pages of a tree, as `page:line: text`."""
    pages = [name for name in tidy.tree(root) if name.endswith(".md")]
    run = set(re.findall(r"[\w./-]+\.md", (root / LISTED_IN).read_text()))
    printed = literals(root)
    for name in pages:
        lines = tidy.read(root / name)
        found = list(fences(name, lines))
        if not found:
            found += [*toml(lines), *commands(root, lines)]
            if is_executed(lines) and name not in run:
                found.append((1, f"its commands are not executed: name it in {LISTED_IN}"))
        if name in MESSAGES:
            found += messages(lines, MESSAGES[name], printed)
        found += [*figures(root, lines), *suites(lines, listed)]
        yield from (f"{name}:{number}: {text}" for number, text in found)
