#!/usr/bin/env python3
"""Is the list of what the program is made of whole, true, and CycloneDX? sbom_test.py TREE BUILD
PROGRAM."""

import hashlib
import json
import re
import subprocess
import sys
import unittest
import uuid
from pathlib import Path

TREE, BUILD, PROGRAM = (Path(sys.argv.pop(1)).resolve() for _ in range(3))
COMMAND = [sys.executable, "-B", TREE / "tools" / "sbom.py", PROGRAM, BUILD]
# Compiled from headers; no loader knows them.
HEADERS_ONLY = {"libasio-dev", "libtomlplusplus-dev", "libcli11-dev", "nlohmann-json3-dev",
                "libspdlog-dev", "libfmt-dev", "libxxhash-dev"}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Sbom(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = output(*COMMAND)
        cls.document = json.loads(cls.text)
        cls.components = cls.document["components"]
        cls.files = {file["name"]: file for each in cls.components
                     for file in each.get("components", [])}

    def test_has_the_form_of_cyclonedx(self):
        self.assertEqual(self.document["bomFormat"], "CycloneDX")
        self.assertEqual(self.document["specVersion"], "1.4")
        self.assertEqual(self.document["version"], 1)
        self.assertTrue(uuid.UUID(self.document["serialNumber"].removeprefix("urn:uuid:")))
        known = {"type", "bom-ref", "name", "version", "purl", "licenses", "hashes", "properties",
                 "externalReferences", "components"}
        for each in [self.document["metadata"]["component"], *self.components,
                     *self.files.values()]:
            self.assertIn(each["type"], ("application", "library", "file"))
            self.assertTrue(each["name"] and each["bom-ref"])
            self.assertLessEqual(set(each), known)

    def test_everything_in_it_is_called_once_and_is_what_the_program_depends_on(self):
        called = [each["bom-ref"] for each in self.components]
        self.assertEqual(len(called), len(set(called)))
        self.assertEqual(self.document["dependencies"], [{"ref": "mortise", "dependsOn": called}])

    def test_has_every_library_that_the_loader_would_take(self):
        loaded = re.findall(r"(/\S+) \(0x", output("ldd", PROGRAM))
        self.assertGreater(len(loaded), 5)
        self.assertEqual(sorted(self.files), sorted(loaded))

    def test_has_every_library_that_the_program_names(self):
        needed = re.findall(r"NEEDED.*\[(\S+)\]", output("readelf", "-dW", PROGRAM))
        self.assertIn("librocksdb.so.7.8", needed)
        self.assertLessEqual(set(needed), {Path(name).name for name in self.files})

    def test_has_what_was_compiled_in(self):
        self.assertLessEqual(HEADERS_ONLY, {each["name"] for each in self.components})

    def test_checksums_are_those_of_the_files(self):
        subject = self.document["metadata"]["component"]
        for each in [{**subject, "name": PROGRAM}, *self.files.values()]:
            (known,) = each["hashes"]
            self.assertEqual(known["alg"], "SHA-256")
            self.assertEqual(known["content"],
                             hashlib.sha256(Path(each["name"]).read_bytes()).hexdigest())

    def test_versions_are_those_that_are_installed(self):
        installed = dict(line.split(" ", 1) for line in output(
            "dpkg-query", "-W", "-f=${Package} ${Version}\n").splitlines())
        for each in self.components:
            self.assertEqual(each["version"], installed[each["name"]], each["name"])
            self.assertRegex(each["purl"], rf"^pkg:deb/\w+/{re.escape(each['name'])}@[^:]+\?")

    def test_each_has_a_licence_or_says_where_it_is_written(self):
        licensed = {each["name"]: [one["license"]["name"] for one in each.get("licenses", [])]
                    for each in self.components}
        self.assertEqual(licensed["librocksdb7.8"], ["GPL-2 or Apache-2.0"])
        self.assertEqual(licensed["libtomlplusplus-dev"], ["Expat"])
        for each in self.components:
            if not licensed[each["name"]]:
                where = {one["name"]: one["value"] for one in each["properties"]}
                self.assertTrue(Path(where["debian:licence-text"]).is_file(), each["name"])

    def test_the_same_program_has_the_same_list(self):
        self.assertEqual(output(*COMMAND), self.text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
