#!/usr/bin/env python3
"""The wheel and the source archive of the Python package, installed into an environment of their
own, and a C program with the C library: python_package_test.py BUILD."""

import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve()
LIBRARY = BUILD / "embed" / "libmortise.so.0"
PROGRAMS = Path(__file__).resolve().parents[2] / "examples"
HELLO = Path(__file__).resolve().parents[2] / "examples" / "python" / "hello_lock.py"


class PythonPackage(unittest.TestCase):
    def file(self, ending):
        found, = [path for path in (BUILD / "packages").iterdir()
                  if path.name.endswith(ending) and "-linux-" not in path.name]
        return found

    def test_the_wheel_has_the_modules_and_nothing_of_this_machine(self):
        names = zipfile.ZipFile(self.file(".whl")).namelist()
        for name in ("__init__.py", "py.typed", "libmortise.so.0", "licences/librocksdb7.8"):
            self.assertIn(f"mortise/{name}", names)
        self.assertEqual([name for name in names if "__pycache__" in name], [])
        size = self.file(".whl").stat().st_size
        self.assertLess(size, 14_000_000)

    def install(self, ending, folder):
        """The Python of a new environment with the package."""
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", folder], check=True)
        python = Path(folder) / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index",
                        "--no-build-isolation", self.file(ending)], check=True)
        return python

    def check_that_it_holds_a_lock(self, *command, **variables):
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              env={**os.environ, **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("orders/42 is ours", done.stdout)

    def test_the_sources_are_installed_and_use_a_library_of_the_system(self):
        with tempfile.TemporaryDirectory() as folder:
            self.check_that_it_holds_a_lock(self.install(".tar.gz", folder), HELLO,
                                            MORTISE_LIBRARY=str(LIBRARY))

    def test_the_wheel_holds_a_lock_with_its_own_libraries_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            python = self.install(".whl", folder)
            self.check_that_it_holds_a_lock(python, HELLO)
            script = ("import ssl, mortise; print({line.split()[-1] for line in "
                      "open('/proc/self/maps') if '.so' in line})")
            loaded = subprocess.run([python, "-c", script], capture_output=True, text=True,
                                    check=True).stdout
            for name in ("rocksdb", "crypto", "capnp", "z"):
                place = rf"site-packages/mortise/libs/lib{name}(-[0-9.]+)?-[0-9a-f]{{8}}\.so"
                self.assertRegex(loaded, place)
            # Python's own, as the ssl of this script.
            self.assertNotRegex(loaded, r"'/(usr/)?lib/[^']*lib(rocksdb|capnp|kj|snappy)")

    def test_a_c_program_holds_a_lock_with_the_c_library(self):
        archive, = (BUILD / "packages").glob("mortise-c-*.tar.gz")
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["tar", "xf", archive, "-C", folder, "--strip-components=1"], check=True)
            subprocess.run(["cc", "-I", f"{folder}/include", PROGRAMS / "c" / "hello_lock.c",
                            "-o", f"{folder}/hello", "-L", f"{folder}/lib", "-lmortise",
                            "-Wl,-rpath,$ORIGIN/lib"], check=True)
            self.check_that_it_holds_a_lock(f"{folder}/hello")
            loaded = subprocess.run(["ldd", f"{folder}/hello"], capture_output=True, text=True,
                                    check=True).stdout
            self.assertNotRegex(loaded, r"=> /(usr/)?lib/[^ ]*lib(rocksdb|capnp|crypto|spdlog)")


if __name__ == "__main__":
    unittest.main(verbosity=2)
