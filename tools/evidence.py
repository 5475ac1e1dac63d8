#!/usr/bin/env python3
"""Which tests and mutants stand behind each rule, of docs/rules.md or docs/bugs_of_others.md.

    tools/evidence.py [RULE...]     print them, for all rules or for these (S24, P4, B-D1)
    tools/evidence.py --check       exit with 1 if a rule has no test

A test cites the rules that it holds up: in its name (S43_...), in the comment above it or in its
body. The comment at the top of a file counts for all of its tests. A mutant cites a rule in `what`,
and the test that kills it counts for that rule as well.
"""

import re
import sys
import textwrap
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tidy  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
ROW = re.compile(r"\| ([SP]\d+|B-[A-Z]\d+) \| ([^|]*) \|")
IN_NAME = re.compile(r"^([SP][1-9]\d?)_")
TEST = re.compile(r"(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)?")
KINDS = {"tests": "by name", "suites": "whole suites", "files": "other files", "mutants": "mutants"}


def rules(root):
    """The number of each rule, and its sentence."""
    pages = [root / page for page in (tidy.RULES, tidy.BUGS) if (root / page).is_file()]
    found = {}
    for row in filter(None, (ROW.match(line) for page in pages for line in tidy.read(page))):
        found.setdefault(row[1], row[2].replace("**", ""))
    return found


def cited(text):
    return set(tidy.CITATION.findall(text)) | set(tidy.BUG_CITATION.findall(text))


def comments(lines):
    """The comments of a source in C++."""
    return "\n".join(re.sub(r"^.*?(//|$)", r"\1", line) for line in lines)


def tests_of(lines):
    """(first line, last line, `Suite.Test`) of each test, with the comment above it."""
    for number, line in enumerate(lines):
        found = TEST.match(line)
        if not found:
            continue
        name = found[2] or re.match(r"\s*(\w+)", lines[number + 1])[1]  # its name is a line below
        begin = number
        while begin > 0 and lines[begin - 1].startswith("//"):
            begin -= 1
        end = next((at for at in range(number, len(lines)) if lines[at] == "}"), number)
        yield begin, end, f"{found[1]}.{name}"


def heading(lines):
    """How many lines the comment at the top of a file has."""
    return next((at for at, line in enumerate(lines) if not line.startswith(("//", "#!", '"""'))),
                len(lines))


def of_source(name, lines):
    """(rule, kind, name) for everything that a source in C++ cites."""
    tests, top = list(tests_of(lines)), heading(lines)
    suites = sorted({test.partition(".")[0] for _, _, test in tests}) or [name]
    for rule in cited(comments(lines[:top])):
        yield from ((rule, "suites" if tests else "files", suite) for suite in suites)
    taken = set(range(top))
    for begin, end, test in tests:
        taken |= set(range(begin, end + 1))
        named = IN_NAME.match(test.partition(".")[2])
        for rule in cited(comments(lines[begin:end + 1])) | ({named[1]} if named else set()):
            yield rule, "tests", test
    left = [line for at, line in enumerate(lines) if at not in taken]
    yield from ((rule, "files", name) for rule in cited(comments(left)))


def of_mutants(lines):
    for name, entry in tomllib.loads("\n".join(lines)).items():
        killer = entry.get("killed_by", "").partition(": ")[2]
        for rule in cited(entry.get("what", "")):
            yield rule, "mutants", name
            if killer:
                yield rule, "tests", killer


def evidence(root):
    """rule: {kind: names} for each rule of the page."""
    found = {rule: {kind: set() for kind in KINDS} for rule in rules(root)}
    for name in tidy.tree(root):
        if not name.startswith("tests/") or not name.endswith((".cpp", ".hpp", ".py", ".pml",
                                                               ".toml")):
            continue
        lines = tidy.read(root / name)
        if name.startswith(tidy.MUTANTS):
            citations = of_mutants(lines)
        elif name.endswith(".cpp"):
            citations = of_source(name, lines)
        else:
            citations = ((rule, "files", name) for rule in cited("\n".join(lines)))
        for rule, kind, what in citations:
            if rule in found:
                found[rule][kind].add(what)
    return found


def untested(root):
    """The rules that no test cites."""
    return [rule for rule, kinds in evidence(root).items()
            if not any(kinds[kind] for kind in ("tests", "suites", "files"))]


def show(rule, sentence, kinds):
    print(textwrap.fill(f"{rule}: {sentence}", 100, subsequent_indent="    "))
    for kind, title in KINDS.items():
        if kinds[kind]:
            print(textwrap.fill(f"{title}: {', '.join(sorted(kinds[kind]))}", 100,
                                initial_indent="  ", subsequent_indent="    ",
                                break_long_words=False, break_on_hyphens=False))


def main(arguments):
    known = rules(ROOT)
    if arguments == ["--check"]:
        found = untested(ROOT)
        print("\n".join(f"no test cites {rule}" for rule in found) or "each rule has a test")
        return 1 if found else 0
    if wrong := [rule for rule in arguments if rule not in known]:
        print(f"no such rule: {', '.join(wrong)}\n{__doc__.strip()}", file=sys.stderr)
        return 2
    found = evidence(ROOT)
    for rule in arguments or known:
        show(rule, known[rule], found[rule])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
