#!/usr/bin/env python3
"""What a build needs: the list of ./dev, that of docs/building.md, and what the sources include.

    packages_test.py TREE
"""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

TREE = Path(sys.argv.pop(1)).resolve()
FOLDERS = ("core", "storage", "transport", "embed", "tools")
# What comes with every compiler.
ALWAYS = {"libc6-dev", "linux-libc-dev", "libstdc++-12-dev"}
# What is not a library: the page has words about them.
TOOLS = {"build-essential", "g++", "cmake", "ninja-build", "pkg-config", "ccache"}


def listed(name):
    """An array of ./dev, without what it takes from another one."""
    text = (TREE / "dev").read_text(encoding="utf-8")
    found = re.search(rf"^{name}=\((.*?)\)", text, re.MULTILINE | re.DOTALL)[1]
    return {word for word in found.split() if not word.startswith('"')}


def rows():
    page = (TREE / "docs/building.md").read_text(encoding="utf-8")
    section = page.split("\n## Libraries\n")[1].split("\n\nThe tests")[0]
    lines = [line.strip("|").split(" | ") for line in section.splitlines() if line[:3] == "| `"]
    return [[set(re.findall(r"`([\w+-]+)`", cell)) for cell in line] for line in lines]


def included():
    """The headers in angle brackets that this system has."""
    names = set()
    for folder in FOLDERS:
        for path in (TREE / folder).rglob("*.[ch]pp"):
            names |= set(re.findall(r"^ *# *include <([^>]+)>", path.read_text(encoding="utf-8"),
                                    re.MULTILINE))
    return [path for path in (f"/usr/include/{name}" for name in sorted(names))
            if Path(path).exists()]


class Packages(unittest.TestCase):
    def test_every_header_is_of_a_package_that_a_build_installs(self):
        said = subprocess.run(["dpkg", "-S", *included()], capture_output=True, text=True,
                              check=True).stdout
        owners = {line.split(":")[0] for line in said.splitlines()} - ALWAYS
        self.assertIn("libasio-dev", owners)
        self.assertEqual(owners - listed("build_packages"), set())

    def test_the_page_lists_what_dev_installs(self):
        self.assertEqual(set().union(*(row[0] for row in rows())),
                         listed("build_packages") - TOOLS)
        page = (TREE / "docs/building.md").read_text(encoding="utf-8")
        for package in listed("static_packages"):
            self.assertIn(package, page)

    def test_the_page_lists_what_the_port_for_vcpkg_takes(self):
        port = json.loads((TREE / "packaging/vcpkg/mortise/vcpkg.json").read_text("utf-8"))
        wanted = [*port["dependencies"], *port["features"]["tools"]["dependencies"]]
        names = {each if isinstance(each, str) else each["name"] for each in wanted}
        self.assertEqual(set().union(*(row[3] for row in rows())),
                         names - {"vcpkg-cmake", "vcpkg-cmake-config"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
