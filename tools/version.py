#!/usr/bin/env python3
"""The version of the project: mortise.h has it, and the other places have the same.

    tools/version.py                      print it
    tools/version.py --check              compare the other places, which are listed below
    tools/version.py --set X.Y.Z          write it everywhere
    tools/version.py --release X.Y.Z DATE --set, and make a section of what is unreleased in
                                          CHANGELOG.md
"""

import re
import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
HEADER = "embed/include/mortise.h"
CHANGELOG = "CHANGELOG.md"
NUMBER = r"(\d+\.\d+\.\d+)"
MINOR = r"(\d+\.\d+)"
# CMake and the Conan recipe read it from the header. These cannot: file, pattern of one place.
PLACES = [
    (HEADER, rf'#define MORTISE_VERSION_STRING "{NUMBER}"'),
    ("embed/include/mortise/c/codes.h", rf'Of the library that runs: "{NUMBER}"'),
    ("python/pyproject.toml", rf'^version = "{NUMBER}"'),
    ("python/mortise/_load.py", rf'^VERSION = "{NUMBER}"'),
    ("packaging/vcpkg/mortise/vcpkg.json", rf'"version": "{NUMBER}"'),
    ("deploy/kubernetes/mortise.yaml", rf"image: mortise:{NUMBER}"),
    ("deploy/container/Containerfile", rf"-t mortise:{NUMBER} "),
    ("README.md", rf"find_package\(mortise {MINOR} "),
    ("tests/consume/CMakeLists.txt", rf"find_package\(mortise {MINOR} "),
    ("tests/consume/CMakeLists.txt", rf"mortise>={MINOR}\)"),
]


def read(name):
    return (TREE / name).read_text(encoding="utf-8")


def write(name, text):
    (TREE / name).write_text(text, encoding="utf-8")


def header_numbers(text):
    return ".".join(re.search(rf"#define MORTISE_VERSION_{part} (\d+)", text)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


def wanted(pattern, version):
    return version.rpartition(".")[0] if MINOR in pattern and NUMBER not in pattern else version


def differing(version):
    """Places with another version, or that are not found exactly once."""
    for name, pattern in PLACES:
        found = re.findall(pattern, read(name), re.MULTILINE)
        if found != [wanted(pattern, version)]:
            yield f"{name}: {pattern} is {', '.join(found) or 'missing'}, the version is {version}"


def set_version(version):
    text = read(HEADER)
    for part, number in zip(("MAJOR", "MINOR", "PATCH"), version.split(".")):
        text = re.sub(rf"(#define MORTISE_VERSION_{part}) \d+", rf"\g<1> {number}", text)
    write(HEADER, text)
    for name, pattern in PLACES:
        def replaced(match, pattern=pattern):
            begin, end = match.start(1) - match.start(), match.end(1) - match.start()
            return match[0][:begin] + wanted(pattern, version) + match[0][end:]
        write(name, re.sub(pattern, replaced, read(name), flags=re.MULTILINE))


def release_notes(text, version, date):
    """What is unreleased becomes the section of the version; the formats stay named."""
    head, title, rest = text.partition("## [Unreleased]\n")
    formats = re.search(r"^Formats: .*$", rest, re.MULTILINE)
    if not title or not formats:
        sys.exit(f"{CHANGELOG} has no section [Unreleased] with formats")
    return f"{head}{title}\n{formats[0]}\n\n## [{version}] - {date}\n{rest}"


def main(arguments):
    version = header_numbers(read(HEADER))
    if not arguments:
        print(version)
        return 0
    what, *words = arguments
    numbers = [word for word in words if re.fullmatch(NUMBER, word)]
    dates = [word for word in words if re.fullmatch(r"\d{4}-\d\d-\d\d", word)]
    if what == "--check" and not words:
        found = list(differing(version))
        print("\n".join(found) if found else f"version {version}: the same everywhere")
        return 1 if found else 0
    if what == "--set" and len(numbers) == len(words) == 1:
        set_version(numbers[0])
        return 0
    if what == "--release" and len(words) == 2 and numbers and dates:
        set_version(numbers[0])
        write(CHANGELOG, release_notes(read(CHANGELOG), numbers[0], dates[0]))
        return 0
    print(__doc__.strip(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
