"""A program that links the shared library finds there what the libraries beside it need.

    exports_test.py MAP STATIC USER...

MAP says what the shared library exports (embed/exports.map.in). STATIC has all of its symbols. Each
USER is an archive that is linked beside it.
"""

import fnmatch
import re
import subprocess
import sys
import unittest
from pathlib import Path

MAP, STATIC, *USERS = sys.argv[1:]
del sys.argv[1:]


def symbols(kind, archive):
    """Demangled."""
    words = ["nm", "--demangle", "--extern-only", "--format=just-symbols", kind, archive]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return {line for line in told.splitlines() if not line.endswith(":")}


def patterns():
    text = Path(MAP).read_text(encoding="utf-8")
    names = re.search(r'extern "C\+\+" \{(.*?)\}', text, re.DOTALL)
    return [each.strip() for each in names[1].split(";") if each.strip()]


class Exports(unittest.TestCase):
    def test_what_is_needed_beside_the_library_is_exported(self):
        own = symbols("--defined-only", STATIC)
        for user in USERS:
            with self.subTest(user):
                needed = symbols("--undefined-only", user) & own
                self.assertTrue(needed)
                missing = [name for name in sorted(needed) if name.startswith("mortise::")
                           and not any(fnmatch.fnmatchcase(name, each) for each in patterns())]
                self.assertEqual(missing, [], "it belongs in embed/exports.map.in")


if __name__ == "__main__":
    unittest.main()
