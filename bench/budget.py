#!/usr/bin/env python3
"""Where the CPU time of a cycle goes: ./dev bench --budget.

While a load runs at a cluster of three nodes, `perf` looks many times a second where each of their
threads is. The CPU time of a cycle, which the processes count themselves, is divided in the same
shares: by thread, and by what the function belongs to that was running. Time in the kernel counts
as the system call that it is spent in.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import loads
from processes import Cluster, Failed, Programs
from report import progress

LOADS = {"one": loads.ON_LEADER, "follower": loads.ON_FOLLOWER, "many": loads.MANY,
         "async": loads.ASYNC_ONE, "hot": loads.HOT}
LOOKS_A_SECOND = 997  # more of them slow the load down

# The first that fits the name of the function, or of its library, decides.
GROUPS = [(name, re.compile(pattern)) for name, pattern in (
    ("allocation", r"malloc|free$|^free|realloc|calloc|^operator (new|delete)|memalign|_chunk"),
    ("KJ, Cap'n Proto", r"\bkj::|capnp|mortise::transport::wire"),
    ("Asio", r"asio"),
    ("transport", r"mortise::transport"),
    ("RocksDB, storage", r"rocksdb|mortise::storage|librocksdb"),
    ("Raft", r"core::(Raft\b|Log\b|Progress|Configuration|quorum_|LeaderClaim|Pending)"),
    ("decode, encode", r"core::.*([Dd]ecode|[Ee]ncode|ByteReader|ByteWriter|Batch|[gp][eu]t_)"),
    ("state machine", r"core::.*(LockMachine|Name|Record|Admission|Queue|Session|Locker|Answers|"
                      r"Operation|Holder|Closure|Token|Shard|Hash|Ordered)"),
    ("agent", r"core::.*(Agent|OwnLease|OwnSession|HeldLocks|Call)"),
    ("node core", r"mortise::core"),
    ("embedding", r"mortise::"),
    ("threads, clocks", r"pthread|clock_gettime|vdso|futex|sem_"),
    ("C library", r"libc\.|libc-|memcpy|memmove|memset|memcmp|strlen"),
    ("C++ library", r"libstdc|^std::|XXH"),
)]
CALLS = {"fdatasync": "sync", "fsync": "sync", "pwrite64": "write of a file", "write": "write",
         "sendmsg": "send, receive", "sendto": "send, receive", "recvmsg": "send, receive",
         "recvfrom": "send, receive", "writev": "send, receive", "readv": "send, receive",
         "read": "read", "epoll_wait": "epoll", "epoll_pwait": "epoll", "epoll_ctl": "epoll",
         "futex": "futex", "poll": "poll", "ppoll": "poll", "sched_yield": "sched_yield",
         "newfstatat": "stat", "newfstat": "stat", "fstat": "stat", "statx": "stat"}
SYSTEM_CALL = re.compile(r"__(?:x64|arm64)_sys_(\w+)")


def group_of(stack):
    """`stack` has the function that was running first, each with its library."""
    symbol, library = stack[0]
    if library.startswith("[kernel") or library == "[unknown]":
        for name, _ in stack:
            if found := SYSTEM_CALL.match(name):
                return "kernel: " + CALLS.get(found[1], "other")
        return "kernel: interrupts, faults, start of threads"
    for group, pattern in GROUPS:
        if pattern.search(symbol):
            return group
    for group, pattern in GROUPS:
        if pattern.search(library):
            return group
    return "other"


def looks(text):
    """The thread and the stack of each look, as `perf script` prints them."""
    thread, stack = None, []
    for line in text:
        if not line.strip():
            if thread is not None and stack:
                yield thread, stack
            thread, stack = None, []
        elif not line.startswith(("\t", " " * 8)):
            thread = line.strip()
        else:
            found = re.match(r"\s+[0-9a-f]+ (.*) \((.*)\)$", line.rstrip())
            if found:
                stack.append((re.sub(r"\+0x[0-9a-f]+$", "", found[1]), Path(found[2]).name))


def record(pids, seconds, file):
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(LOOKS_A_SECOND), "-g",
                    "-p", ",".join(map(str, pids)), "-o", file, "--", "sleep", str(seconds)],
                   check=True, capture_output=True)


def words_of_thread(name):
    return name if name.startswith("mortise-") else "callers, RocksDB"


def budget(programs, load, options):
    """The CPU time of a cycle in microseconds, and its shares by thread and by group."""
    with Cluster(programs) as cluster, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "looks"
        pids = [node.pid for node in cluster.nodes.values()]
        recorder = threading.Thread(
            target=lambda: (time.sleep(options.warm_up), record(pids, options.seconds, file)))
        recorder.start()
        outcome = load.run(cluster, options)
        recorder.join()
        text = subprocess.run(["perf", "script", "-i", file, "-F", "comm,ip,sym,dso"], check=True,
                              capture_output=True, text=True, errors="replace").stdout
    threads, groups = Counter(), Counter()
    for thread, stack in looks(text.splitlines()):
        threads[words_of_thread(thread)] += 1
        groups[group_of(stack)] += 1
    total = sum(groups.values())
    if total < 1000:
        raise Failed(f"perf looked only {total} times")
    share = outcome.cpu() / total
    return outcome, [{name: count * share for name, count in each.items()}
                     for each in (threads, groups)]


def print_table(title, columns):
    print(f"| {title} | {' | '.join(columns)} |")
    print("| --- " * (len(columns) + 1) + "|")
    rows = Counter()
    for figures in columns.values():
        rows.update(figures)
    for name, _ in rows.most_common():
        cells = [f"{figures[name]:.1f}" if name in figures else "" for figures in columns.values()]
        print(f"| {name} | {' | '.join(cells)} |")
    sums = [f"**{sum(figures.values()):.1f}**" for figures in columns.values()]
    print(f"| **sum** | {' | '.join(sums)} |\n")


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --budget",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--budget", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--only", default=",".join(LOADS), help=f"some of {', '.join(LOADS)}")
    parser.add_argument("--seconds", type=float, default=5, help="of each load")
    parser.add_argument("--warm-up", type=float, default=1, help="seconds before each load")
    parser.add_argument("--durability", choices=("synced", "replicated"), default="synced")
    parser.add_argument("--directory", type=Path, help="on the disk to be measured")
    options = parser.parse_args()
    unknown = [name for name in options.only.split(",") if name not in LOADS]
    if unknown:
        parser.error(f"no load {', '.join(unknown)}")
    programs = Programs(options.programs, options.directory or options.programs.parent,
                        options.durability)
    by_thread, by_group = {}, {}
    try:
        for name in options.only.split(","):
            load = LOADS[name]
            progress(load.name)
            outcome, (threads, groups) = budget(programs, load, options)
            title = f"{load.name}, {outcome.rate:,.0f}/s"
            by_thread[title], by_group[title] = threads, groups
    except (Failed, OSError, subprocess.CalledProcessError) as failed:
        sys.exit(f"bench --budget: {failed}")
    progress("")
    print("Microseconds of CPU time for each cycle, of all three processes.\n")
    print_table("thread", by_thread)
    print_table("what runs", by_group)


if __name__ == "__main__":
    main()
