"""What the library adds to the names of a program that is linked with it.

    symbols_test.py LIBRARY
"""

import re
import subprocess
import sys
import unittest

LIBRARY = sys.argv.pop() if len(sys.argv) > 1 else ""
IS_SHARED = ".so" in LIBRARY

# A function of mortise.h, a symbol of ours, or one that the compiler derives from it. Cap'n Proto
# names the code that it generates by the number of the schema.
OWN = re.compile(r"^mortise_[a-z_]+$|"
                 r"^(?:(?:typeinfo|typeinfo name|vtable|VTT|guard variable|construction vtable|"
                 r"non-virtual thunk|virtual thunk|TLS init function|TLS wrapper function)"
                 r" (?:for|to) )?(?:mortise::|capnp::schemas::[a-z]+_[0-9a-f]{16})")
# One per program, in whichever library it is: from headers, identical everywhere.
SHARED_KINDS = "WVuw"
# Inside the shared library, and not meant for the program.
INTERNAL = re.compile(r"mortise::(core|storage|transport|testing)::")
TAKEN_BY_THE_PROGRAM = re.compile(r"^(operator (new|delete)|malloc|calloc|realloc|free|main$|"
                                  r"__gxx_|signal$|sigaction$|fork$|_?exit$)")
# Initialized before main(): Asio's singletons, its error categories and thread markers, and their
# destructors. Sections, and what the compiler adds.
START = re.compile(r"^(_Z(N|NK|GVN|ZN|GVZN|TVN)12mortise_asio|"
                   r"_Z(GV)?N7mortise9transport8Resolver2idE|__cxa_atexit|atexit|"
                   r"_ZN7mortise7storage12_GLOBAL__N_1L?(12FromTheStartD|22watched_from_the_start)|"
                   r"__dso_handle|__cxa_guard_|__stack_chk_fail|_Unwind_Resume|\.)")


# Ours, mangled, and the functions of mortise.h.
VISIBLE = re.compile(r"^_Z(T[ISV]|GV|Z)?N?K?7mortise|^mortise_")
# The shared library has a symbol for each version of its symbols.
VERSION = re.compile(r"^MORTISE_(CXX_)?\d[\d.]*$")


def symbols(*options):
    """Kind and demangled name of each symbol that is defined and global, without its version."""
    said = subprocess.run(["nm", "-C", "--defined-only", "--extern-only", *options, LIBRARY],
                          capture_output=True, text=True, check=True).stdout
    for line in said.splitlines():
        match = re.match(r"^[0-9a-f]* ?([A-Za-z]) (.+)$", line)
        if match and not (match[1] == "A" and VERSION.match(match[2])):
            yield match[1], re.sub(r"@@?MORTISE_[\w.]+$", "", match[2])


class EveryLibrary(unittest.TestCase):
    def setUp(self):
        self.all = list(symbols("-D") if IS_SHARED else symbols())

    def test_there_are_some(self):
        self.assertTrue(any(name.startswith("mortise::Node::acquire(") for _, name in self.all))

    def test_all_are_of_this_library(self):
        strangers = {name for kind, name in self.all
                     if kind not in SHARED_KINDS and not OWN.match(name)}
        self.assertEqual(strangers, set())

    def test_none_takes_the_place_of_one_of_the_program(self):
        self.assertEqual({name for _, name in self.all if TAKEN_BY_THE_PROGRAM.match(name)}, set())


class SharedLibrary(unittest.TestCase):
    def test_it_shows_nothing_but_the_api(self):
        shown = {name for _, name in symbols("-D")}
        self.assertEqual({name for name in shown if not OWN.match(name)}, set())
        self.assertEqual({name for name in shown if INTERNAL.search(name.split("(")[0])}, set())


class StaticLibrary(unittest.TestCase):
    def test_it_shows_nothing_to_what_the_program_loads(self):
        said = subprocess.run(["readelf", "--syms", "--wide", LIBRARY], capture_output=True,
                              text=True, check=True).stdout
        visible = set()
        for line in said.splitlines():
            words = line.split()
            if len(words) < 8 or words[4] == "LOCAL" or words[6] == "UND":
                continue
            if words[5] == "DEFAULT" and VISIBLE.match(words[7]):
                visible.add(words[7])
        self.assertEqual(visible, set())

    def test_what_runs_before_main_does_next_to_nothing(self):
        said = subprocess.run(["objdump", "--disassemble", "--reloc", LIBRARY],
                              capture_output=True, text=True, check=True).stdout
        function = ""
        used = set()
        for line in said.splitlines():
            if line.endswith(">:"):
                function = line.split("<")[1]
            elif function.startswith(("_GLOBAL__sub_I", "_Z41__static_init")) and "R_" in line:
                used.add(re.split("[-+]0x", line.split()[-1])[0])
        self.assertIn("__cxa_atexit", used)
        self.assertEqual({name for name in used if not START.match(name)}, set())


if __name__ == "__main__":
    if not LIBRARY:
        sys.exit(__doc__)
    kind = "SharedLibrary" if IS_SHARED else "StaticLibrary"
    unittest.main(verbosity=2, defaultTest=["EveryLibrary", kind])
