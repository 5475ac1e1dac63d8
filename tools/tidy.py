#!/usr/bin/env python3
"""The house rules that a program can check; `./dev check` runs it.

    tools/tidy.py [ROOT]                print complaints, exit 1 if there are any
    tools/tidy.py --list SUFFIX...      print the files of the tree that end so
"""

import os
import re
import subprocess
import sys
from pathlib import Path

# folder: the folders that it may include. This table is the architecture. The longest match counts.
USES = {
    "core": {"core", "xxhash"},
    "storage": {"storage", "core", "rocksdb"},
    "storage/base": {"storage", "core"},  # these two work without RocksDB
    "storage/files": {"storage", "core"},
    "transport": {"transport", "core", "asio", "capnp", "kj", "openssl"},
    "embed": {"embed", "core", "storage", "transport", "mortise", "asio", "spdlog", "toml++"},
    # Installed headers: they may use only what a user has.
    "embed/include": {"mortise", "asio"},
    "embed/testing": {"mortise", "asio"},  # as a user's test would use it
    "embed/capi": {"mortise", "embed/json_form"},  # as a user's C++ would use it
    "embed/json_form": {"embed/json_form", "mortise", "nlohmann"},  # likewise
    "embed/http": {"embed/http", "mortise", "httplib", "nlohmann", "embed/json_form"},  # likewise
    "embed/console": {"mortise", "httplib", "nlohmann", "embed/json_form", "embed/http"},
    "embed/console/include": {"mortise"},
    "embed/door": {"mortise", "httplib", "nlohmann", "embed/json_form", "embed/http", "openssl"},
    "embed/door/include": {"mortise"},
    "examples": {"mortise", "asio"},
    "bench": {"bench", "mortise", "asio", "benchmark", "nlohmann"},
    "bench/node": {"bench", "mortise", "asio", "nlohmann", "embed"},  # for the trace of stages
    "tools": {"tools", "mortise", "asio", "CLI", "nlohmann", "httplib", "embed/json_form"},
    "tests": None,  # everything
}
# The subfolders of a folder: each may include itself, those before it, and the files of the folder
# itself. core/locks has subfolders of its own.
SUBFOLDERS = {
    "core": (
        "base", "access", "locks/kinds", "locks", "locks/table", "locks/deadlock", "locks/rows",
        "locks/machine",
        "cache", "codec", "raft", "leases", "agent", "observe", "client", "node"),
    "storage": (
        "base", "files", "rocks", "log", "state", "directory", "marks"),
    "transport": (
        "wire", "tls", "sockets", "rpc", "peers", "clients", "network"),
    "embed": (
        "values", "config", "threads", "host", "fence", "holds", "runtime", "offline", "api"),
    "tests/sim": (
        "base", "machine", "judges", "world", "load", "run"),
}
# Plain values that lower folders store or send.
CORE_VALUES = {"core/raft/configuration.hpp", "core/leases/renewed_lease.hpp"}
WATCHED = set().union(*(uses for uses in USES.values() if uses), {"tests", "examples"})

# In core these would make two runs with the same input differ.
IMPURE = {
    "atomic", "barrier", "condition_variable", "ctime", "filesystem", "fstream", "future",
    "iostream", "mutex", "random", "semaphore", "shared_mutex", "thread",
}
# In these folders the order of an iteration affects the result.
ORDERED = ("core/locks/", "core/raft/")

# Rules are cited by number; this page lists them, one row of a table each.
RULES = "docs/rules.md"
CITATION = re.compile(r"(?<![\w\"])(?<!B-)[SP][1-9]\d?\b")
# Faults of other implementations are cited as B-D1; this page lists them in the same way.
BUGS = "docs/bugs_of_others.md"
BUG_CITATION = re.compile(r"\bB-[A-Z][1-9]\d?\b")

# On these pages a name like `Suite.Test` must be the name of an existing test (P13).
EVIDENCE = {"docs/evidence.md", BUGS, "docs/comparison.md"}
# What `./dev docs` makes beside the reference of the headers, whose first page has this link.
MADE = {("docs/reference.md", "../index.html")}
# In this folder a mutant names the test that kills it, in the form of GTest, where a test with
# parameters or for a type has more than `Suite.Test`, or of Python.
MUTANTS = "tests/mutants/table/"
KILLER = re.compile(r'killed_by = "\w+: (\w+)(?:/(\w+))?\.(\w+)')
TEST = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)", re.MULTILINE)
PYTHON_TEST = re.compile(r"^class (\w+)|^    def (test_\w+)", re.MULTILINE)

COLUMNS_MAX = 100
CODE = {".cpp", ".hpp", ".c", ".h", ".capnp", ".cmake", ".py", ".sh"}
CODE_NAMES = {"CMakeLists.txt", "dev", ".ci/run"}
TEXT = CODE | {".md", ".txt", ".json", ".toml"}
UNFINISHED = "FIX" + "ME"


def tree(root):
    """The files under version control, or about to be, as sorted paths below root."""
    git = ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z",
           "--cached", "--others", "--exclude-standard"]
    names = None
    if (root / ".git").exists():
        try:
            names = subprocess.run(git, capture_output=True, check=True).stdout
            names = os.fsdecode(names).split("\0")[:-1]
        except (OSError, subprocess.CalledProcessError):
            names = None
    if names is None:  # not a git repository: an unpacked archive
        names = [path.relative_to(root).as_posix() for path in root.rglob("*")]
        names = [name for name in names if not re.match(r"(build|\.git)/", name)]
    return sorted(name for name in set(names) if (root / name).is_file())


def folder_of(name):
    found = [folder for folder in USES if name.startswith(folder + "/")]
    return max(found, key=len) if found else None


def includes(folder, line):
    """Complaints about one include line of a file in a folder of the table."""
    include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
    if not include:
        return
    quote, path = include.groups()
    target = re.sub(r"\.(hpp|h)$", "", path.split("/")[0])
    if os.path.dirname(path) in WATCHED:  # a folder inside another that the table names in full
        target = os.path.dirname(path)
    uses = USES[folder]
    if ".." in path.split("/"):
        yield f"include from the top folder on, not {path}"
    elif uses is not None and target in WATCHED and target not in uses:
        # "benchmark.hpp" beside the file is not the library with that name, and a folder inside
        # another may include itself.
        own = ("", folder) if "/" in folder else ("",)
        if quote == "<" or os.path.dirname(path) not in own:
            yield f"{folder} must not include {target}"
    elif folder == "core" and quote == "<":
        if target in IMPURE:
            yield f"core is pure: no <{path}>"
        elif target not in uses and re.search(r"[./]", path):
            yield f"core includes the C++ standard library and itself: no <{path}>"


def subfolder_of(path):
    """The folder of SUBFOLDERS that contains a file, and its subfolder there, or None."""
    for folder, names in SUBFOLDERS.items():
        if not path.startswith(folder + "/"):
            continue
        inside = os.path.dirname(path)[len(folder) + 1:]
        return folder, inside if inside in names else None
    return None, None


def is_in_no_subfolder(name):
    """A new subfolder must be added to the table; files of the folder itself need no entry."""
    folder, inner = subfolder_of(name)
    # These have their own rows in USES.
    own = tuple(f"{folder}/{inside}/"
                for inside in ("include", "testing", "capi", "json_form", "http", "console",
                               "door"))
    return bool(folder and inner is None and os.path.dirname(name) != folder
                and not name.startswith(own))


def subfolder_order(name, line):
    include = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
    folder, inner = subfolder_of(name)
    if inner is None or not include or include[1] in CORE_VALUES or is_test(name):
        return
    other_folder, other = subfolder_of(include[1])
    names = SUBFOLDERS[folder]
    if other_folder == folder and other and names.index(other) > names.index(inner):
        yield f"{folder}/{inner} comes before {folder}/{other} and must not include it"


def is_test(name):
    """Unit tests are beside what they test, and may use everything."""
    return name.endswith("_test.cpp")


def cpp(name, lines):
    folder = folder_of(name)
    if folder is None or is_in_no_subfolder(name):
        yield 1, "this folder is not in the table of tools/tidy.py"
        return
    for number, line in enumerate(lines, 1):
        line = re.sub(r"//.*", "", line) if "#include" not in line else line
        for complaint in includes(folder, line):
            yield number, complaint
        for complaint in subfolder_order(name, line):
            yield number, complaint
        if folder == "core" and "_clock::now(" in line:
            yield number, "core is pure: time is handed in"
        if name.startswith(ORDERED) and re.search(r"std::unordered_|<unordered_", line):
            yield number, "iteration order is fixed here: no unordered containers"
    if (name.endswith(".hpp") and "#pragma once" not in lines
            and "/detail/macros_" not in name):  # these are included again and again
        yield 1, "a header starts with #pragma once"


def unfenced(lines):
    """The lines of a page which are not inside fenced code, with their numbers."""
    fence = None
    for number, line in enumerate(lines, 1):
        mark = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if fence is None and mark:
            fence = mark[1]
        elif fence is not None:
            closes = mark and mark[1].startswith(fence) and not line.strip(" `~")
            fence = None if closes else fence
        else:
            yield number, line


def slug(title):
    """The anchor of a heading, as GitHub and `./dev docs` make it."""
    title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title)
    return re.sub(r"[^\w -]", "", title.strip().lower()).replace(" ", "-")


def anchors(lines):
    """The anchors of a page; a title that comes again gets a number."""
    found = {}
    for _, line in unfenced(lines):
        if heading := re.match(r"#{1,6} +(\S.*?)(?: +#+)? *$", line):
            name = slug(heading[1])
            found[name] = found.get(name, -1) + 1
            if found[name]:
                found[f"{name}-{found[name]}"] = 0
    return found.keys()


def links(root, name, number, line):
    line = re.sub(r"`+[^`]*`+", "", line)
    targets = re.findall(r"\]\(\s*<?([^)>\s]+)", line)
    targets += re.findall(r"^ {0,3}\[[^\]]+\]:\s*<?([^>\s]+)", line)
    for target in targets:
        if re.match(r"[a-z][a-z0-9+.-]*:", target, re.IGNORECASE):
            continue
        file, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(name), file)) if file else name
        if (name, target) in MADE:
            continue
        if target.startswith("/") or path.startswith("..") or not (root / path).exists():
            yield number, f"link leads nowhere: {target}"
        elif anchor and path.endswith(".md") and anchor not in anchors(read(root / path)):
            yield number, f"the page has no such heading: {target}"


def example(root, lines, number, path):
    """The fenced block that follows a marker on line `number` equals the file that the marker
    names."""
    rest = iter(lines[number:])
    opening = next((line for line in rest if line.strip()), "")
    if not opening.startswith("```"):
        yield number, "no fenced block after the marker"
        return
    block = []
    for line in rest:
        if line.rstrip() == "```":
            break
        block.append(line)
    if not (root / path).is_file():
        yield number, f"the example names a file that does not exist: {path}"
    elif block != read(root / path):
        yield number, f"the example differs from {path}"


def markdown(root, name, lines):
    titles = 0
    for number, line in unfenced(lines):
        titles += bool(re.match(r"# +\S", line))
        yield from links(root, name, number, line)
        if marker := re.fullmatch(r"<!-- from: (\S+) -->", line.strip()):
            yield from example(root, lines, number, marker[1])
    if titles != 1:
        yield 1, f"a page has one title, not {titles}"


def rules(root):
    """The numbers that the two pages list."""
    pages = [root / page for page in (RULES, BUGS) if (root / page).is_file()]
    rows = (re.match(r"\| ([SP]\d+|B-[A-Z]\d+) \|", line) for page in pages for line in read(page))
    return {row[1] for row in rows if row}


def tests(root):
    """The names of all tests, if a page or the table of mutants mentions them."""
    if not any((root / page).exists() for page in {*EVIDENCE, MUTANTS}):
        return set()
    sources = [root / name for name in tree(root) if re.match(r"tests/.*(\.cpp|_test\.py)$", name)]
    return {test for source in sources for test in tests_of("\n".join(read(source)))}


def tests_of(text):
    """Those of a source in C++ or Python, as `Suite.Test`."""
    yield from map(".".join, TEST.findall(text))
    suite = ""
    for begins, test in PYTHON_TEST.findall(text):
        suite = begins or suite
        if test:
            yield f"{suite}.{test}"


def evidence(lines, known):
    for number, line in unfenced(lines):
        for cited in re.findall(r"`([A-Z]\w*\.[A-Z]\w*)`", line):
            if cited not in known:
                yield number, f"there is no test {cited}"


def killers(lines, known):
    for number, line in enumerate(lines, 1):
        if named := KILLER.match(line):
            either = [f"{suite}.{named[3]}" for suite in named.groups()[:2] if suite]
            if not known.intersection(either):
                yield number, f"there is no test {either[0]}"


def read(path):
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def complaints(root, name, listed, known_tests):
    path = Path(name)
    if path.suffix not in TEXT and name not in CODE_NAMES:
        return
    lines = read(root / name)
    for number, line in enumerate(lines, 1):
        for cited in sorted(set(CITATION.findall(line)) - listed):
            yield number, f"{cited} is not in {RULES}"
        for cited in sorted(set(BUG_CITATION.findall(line)) - listed):
            yield number, f"{cited} is not in {BUGS}"
        if UNFINISHED in line:
            yield number, f"{UNFINISHED}: finish it, or say in prose what is missing"
        is_code = path.suffix in CODE or name in CODE_NAMES or path.name in CODE_NAMES
        if is_code and len(line) > COLUMNS_MAX:
            yield number, f"longer than {COLUMNS_MAX} columns"
    if path.suffix in (".cpp", ".hpp"):
        yield from cpp(name, lines)
    if path.suffix == ".md":
        yield from markdown(root, name, lines)
    if name.startswith(MUTANTS):
        yield from killers(lines, known_tests)
    if name in EVIDENCE:
        yield from evidence(lines, known_tests)


def unbuilt(root):
    """The tests in C++ that no CMakeLists.txt of their folder or a folder above names."""
    for name in tree(root):
        if not re.match(r"tests/.*_test\.cpp$", name):
            continue
        path = Path(name)
        lists = [root / folder / "CMakeLists.txt" for folder in path.parents]
        words = {re.sub(r"\.cpp$", "", word.rpartition("/")[2])
                 for one in lists if one.is_file() for word in re.findall(r"[\w./+-]+",
                                                                         one.read_text())}
        names = {path.stem, path.stem.removesuffix("_test")}  # a list may add the ending itself
        if any(one.is_file() for one in lists) and not words & names:
            yield name, 1, "no CMakeLists.txt names this test"


def check(root):
    """Every complaint about the tree as `name:line: text`."""
    for name, number, text in unbuilt(root):
        yield f"{name}:{number}: {text}"
    listed = rules(root)
    known_tests = tests(root)
    for name in tree(root):
        for number, text in sorted(complaints(root, name, listed, known_tests)):
            yield f"{name}:{number}: {text}"


def main(arguments):
    here = Path(__file__).resolve().parent.parent
    if arguments[:1] == ["--list"]:
        for name in tree(here):
            if name.endswith(tuple(arguments[1:])):
                print(name)
        return 0
    if len(arguments) > 1 or arguments[:1] and arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    found = list(check(Path(arguments[0]) if arguments else here))
    print("\n".join(found) if found else "house rules: ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
