#!/usr/bin/env python3
"""What a node costs the process that has it: ./dev bench --cost.

Three members and a client, each a process that holds one lock and does nothing else, with the
default timing; and the same program without a node. They rest for --seconds, and the kernel says
what they used.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import report
from processes import Programs, Talker, free_ports

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/support"))
from harness import config_text, local  # noqa: E402
from used import count, cpu_seconds, memory, on_disk  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
WORDS = {"no node": "the same program without a node", "leader": "member, leads",
         "follower": "member, follows", "client": "client node"}
# What a node does at its start is over by then, for example the first write of the state.
SETTLE = 3
MIB = 1 << 20


class Resting:
    """A process that waits, and the folder of its node."""

    def __init__(self, words, folder):
        self.folder = folder
        self.process = Talker(words)

    def is_ready(self):
        self.process.next("ready")

    def begin(self):
        self.begun = time.monotonic(), cpu_seconds(self.process.pid)

    def figures(self):
        pid = self.process.pid
        seconds = time.monotonic() - self.begun[0]
        cpu = cpu_seconds(pid) - self.begun[1]
        resident, own = memory(pid)
        found = {"threads": count(pid, "task"), "resident_bytes": resident, "own_bytes": own,
                 "descriptors": count(pid, "fd"), "cpu_percent": round(100 * cpu / seconds, 2),
                 "disk_bytes": on_disk(self.folder) if self.folder else 0}
        self.process.tell("")
        return {"what": self.process.next(), **found}


def start(program, directory):
    """The program without a node, three members, and a client."""
    peers = local(free_ports(3))
    yield Resting([program], None)
    for number, address in peers.items():
        file = directory / f"member-{number}.toml"
        folder = directory / str(number)
        file.write_text(config_text(number, peers, folder, address, cluster='"cost"'))
        yield Resting([program, file], folder)
    lines = ['role = "client"', 'cluster = "cost"']
    for number, address in peers.items():
        lines += ["[[peer]]", f"id = {number}", f'address = "{address}"']
    file = directory / "client.toml"
    file.write_text("\n".join(lines) + "\n")
    yield Resting([program, file], None)


def measure(options):
    programs = Programs(options.programs, options.directory or options.programs.parent)
    processes = []
    with programs.directory() as directory:
        try:
            for each in start(options.programs / "bench_cost", Path(directory)):
                processes.append(each)
            for each in processes:
                each.is_ready()
            time.sleep(min(SETTLE, options.seconds))
            for each in processes:
                each.begin()
            time.sleep(options.seconds)
            return [each.figures() for each in processes]
        finally:
            for each in processes:
                each.process.end()


def table(rows):
    heads = ("", "threads", "resident", "of it its own", "descriptors", "CPU at rest", "disk")
    lines = [f"{heads[0]:32}" + "".join(f"{head:>15}" for head in heads[1:])]
    for row in sorted(rows, key=lambda row: list(WORDS).index(row["what"])):
        disk = f"{row['disk_bytes'] / MIB:.1f} MiB" if row["disk_bytes"] else "-"
        cells = (row["threads"], f"{row['resident_bytes'] / MIB:.1f} MiB",
                 f"{row['own_bytes'] / MIB:.1f} MiB", row["descriptors"],
                 f"{row['cpu_percent']:.2f} %", disk)
        lines.append(f"{WORDS[row['what']]:32}" + "".join(f"{cell:>15}" for cell in cells))
    return lines


def understood():
    parser = argparse.ArgumentParser(prog="./dev bench --cost",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--cost", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--programs", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=30, help="of rest")
    parser.add_argument("--directory", type=Path, help="on the disk to be measured")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything there")
    return parser.parse_args()


def main():
    options = understood()
    rows = measure(options)
    about = {"date": time.strftime("%Y-%m-%d", time.gmtime()), "commit": report.commit(ROOT),
             "seconds": options.seconds}
    print(f"{about['date']}, {about['commit']}, {os.cpu_count()} x {report.processor()}, "
          f"{options.seconds:g} s at rest")
    print("\n".join(table(rows)))
    if options.json:
        options.json.write_text(json.dumps({**about, "processes": rows}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
