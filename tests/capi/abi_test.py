#!/usr/bin/env python3
"""The binary interface of mortise.h is the one that programs were compiled with.

    abi_test.py LIBRARY HEADER RECORD COMPILER...     compare
    abi_test.py --write LIBRARY HEADER RECORD COMPILER...

HEADER is mortise.h, beside the folder of those that it includes.

RECORD has the soname of the library, the version of its symbols, the functions that it exports, how
the header declares them, the layout of its structs and its constants. What is added belongs into it
(--write); what is in it does not change.
"""

import difflib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def exported(library):
    """The names that the library gives to programs, and the version of each."""
    command = ["nm", "--dynamic", "--defined-only", "--format=posix", library]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    # A line for the version itself has the kind A.
    names = [line.split()[0] for line in lines if line.split()[1] != "A"]
    return {name: version for name, _, version in (each.partition("@@") for each in names)}


def interface(names):
    """The versions of the functions of C: that of 0.2.0, and those that were added, which continue
    it, with their functions. The C++ classes, if they are shown, have another one."""
    of_c = {}
    for name in sorted(name for name in names if not name.startswith("_Z")):
        of_c.setdefault(names[name], []).append(name)
    of_cxx = {version for name, version in names.items() if name.startswith("_Z")}
    first = names["mortise_version"]
    added = [version for version in sorted(of_c) if version != first]
    assert first and all(version.startswith(first + ".") for version in added), f"{sorted(of_c)}"
    assert len(of_cxx) <= 1 and not of_cxx & {*of_c, ""}, f"classes of the versions {of_cxx}"
    return [first, *(f"{version}: {' '.join(of_c[version])}" for version in added)]


def soname(library):
    """What programs that are linked with the library look for."""
    lines = subprocess.run(["readelf", "--dynamic", "--wide", library], capture_output=True,
                           text=True, check=True).stdout
    return re.search(r"\(SONAME\).*\[(.*)\]", lines)[1]


def text_of(header):
    """The header with those that it includes."""
    parts = [Path(header), *sorted((Path(header).parent / "mortise/c").glob("*.h"))]
    assert len(parts) > 1, f"no headers beside {header}"
    return "".join(part.read_text(encoding="utf-8") for part in parts)


def declared(header):
    """The functions and the types, each on one line, by name."""
    text = re.sub(r"/\*.*?\*/", "", text_of(header), flags=re.DOTALL)
    text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*", "", text, flags=re.MULTILINE)
    found = {}
    for statement in re.findall(r"[^;{}]*(?:\([^;{}]*\)|typedef int32_t \w+)\s*;", text):
        line = " ".join(statement.split())
        found[re.search(r"(mortise_\w+)(?:\)?\(|;)", line)[1]] = line
    return found


def layout(compiler, header):
    """What the structs and constants are for one compiler, in C11 and without a warning."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "abi"
        subprocess.run([compiler, "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror",
                        "-I", Path(header).parent, HERE / "abi.c", "-o", program], check=True)
        return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def record(library, header, compiler):
    names = exported(library)
    of_c = sorted(name for name in names if not name.startswith("_Z"))
    lines = [line for name, line in sorted(declared(header).items())]
    assert of_c == sorted(name for name, line in declared(header).items()
                          if not line.startswith("typedef")), "declared, or exported, but not both"
    found = layout(compiler, header)
    assert not (gap := padded(found)), f"bytes that no member owns: {gap}"
    versions = [f"version {version}" for version in interface(names)]
    return "\n".join([f"soname {soname(library)}", *versions, *lines, found])


def padded(found):
    """The structs with padding, whose bytes a later member would read as garbage."""
    structs = re.findall(r"struct (\w+): (\d+) bytes\n((?:  .*\n)*)", found)
    return [name for name, size, members in structs
            if int(size) != sum(int(bytes) for bytes in re.findall(r": (\d+) bytes at", members))]


def unlisted(header):
    """Constants of the header that abi.c does not print."""
    named = set(re.findall(r"^\s+(MORTISE_\w+) = -?\d+,", text_of(header), re.MULTILINE))
    return sorted(named - set(re.findall(r"MORTISE_\w+", (HERE / "abi.c").read_text())))


def main(arguments):
    writes = arguments[:1] == ["--write"]
    library, header, path, *compilers = arguments[writes:]
    if missing := unlisted(header):
        print("abi.c does not list:", *missing)
        return 1
    found = record(library, header, compilers[0])
    if writes:
        Path(path).write_text(found, encoding="utf-8")
        return 0
    for compiler in compilers[1:]:
        assert layout(compiler, header) in found, f"{compiler} has another layout"
    wanted = Path(path).read_text(encoding="utf-8")
    difference = list(difflib.unified_diff(wanted.splitlines(), found.splitlines(),
                                           "recorded", "found", lineterm=""))
    print("\n".join(difference) if difference else f"{len(wanted.splitlines())} lines: the same")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
