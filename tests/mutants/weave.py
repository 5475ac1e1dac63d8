#!/usr/bin/env python3
"""Weaves the mutants of the table into a copy of the sources.

    weave.py --check [ROOT]      does every fragment of the table fit its file exactly once, and
                                 does each mutant name the test that kills it?
    weave.py --into FOLDER [--only PREFIX...]
                                 write each file that has mutants to FOLDER, woven, under its name
                                 in the tree, and the names of all mutants to
                                 FOLDER/mutant_names.inc; or only the files whose names begin so

In a woven source both ways are there, and at_work() (mutant.hpp) tells at run time which is taken:
one build has all mutants. What did not change is not written again.
"""

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from mutant_table import TableError, find_all, read_table, split_marks

ROOT = Path(__file__).resolve().parents[2]
TABLE = "tests/mutants/table"
KILLER = re.compile(r"\w+(?:: [\w/]+\.[\w/]+)?")  # suite: Suite.Test
JUMP = re.compile(r"(break|continue|return\b[^;]*)$")  # does not compile within an expression
# Neither an expression nor a whole statement.
HEAD = re.compile(r"(if|for|while|switch)\b[^;]*$|for\b[^{}]*\)$")
# The statement becomes a block, at whose end its objects end.
DECLARATION = re.compile(r"(const|auto|static|std(::\w+)+)\b[^=;({]*\s\w+\s*(=[^=]|[({])")
HEADER = '#include "tests/mutants/mutant.hpp"\n'


def is_statements(text):
    return not text or text.endswith(";") or (text.endswith("}") and ";" in text)


def woven_change(change, right):
    """`right`, into which other mutants may be woven, and `wrong`, in one expression."""
    at_work = f'::mortise::mutants::at_work("{change.name}")'
    if change.woven is not None:
        return change.woven
    right, wrong = right.strip(), change.wrong.strip()
    as_it_is = split_marks(change.right)[1].strip()
    if any(JUMP.match(one) for one in (as_it_is, wrong)):
        raise TableError(f"{change.name}: a jump is a statement, with its semicolon")
    if any(HEAD.match(one) for one in (as_it_is, wrong)):
        raise TableError(f"{change.name}: the head of a statement is no expression")
    if DECLARATION.match(as_it_is):
        raise TableError(f"{change.name}: a declaration has no effect beyond its block")
    if is_statements(as_it_is) and is_statements(wrong):
        if not right:
            return f"if ({at_work}) {{ {wrong} }} "
        return f"{{ if ({at_work}) {{ {wrong} }} else {{ {right} }} }}"
    if is_statements(as_it_is) or is_statements(wrong):
        raise TableError(f"{change.name}: of right and wrong one is a statement, and one is not")
    if any(one.startswith("{") for one in (as_it_is, wrong)):
        raise TableError(f"{change.name}: a list in braces is no expression")
    if wrong == "true":
        return f"({at_work} || ({right}))"
    if wrong == "false":
        return f"(!{at_work} && ({right}))"
    return f"({at_work} ? ({wrong}) : ({right}))"


def woven_text(text, begin, end, places):
    """The text from begin to end, with the places in it woven. Places may be nested or equal;
    the outermost come first."""
    result, at, rest = [], begin, places
    while rest:
        outer, rest = rest[0], rest[1:]
        inner = [one for one in rest if one.end <= outer.end and outer.begin < outer.end]
        rest = rest[len(inner):]
        crossing = next((one for one in rest if one.begin < outer.end), None)
        if crossing is not None:
            raise TableError(f"{outer.change.name} and {crossing.change.name}: "
                             f"their marks in {outer.change.file} overlap")
        result.append(text[at:outer.begin])
        result.append(woven_change(outer.change, woven_text(text, outer.begin, outer.end, inner)))
        at = outer.end
    result.append(text[at:end])
    return "".join(result)


def weave(root, prefixes=("",)):
    """The woven texts by file, and the names of all mutants."""
    mutants = read_table(Path(root) / TABLE)
    for mutant in mutants.values():
        mutant.changes = [one for one in mutant.changes if one.file.startswith(tuple(prefixes))]
    places, texts = find_all(mutants, root)
    woven, errors = {}, []
    for file, found in sorted(places.items()):
        found.sort(key=lambda place: (place.begin, -place.end))
        try:
            woven[file] = HEADER + woven_text(texts[file], 0, len(texts[file]), found)
        except TableError as error:
            errors.append(str(error))
    if errors:
        raise TableError("\n".join(errors))
    return woven, list(mutants)


def write_if_changed(path, text):
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_all(root, folder, prefixes):
    woven, names = weave(root, prefixes)
    # Files without a mutant any more are compiled from their original place.
    for path in [*folder.glob("**/*.cpp"), *folder.glob("**/*.hpp")]:
        if path.relative_to(folder).as_posix() not in woven:
            path.unlink()
    for file, text in woven.items():
        write_if_changed(folder / file, text)
    write_if_changed(folder / "mutant_names.inc", "".join(f'"{name}",\n' for name in names))
    return woven, names


def killer_complaints(root):
    """The mutants that name no test, a line each."""
    return [f"{TABLE}: {name}: killed_by is not 'suite: Suite.Test': "
            "`./dev mutants --only NAME` says which it is"
            for name, mutant in read_table(Path(root) / TABLE).items()
            if not KILLER.fullmatch(mutant.killed_by)]


def main(arguments):
    parser = argparse.ArgumentParser(description="weaves mutants into a copy of the sources")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", nargs="?", type=Path, const=ROOT, metavar="ROOT")
    what.add_argument("--into", type=Path, metavar="FOLDER")
    parser.add_argument("--only", nargs="*", metavar="PREFIX")
    asked = parser.parse_args(arguments)
    try:
        if asked.check:
            woven, names = weave(asked.check)
        else:
            woven, names = write_all(ROOT, asked.into, asked.only or [""])
    except TableError as error:
        for line in str(error).splitlines():
            print(f"{TABLE}: {line}", file=sys.stderr)
        return 1
    if asked.check and (complaints := killer_complaints(asked.check)):
        print("\n".join(complaints), file=sys.stderr)
        return 1
    print(f"mutants: {len(names)} in {len(woven)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
