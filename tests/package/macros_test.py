#!/usr/bin/env python3
"""The public headers after those of other libraries, whose macros have the names of ours:

    macros_test.py SOURCE_FOLDER COMPILER...
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE, *COMPILERS = sys.argv[1:]
FOLDERS = [Path(SOURCE) / "embed" / part / "include" for part in (".", "testing", "console")]

# As in Qt's qobjectdefs.h, Xlib.h and X.h of X11, and windows.h.
MACROS = """
#define signals public
#define slots
#define emit
#define foreach(one, all) for (one : all)
#define forever for (;;)
#define Bool int
#define Status int
#define True 1
#define False 0
#define None 0L
#define Always 2
#define Success 0
#define Unsorted 0
#define KeyPress 2
#define FocusIn 9
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define interface struct
#define small char
#define near
#define far
#define IN
#define OUT
#define CONST const
#define OPTIONAL
#define ERROR 0
#define NO_ERROR 0L
#define DELETE 1
#define TRUE 1
#define FALSE 0
"""

# How a program uses the names all the same; docs/package.md says so.
USE = """
static_assert(max(1, 2) == 2, "the macros are back");
Status one_of_x11(Bool) { return Success; }
bool uses(const mortise::Node& node) {
    const auto status = node.status();
    mortise::AcquireOptions options;
    options.wait_max = (mortise::Duration::max)();
    return status.ready && (options.wait_max.is_set)();
}
#undef slots
#undef Status
std::size_t uses(const mortise::Hold& hold) { return hold.slots().size(); }
mortise::Status also(const mortise::Node& node) { return node.status(); }
"""


def headers():
    names = [f"#include <{path.relative_to(folder)}>" for folder in FOLDERS
             for path in sorted(folder.rglob("*.h*")) if path.parent.name != "detail"]
    assert len(names) > 50, names
    return "\n".join(names) + "\n"


def headers_of_others():
    """Those that ours include. They do not bear `min` and `max` before them."""
    text = "\n".join(path.read_text(encoding="utf-8") for folder in FOLDERS
                     for path in folder.rglob("*.h*"))
    return "\n".join(sorted(set(re.findall(r"#include <(?!mortise)[a-z_./]+>", text)))) + "\n"


class AfterTheMacros(unittest.TestCase):
    def compiles(self, source, *flags):
        for compiler in COMPILERS:
            folders = [f"-I{folder}" for folder in FOLDERS]
            done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra",
                                   "-Werror", *flags, *folders, "-xc++", "-"], input=source,
                                  text=True, capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_all_headers_compile(self):
        self.compiles(headers_of_others() + MACROS + headers() + USE)

    def test_they_compile_without_rtti(self):
        self.compiles("#include <mortise/mortise.hpp>\n", "-fno-rtti")
        self.compiles("#include <mortise/async.hpp>\n", "-fno-rtti", "-DASIO_NO_TYPEID")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
