#!/usr/bin/env python3
"""Writes what the present version leaves on disks, once for each release:

    tests/compatibility/write.py MORTISE STATE FOLDER

for example with build/dev/bin/mortise, build/dev/tests/compatibility_state and
tests/compatibility/0.2.0. The messages of that version are written by
`MORTISE_WRITE_MESSAGES=FOLDER/messages.txt build/dev/tests/transport_unit
--gtest_filter=ReleasedMessages.*`, and its protocol is FOLDER/peer.capnp, a copy.
"""

import json
import shutil
import sys
import tarfile
import time
from pathlib import Path

from cluster import ARCHIVE, EXPECTED, HERE, NODES, Kept, dump
from program import wait_until

FOLDER = Path(sys.argv.pop(1)).resolve()
SCHEMA = HERE.parents[1] / "transport" / "peer.capnp"


def lead(members):
    for node in (1, 2, 3):
        members.start(node)
    wait_until(lambda: members.is_ready(1, 2, 3))


def fill(members):
    """A dead member whose value is dirty, and a living one with something of everything."""
    members.start(5, "doomed")
    members.members[5].expect("up")
    members.change("add", 5)
    members.members[5].expect("holds")
    members.members[5].end()

    def is_dirty():
        lock = members.ask("inspect", "values/dirty")
        return lock and lock["value"]["dirty"]
    wait_until(is_dirty)
    members.start(4, "fill", members.place / "gate")
    members.members[4].expect("up")
    members.change("add", 4)
    members.members[4].expect("filled")


def stop(members):
    """When the states that are stored have everything; node 1 in order, the others by a crash."""
    time.sleep(3)  # a state is stored each 250 ms, if it has changed
    members.members[1].stop()
    for node in (2, 3, 4):
        members.members[node].end()


def pack(members):
    def kept(about):
        # The reserve is room without a content; a lock file names a process.
        if Path(about.name).name == "reserve":
            return None
        about.uid = about.gid = about.mtime = 0
        about.uname = about.gname = ""
        return about
    with tarfile.open(FOLDER / ARCHIVE, "w:xz", preset=9) as archive:
        for name in [*(f"node-{node}" for node in NODES), "gate"]:
            archive.add(members.place / name, name, filter=kept)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    with Kept() as members:
        lead(members)
        fill(members)
        stop(members)
        found = {str(node): dump(members.data(node)) for node in NODES}
        applied = {node: found[str(node)]["applied_index"] for node in NODES}
        print("states as of", applied)
        assert applied[1] > 0, "no state was saved"
        (FOLDER / EXPECTED).write_text(json.dumps(found, indent=1, sort_keys=True) + "\n",
                                       encoding="utf-8")
        pack(members)
    shutil.copy(SCHEMA, FOLDER / "peer.capnp")
    for path in sorted(FOLDER.iterdir()):
        print(f"{path.stat().st_size:8} {path}")


if __name__ == "__main__":
    main()
