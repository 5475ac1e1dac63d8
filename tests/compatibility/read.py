"""The present version reads what each released one has left on disks, and continues from it.

    read.py MORTISE STATE
"""

import contextlib
import json
import re
import subprocess
import tarfile
import tempfile
import unittest

from cluster import ARCHIVE, EXPECTED, HERE, NODES, STATE, Kept, dump
from program import environment, wait_until

VERSIONS = sorted(path.parent for path in HERE.glob(f"*/{EXPECTED}"))
SCHEMA = HERE.parents[1] / "transport" / "peer.capnp"


def missing(wanted, found, at="it"):
    """What differs. A later version may say more, and must not say less or anything else."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return [one for key, value in wanted.items()
                for one in (missing(value, found[key], f"{at}.{key}") if key in found
                            else [f"{at}.{key} is missing"])]
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        return [one for number, value in enumerate(wanted)
                for one in missing(value, found[number], f"{at}[{number}]")]
    return [] if wanted == found else [f"{at}: {found!r} instead of {wanted!r}"]


def fields(schema):
    """The numbered parts of a schema with their types: (path of the type, declaration)."""
    text = re.sub(r"#.*", "", schema.read_text(encoding="utf-8"))
    path, declared = [], set()
    for words, end in re.findall(r"([^;{}]*)([;{}])", text):
        words = " ".join(words.split())
        if end == "{":
            path.append(words)
        elif end == "}":
            path.pop()
        if end == ";" and "@" in words:
            declared.add(("/".join(path), words))
    return declared


class Released(unittest.TestCase):
    def setUp(self):
        self.assertTrue(VERSIONS)

    @contextlib.contextmanager
    def unpacked(self, version):
        """Its directories, and what it said about them."""
        with (self.subTest(version.name),
              tempfile.TemporaryDirectory(prefix="mortise-compatibility-") as directory):
            with tarfile.open(version / ARCHIVE) as archive:
                archive.extractall(directory)
            yield directory, json.loads((version / EXPECTED).read_text(encoding="utf-8"))

    def test_directories_are_read_exactly(self):
        for version in VERSIONS:
            with self.unpacked(version) as (directory, wanted):
                self.assertEqual(sorted(wanted), [str(node) for node in NODES])
                for node, about in wanted.items():
                    # A list of nothing would fit anything.
                    self.assertGreater(len(about["entries"]), 5)
                    about.pop("notes")  # they are about the place
                    self.assertEqual(missing(about, dump(f"{directory}/node-{node}")), [])
                self.assertGreater(len(wanted["2"]["locks"]), 20)

    def test_a_difference_is_found(self):
        wanted = {"a": [1, {"b": 2}]}
        self.assertEqual(missing(wanted, {"a": [1, {"b": 2, "c": 3}], "d": 4}), [])
        for other in ({"a": [1, {"b": 3}]}, {"a": [1]}, {}, {"a": [1, {}]}):
            self.assertEqual(len(missing(wanted, other)), 1, other)

    def test_a_cluster_continues_from_them(self):
        for version in VERSIONS:
            with self.unpacked(version) as (directory, wanted):
                with Kept(directory) as members:
                    self.start(members)
                    self.look(members, wanted["2"])
                    members.start(4, "look")
                    members.change("move", 4)  # the log has its former address
                    token, *_ = members.members[4].answer("token")
                    self.assertGreater(int(token), int(wanted["2"]["newest_token"]))

    def start(self, members):
        for node in (1, 2, 3):
            members.start(node)
        wait_until(lambda: members.is_ready(1, 2, 3))

    def look(self, members, wanted):
        listed = {member["id"]: member for member in members.ask("members")}
        self.assertEqual(sorted(listed), [member["id"] for member in wanted["members"]])
        for member in wanted["members"]:
            for key in ("role", "incarnation"):
                self.assertEqual(listed[member["id"]][key], member[key])
        for lock in wanted["locks"]:
            if lock.get("value"):
                found = members.ask("inspect", lock["name"])
                self.assertEqual(found["value"]["bytes"], lock["value"]["bytes"])

    def test_a_gate_refuses_what_it_refused(self):
        for version in VERSIONS:
            with self.unpacked(version) as (directory, _):
                done = subprocess.run([STATE, f"{directory}/gate", "gate"], env=environment(),
                                      capture_output=True, text=True, check=True)
                self.assertEqual(done.stdout, "gate no no yes yes yes\n")

    def test_the_protocol_has_every_field_that_it_had(self):
        for version in VERSIONS:
            former = fields(version / "peer.capnp")
            self.assertGreater(len(former), 100)
            self.assertEqual(former - fields(SCHEMA), set(), version.name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
