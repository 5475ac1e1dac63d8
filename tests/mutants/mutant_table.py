"""The table of mutants, and where in the sources each of them is.

A file of `table/` has one section a mutant:

    [too_long_taken]
    what = "A frame may be longer than the limit."
    file = "transport/wire/frame_check.cpp"
    right = 'if («size.words() > words_max») return BadFrame::too_long;'
    wrong = 'false'
    killed_by = "transport_unit: FrameCheck.TheLimitIsForHeadAndBodyTogether"

`right` is a fragment of the file as it is, which is there exactly once; blanks, line ends and
comments do not count. `wrong` takes the place of what is between the marks, or of all of `right`
when there are none. Both are expressions, or both are statements; either may be empty. Marks
around nothing are a place between two statements. A mutant with further places has a
`[[name.also]]` for each, with `right`, `wrong` and, if it is another one, `file`. Where neither
form will do, `woven` in the place of `wrong` is what the woven source has there whichever mutant
is at work.
"""

import dataclasses
import re
import tomllib
from pathlib import Path

TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<raw>R"(?P<end>[^\s()\\]*)\(.*?\)(?P=end)")
  | "(?:\\.|[^"\\\n])*"
  | \d(?:'?[\w.])*
  | '(?:\\.|[^'\\\n])*'
  | \w+
  | \S
""", re.VERBOSE | re.DOTALL)
KEYS = {"what", "file", "right", "wrong", "woven", "killed_by", "also"}
KEYS_OF_ALSO = {"file", "right", "wrong", "woven"}


@dataclasses.dataclass
class Change:
    """One place of a mutant."""
    name: str
    file: str
    right: str
    wrong: str | None
    woven: str | None


@dataclasses.dataclass
class Mutant:
    name: str
    what: str
    changes: list
    killed_by: str

    @property
    def file(self):
        return self.changes[0].file


@dataclasses.dataclass
class Place:
    """A located change: the source from `begin` to `end` is to be replaced."""
    change: Change
    begin: int
    end: int


class TableError(Exception):
    """What is wrong with the table, one line each."""


def tokens(text):
    """(token, begin, end) of each, without comments."""
    return [(found[0], found.start(), found.end()) for found in TOKEN.finditer(text)
            if found["comment"] is None]


def change_of(name, entry, file, allowed):
    unknown = sorted(set(entry) - allowed)
    if unknown:
        raise TableError(f"{name}: unknown key {', '.join(unknown)}")
    if not isinstance(entry.get("right"), str):
        raise TableError(f"{name}: no right")
    if ("wrong" in entry) == ("woven" in entry):
        raise TableError(f"{name}: a place has either wrong or woven")
    file = entry.get("file", file)
    if not file:
        raise TableError(f"{name}: no file")
    return Change(name, file, entry["right"], entry.get("wrong"), entry.get("woven"))


def mutant_of(name, entry):
    if not isinstance(entry, dict):
        raise TableError(f"{name}: outside of any mutant")
    if not entry.get("what"):
        raise TableError(f"{name}: no what")
    changes = [change_of(name, entry, None, KEYS)]
    changes += [change_of(name, also, changes[0].file, KEYS_OF_ALSO)
                for also in entry.get("also", [])]
    return Mutant(name, entry["what"], changes, entry.get("killed_by", ""))


def read_table(folder):
    """All mutants of all files of the folder, by name; a TableError lists everything that is
    wrong."""
    mutants, errors = {}, []
    for path in sorted(Path(folder).glob("*.toml")):
        try:
            entries = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:  # also for a duplicate name
            errors.append(f"{path.name}: {error}")
            continue
        for name, entry in entries.items():
            try:
                if name in mutants:
                    raise TableError(f"{name}: another file of the table has it as well")
                mutants[name] = mutant_of(name, entry)
            except TableError as error:
                errors.append(f"{path.name}: {error}")
    if errors:
        raise TableError("\n".join(errors))
    return mutants


def split_marks(right):
    """The parts before the marks, between them and after them."""
    if "«" not in right and "»" not in right:
        return "", right, ""
    parts = re.fullmatch(r"([^«»]*)«([^«»]*)»([^«»]*)", right, re.DOTALL)
    if parts is None:
        raise TableError("the marks are not one pair")
    return parts.groups()


def places_of(words, fragment):
    """The tokens at which the fragment begins."""
    first, count = fragment[0], len(fragment)
    return [at for at, word in enumerate(words)
            if word == first and words[at:at + count] == fragment]


def find(change, source):
    """The place of a change in its file, whose tokens `source` are."""
    before, marked, after = ([word for word, _, _ in tokens(part)]
                             for part in split_marks(change.right))
    fragment = before + marked + after
    if not fragment:
        raise TableError("right is empty")
    found = places_of([word for word, _, _ in source], fragment)
    if len(found) != 1:
        raise TableError(f"{change.file} has the fragment {len(found)} times, not once: "
                         + " ".join(change.right.split()))
    at = found[0] + len(before)
    if marked:
        return Place(change, source[at][1], source[at + len(marked) - 1][2])
    # Inserted before the next line, so that a comment in between stays in place.
    here = source[at][1] if after else source[at - 1][2]
    if at > 0 and source[at - 1][0] not in (";", "{", "}", ":"):
        raise TableError(f"{change.file}: the marks are not between two statements: "
                         + " ".join(change.right.split()))
    return Place(change, here, here)


def find_all(mutants, root):
    """The places by file, and the texts of the files; a TableError lists everything that is
    wrong."""
    places, texts, words, errors = {}, {}, {}, []
    for change in (change for mutant in mutants.values() for change in mutant.changes):
        try:
            if change.file not in texts:
                path = Path(root) / change.file
                if not path.is_file():
                    raise TableError(f"there is no file {change.file}")
                texts[change.file] = path.read_text(encoding="utf-8")
                words[change.file] = tokens(texts[change.file])
            places.setdefault(change.file, []).append(find(change, words[change.file]))
        except TableError as error:
            errors.append(f"{change.name}: {error}")
    if errors:
        raise TableError("\n".join(errors))
    return places, texts
