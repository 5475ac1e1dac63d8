#!/usr/bin/env python3
"""The wheel and the source archive of the Python package, installed into an environment of their
own: python_package_test.py BUILD."""

import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve()
LIBRARY = BUILD / "embed" / "libmortise.so.0"
HELLO = Path(__file__).resolve().parents[2] / "examples" / "python" / "hello_lock.py"


class PythonPackage(unittest.TestCase):
    def file(self, ending):
        found, = [path for path in (BUILD / "packages").iterdir()
                  if path.name.endswith(ending) and "linux" not in path.name]
        return found

    def test_the_wheel_has_the_modules_and_nothing_of_this_machine(self):
        names = zipfile.ZipFile(self.file(".whl")).namelist()
        self.assertIn("mortise/__init__.py", names)
        self.assertIn("mortise/py.typed", names)
        self.assertEqual([name for name in names if ".so" in name or "__pycache__" in name], [])

    def test_both_are_installed_and_hold_a_lock(self):
        for ending in (".whl", ".tar.gz"):
            with self.subTest(ending), tempfile.TemporaryDirectory() as folder:
                subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", folder],
                               check=True)
                python = Path(folder) / "bin" / "python"
                subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index",
                                "--no-build-isolation", self.file(ending)], check=True)
                done = subprocess.run([python, HELLO], capture_output=True, text=True, check=False,
                                      env={**os.environ, "MORTISE_LIBRARY": str(LIBRARY)})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("orders/42 is ours", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
