#!/usr/bin/env python3
"""What our headers cost those who include them.

    header_cost.py                 fails if one of the headers below costs more than it may
    header_cost.py --list [N]      the N dearest headers (20)

Counted are the lines of this tree that a header brings with it. They are the same on every machine,
unlike times, and the time to compile grows with them. A header over its limit includes something
new: declare a type instead of including it, or move what needs it into a source file. A higher
limit needs a reason.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ["core", "storage", "transport", "embed"]
INCLUDED_FROM = [".", "embed/include", "embed/testing/include", "embed/console/include",
                 "embed/door/include"]

# In thousands of lines, with room for a few percent. These are the dearest headers, and those that
# most others include. Whoever includes a request has the rooms of all kinds of names, about 450
# lines of plain values (decision 0094).
LIMITS = {
    "core/agent/call.hpp": 2.5,
    "core/locks/machine/lock_machine.hpp": 5.0,
    "core/node/effects.hpp": 3.5,
    "core/node/node_core.hpp": 11.6,
    "core/raft/raft.hpp": 2.1,
    "embed/holds/hold_record.hpp": 6.0,
    "embed/include/mortise/mortise.hpp": 4.1,
    "embed/runtime/client_loop.hpp": 19.5,
    "embed/runtime/core_loop.hpp": 18.5,
    "embed/runtime/node_runtime.hpp": 7.8,
    "embed/runtime/translate.hpp": 5.3,
    "embed/threads/call_gate.hpp": 4.5,
    "storage/directory/data_directory.hpp": 7.4,
    "storage/state/rocks_state_store.hpp": 8.0,
    "transport/network/peer_network.hpp": 2.6,
}


def own_headers(name, seen):
    """The headers of this tree that `name` includes, itself among them."""
    path = ROOT / name
    if path in seen:
        return seen
    seen.add(path)
    for word in re.findall(r'^#include ["<]([^">]+)[">]', path.read_text(encoding="utf-8"), re.M):
        for folder in INCLUDED_FROM:
            inner = ROOT / folder / word
            if inner.is_file():
                own_headers(os.path.relpath(inner, ROOT), seen)
                break
    return seen


def cost(name):
    """Thousands of lines of this tree that come with the header."""
    return sum(path.read_text(encoding="utf-8").count("\n")
               for path in own_headers(name, set())) / 1000


def headers():
    listed = subprocess.run(["git", "ls-files", *(f"{folder}/*.hpp" for folder in FOLDERS)],
                            cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [name for name in listed if (ROOT / name).is_file()]


def main(words):
    if words[:1] == ["--list"]:
        number = int(words[1]) if len(words) > 1 else 20
        with concurrent.futures.ThreadPoolExecutor() as pool:
            costs = sorted(zip(pool.map(cost, headers()), headers()), reverse=True)
        for lines, name in costs[:number]:
            print(f"{lines:7.1f}  {name}")
        return 0
    bad = 0
    for name, limit in LIMITS.items():
        lines = cost(name)
        if lines > limit:
            print(f"{name}: brings {lines:.1f} thousand lines of ours, and may bring {limit}")
            bad = 1
        elif lines < 0.8 * limit:
            print(f"{name}: brings only {lines:.1f} thousand lines: lower its limit of {limit}")
            bad = 1
    return bad


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
