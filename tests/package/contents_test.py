#!/usr/bin/env python3
"""What an installation is made of: contents_test.py SOURCE BUILD STAGE CONFIG HARDENING.

No place of the machine that built it, no objects that only one compiler can link, and what makes
faults in memory harder to use.
"""

import os
import platform
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, BUILD, STAGE = (Path(sys.argv.pop(1)).resolve() for _ in range(3))
CONFIG = sys.argv.pop(1)
HARDENED = sys.argv.pop(1).upper() in ("ON", "TRUE", "YES", "1")
PROGRAM = STAGE / "bin" / "mortise"
OPTIMIZED = CONFIG in ("Release", "RelWithDebInfo", "MinSizeRel")


def shared_libraries():
    return sorted(path for path in STAGE.rglob("lib*.so*") if not path.is_symlink())


# What the loader maps: the program, and in a build with a shared library that as well.
LOADED = (PROGRAM, *shared_libraries())


def read_elf(option, path):
    command = ["readelf", "--wide", option, path]
    return subprocess.run(command, capture_output=True, text=True, check=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


def archives():
    return sorted(STAGE.rglob("lib*.a"))


def is_binary(path):
    return path == PROGRAM or path.suffix == ".a" or ".so" in path.name


def content(path):
    """Its bytes; in a Debug build without debug information, which contains the paths of the
    sources."""
    if OPTIMIZED or not is_binary(path):
        return path.read_bytes()
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["objcopy", "--strip-debug", path, stripped.name], check=True)
        return Path(stripped.name).read_bytes()


class Places(unittest.TestCase):
    def test_no_file_names_where_it_was_built(self):
        looked_at = [path for path in STAGE.rglob("*") if path.is_file()]
        self.assertGreater(len(looked_at), 20)
        for path in looked_at:
            found = content(path)
            for place in (SOURCE, BUILD):
                # The stage may be inside the build; an installation must not contain that path
                # either.
                at = found.find(os.fsencode(place) + b"/")
                self.assertEqual(at, -1, f"{path}: {found[max(at - 80, 0):at + 160]}")

    def test_messages_name_the_place_in_the_tree(self):
        # In messages about broken invariants; check_test.cpp has whole messages.
        self.assertTrue(any(re.search(rb"\0core/raft/\w+\.cpp\0", content(path))
                            for path in LOADED))

    def test_libraries_are_looked_for_where_the_system_does(self):
        for path in LOADED:
            self.assertNotRegex(read_elf("--dynamic", path), r"R(UN)?PATH", path)


class Pages(unittest.TestCase):
    def test_the_manual_is_where_man_looks(self):
        found = {path.name for path in (STAGE / "share/man/man1").iterdir()}
        self.assertLessEqual({"mortise.1.gz", "mortise-run.1.gz"}, found)
        shown = subprocess.run(["gzip", "-dc", STAGE / "share/man/man1/mortise-run.1.gz"],
                               capture_output=True, text=True, check=True).stdout
        self.assertIn("Run a command while a lock is held", shown)

    def test_shells_find_their_completions(self):
        for name in ("bash-completion/completions/mortise", "zsh/site-functions/_mortise",
                     "fish/vendor_completions.d/mortise.fish"):
            self.assertIn("mortise", (STAGE / "share" / name).read_text(encoding="utf-8"), name)


class Objects(unittest.TestCase):
    def test_every_linker_can_use_them(self):
        self.assertTrue(archives())
        for archive in archives():
            self.assertNotIn(".gnu.lto_", read_elf("--section-headers", archive), archive)

    # Otherwise the linker merges it with what a program has of an Asio with other settings.
    def test_they_have_nothing_that_may_be_in_a_program_as_well(self):
        for archive in archives():
            names = set(re.findall(r" (?:WEAK|UNIQUE|GLOBAL) .* (\S*asio\S*)$",
                                   read_elf("--symbols", archive), re.MULTILINE))
            others = {name for name in names if re.search("4asio|^asio_", name)}
            self.assertFalse(sorted(others)[:10], archive)
            if archive.name == "libmortise.a":
                self.assertGreater(sum("mortise_asio" in name for name in names), 100)

    # This build may be without it, and the installed one with it.
    def test_link_time_optimization_stays_out_of_them(self):
        with tempfile.TemporaryDirectory() as build:
            subprocess.run(["cmake", "-S", SOURCE, "-B", build, "-G", "Ninja",
                            "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON", "-DMORTISE_BUILD_TESTS=OFF"],
                           check=True, capture_output=True)
            commands = subprocess.run(["ninja", "-C", build, "-t", "commands"], text=True,
                                      check=True, capture_output=True).stdout.splitlines()
        compiled = [line for line in commands if re.search(r" -c \S+$", line)]
        optimized = [line for line in compiled if re.search(r"-flto", line)]
        self.assertGreater(len(compiled), 20)
        self.assertTrue(optimized, "the program has it, or this test sees nothing")
        for line in optimized:
            self.assertRegex(line, r"-o (tools|examples)/")


class Hardening(unittest.TestCase):
    def test_it_may_be_anywhere_in_memory(self):
        for path in LOADED:
            self.assertRegex(read_elf("--file-header", path), r"Type: +DYN", path)

    def test_what_the_linker_fills_in_is_read_only_afterwards(self):
        for path in LOADED:
            self.assertIn("GNU_RELRO", read_elf("--program-headers", path), path)
            self.assertRegex(read_elf("--dynamic", path), r"\(FLAGS_1\) +Flags: .*\bNOW\b", path)

    def test_no_code_on_the_stack(self):
        for path in LOADED:
            stack = re.search(r"GNU_STACK.*", read_elf("--program-headers", path))[0]
            self.assertRegex(stack, r" RW +0", path)

    def test_stacks_are_checked(self):
        for path in (*LOADED, *archives()):
            self.assertIn("__stack_chk_fail", read_elf("--symbols", path), path)


class SizesChecked(unittest.TestCase):
    def test_functions_of_the_c_library_check_sizes(self):
        for path in LOADED:
            self.assertRegex(read_elf("--dyn-syms", path), r"__\w+_chk@", path)


class JumpsChecked(unittest.TestCase):
    # The program is exempt: the start-up code of Debian 12 does not have it.
    def test_jumps_of_our_objects_end_where_they_may(self):
        for archive in archives():
            notes = read_elf("--notes", archive)
            objects = notes.count("\nFile: ") or notes.startswith("File: ")
            self.assertEqual(notes.count("x86 feature: IBT, SHSTK"),
                             len(re.findall(r"^File: ", notes, re.MULTILINE)), archive)
            self.assertTrue(objects)


def classes():
    """Those that this build is to pass: a test of what it does not claim would only be skipped."""
    yield from ("Places", "Pages", "Objects")
    if HARDENED:
        yield "Hardening"
        if OPTIMIZED:  # elsewhere sizes are not known
            yield "SizesChecked"
        if platform.machine() == "x86_64":
            yield "JumpsChecked"


if __name__ == "__main__":
    unittest.main(verbosity=2, defaultTest=list(classes()))
