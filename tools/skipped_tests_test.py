#!/usr/bin/env python3
"""A small project with tests that skip in every way, run by ctest as `./dev test` does it."""

import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "skipped_tests.py"
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(skipping NONE)
enable_testing()
function(python name text)
  file(WRITE ${CMAKE_BINARY_DIR}/${name}.py "${text}")
  add_test(NAME ${name} COMMAND "@PYTHON@" -B ${CMAKE_BINARY_DIR}/${name}.py)
endfunction()
"""
CASES = """
import unittest
class Cases(unittest.TestCase):
    def test_passes(self): pass
    @unittest.skip("it's cold")
    def test_cold(self): pass
    def test_described(self):
        "It is described."
        self.skipTest("no root")
@unittest.skip("of a class")
class Others(unittest.TestCase):
    def test_other(self): pass
"""
GTEST = """
print("[==========] Running 2 tests from 1 test suite.")
print("[ RUN      ] Disk.IsFull")
print("/tree/disk_test.cpp:7: Skipped")
print("no file system can be mounted here")
print("")
print("[  SKIPPED ] Disk.IsFull (0 ms)")
print("[ RUN      ] Disk.IsEmpty")
print("[       OK ] Disk.IsEmpty (0 ms)")
print("[  PASSED  ] 1 test.")
print("[  SKIPPED ] 1 test, listed below:")
print("[  SKIPPED ] Disk.IsFull")
"""


class Skipped(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.project = PROJECT.replace("@PYTHON@", sys.executable)

    def add(self, name, text, more=""):
        text = textwrap.dedent(text)
        self.project += f"python({name} [==[{text}]==])\n{more}\n"

    def found(self):
        (self.folder / "CMakeLists.txt").write_text(self.project, encoding="utf-8")
        build = self.folder / "build"
        results = self.folder / "results.xml"
        for command in (["cmake", "-S", self.folder, "-B", build],
                        ["ctest", "--test-dir", build, "--output-junit", results,
                         "--test-output-size-passed", "100000000"]):
            subprocess.run(command, capture_output=True, check=True)
        return subprocess.run([sys.executable, "-B", SCRIPT, results], capture_output=True,
                              text=True, check=True).stdout.splitlines()

    def test_a_test_that_is_skipped_as_a_whole(self):
        self.add("spin", "print('skipped: spin is not installed'); raise SystemExit(77)",
                 "set_tests_properties(spin PROPERTIES SKIP_RETURN_CODE 77)")
        self.add("off", "", "set_tests_properties(off PROPERTIES DISABLED ON)")
        found = self.found()
        self.assertEqual(found[0], "spin: spin is not installed")
        self.assertEqual(len(found), 2)
        self.assertRegex(found[1], "^off: ")

    def test_cases_of_unittest(self):
        self.add("cases", CASES + "unittest.main(verbosity=2)\n")
        self.assertEqual(self.found(), ["cases: Cases.test_cold: it's cold",
                                        "cases: It is described.: no root",
                                        "cases: Others.test_other: of a class"])

    def test_cases_that_are_only_counted(self):
        self.add("cases", CASES + "unittest.main()\n")
        self.assertEqual(self.found(), 3 * ["cases: a case: it does not say why"])

    def test_cases_of_gtest(self):
        self.add("disk", GTEST)
        self.assertEqual(self.found(), ["disk: Disk.IsFull: no file system can be mounted here"])

    def test_cases_of_a_ctest_inside(self):
        self.add("outer", "print('1/1 Test #1: hello ......***Skipped   0.01 sec')")
        self.assertEqual(self.found(), ["outer: hello: it does not say why"])

    def test_long_output_hides_nothing(self):
        self.add("long", "print('x\\\\n' * 100000)\n" + CASES + "unittest.main(verbosity=2)\n")
        self.assertEqual(len(self.found()), 3)

    def test_other_words_are_no_skips(self):
        self.add("words", "print('skipped 3 rows'); print('it skipped'); print('skipped: 1')")
        self.add("failing", "raise SystemExit(1)",
                 "set_tests_properties(failing PROPERTIES WILL_FAIL ON)")
        self.assertEqual(self.found(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
