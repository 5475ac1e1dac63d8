#!/usr/bin/env python3
"""The version is the same everywhere, and changes everywhere: version_test.py TREE."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

TREE = Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(TREE / "tools"))

import version as versions  # noqa: E402


class Version(unittest.TestCase):
    def test_it_is_the_same_everywhere(self):
        here = versions.header_numbers(versions.read(versions.HEADER))
        self.assertEqual(list(versions.differing(here)), [])

    def test_it_changes_everywhere(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in {versions.CHANGELOG, *(name for name, _ in versions.PLACES)}:
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(TREE / name, Path(folder) / name)
            self.addCleanup(setattr, versions, "TREE", versions.TREE)
            versions.TREE = Path(folder)
            self.assertEqual(versions.main(["--set", "7.8.9"]), 0)
            self.assertEqual(list(versions.differing("7.8.9")), [])
            self.assertEqual(versions.header_numbers(versions.read(versions.HEADER)), "7.8.9")
            self.assertEqual(versions.main(["--check"]), 0)
            self.assertNotEqual(list(versions.differing("7.8.8")), [])
            self.assertEqual(versions.main(["--set", "7.8"]), 2)

    def test_what_is_unreleased_becomes_a_section(self):
        before = "# Changelog\n\n## [Unreleased]\n\nFormats: wire 1, disk 1\n\n### Added\n\n- A.\n"
        after = versions.release_notes(before, "0.2.0", "2026-11-27")
        self.assertEqual(after, "# Changelog\n\n## [Unreleased]\n\nFormats: wire 1, disk 1\n\n"
                         "## [0.2.0] - 2026-11-27\n\nFormats: wire 1, disk 1\n\n### Added\n\n"
                         "- A.\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
