#!/usr/bin/env python3
"""What a run of ctest did not test, although its last line does not say so.

    skipped_tests.py RESULTS        the file of `ctest --output-junit`

Prints a line for each test that was skipped, and for each skipped case inside a program that ctest
calls passed: of GoogleTest, of Python's unittest, of a ctest that a test runs. The line has the
name of the test, the case, and the reason.
"""

import re
import sys
import xml.etree.ElementTree as xml

# unittest with verbosity 2: `test_x (__main__.Class.test_x) ... skipped 'why'`. The name stands on
# an earlier line when the test has a description or has printed something.
UNITTEST = re.compile(r"""^(?:(?P<case>.*\S)\s\.\.\.\s)?skipped\s(?P<quote>['"])(?P<why>.*)"""
                      r"(?P=quote)$")
UNITTEST_COUNT = re.compile(r"^(?:OK|FAILED) \(.*\bskipped=(\d+)")
GTEST_REASON = re.compile(r": Skipped$")
GTEST = re.compile(r"^\[  SKIPPED \] (\S+) \(\d+ ms\)$")
GTEST_COUNT = re.compile(r"^\[  SKIPPED \] (\d+) tests?\b")
CTEST = re.compile(r"Test +#\d+: (\S+) .*\*\*\*Skipped")


def short(case):
    """Class.test_x of `test_x (__main__.Class.test_x)`."""
    named = re.search(r"\((?:__main__\.)?([\w.]+)\)", case or "")
    return named[1] if named else (case or "a case").strip()


def unittest_cases(lines):
    for line in lines:
        if found := UNITTEST.match(line):
            yield short(found["case"]), found["why"]


def gtest_cases(lines):
    why = ""
    for before, line in zip(["", *lines], lines):
        if GTEST_REASON.search(before):
            why = line
        elif line.startswith("[ RUN "):
            why = ""
        elif found := GTEST.match(line):
            yield found[1], why


def ctest_cases(lines):
    for line in lines:
        if found := CTEST.search(line):
            yield found[1], ""


def inner(output):
    """(case, reason) of each case that was skipped inside a program."""
    lines = output.splitlines()
    for cases, count in ((unittest_cases, UNITTEST_COUNT), (gtest_cases, GTEST_COUNT),
                         (ctest_cases, None)):
        found = list(cases(lines))
        yield from found
        counted = sum(int(told[1]) for line in lines if count and (told := count.match(line)))
        # A program that says less still says how many.
        yield from [("a case", "")] * (counted - len(found))


def skipped(case):
    """(case, reason) of a test; the case of a whole one is empty."""
    output = case.findtext("system-out", "")
    if case.get("status") in ("notrun", "disabled"):
        told = re.search(r"^skipped: (.*)", output, re.MULTILINE)
        mark = case.find("skipped")
        yield "", told[1] if told else ("" if mark is None else mark.get("message", ""))
    else:
        yield from inner(output)


def main(path):
    for case in xml.parse(path).getroot().iter("testcase"):
        for name, why in skipped(case):
            what = ": ".join(filter(None, (case.get("name"), name)))
            print(f"{what}: {why or 'it does not say why'}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
