"""The machine of a node that may lose its power: exactly what its process had synced stays, as the
book of sync_book.cpp says."""

import os
import random
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from machine import Machine, garble  # noqa: E402

# As in sync_book.cpp.
META_BYTES = 16384
SLOT_BYTES = 4096
LOG = struct.Struct("<QQQ")
LOGS_MAX = 4096

INTERVALS = 10  # after so many without a sync everything waits for one
BUSY = 1_000_000_000  # nanoseconds


class BookedMachine(Machine):
    def __init__(self, folder):
        super().__init__(folder / "boot_id")
        self.book = folder / "sync_book"
        self.book.write_bytes(bytes(META_BYTES + LOGS_MAX * LOG.size))

    def logs(self):
        """By the inode: up to where the log has data, and up to where it is on disk."""
        table = memoryview(self.book.read_bytes())[META_BYTES:]
        return {inode: (written, synced) for inode, written, synced in LOG.iter_unpack(table)
                if inode}

    def lose_power(self, data):
        """The number of bytes of the log that were not synced, of which any part is lost."""
        self.boot()
        if not (data / "meta").exists():
            return 0
        lose_meta(data / "meta", self.book.read_bytes()[:META_BYTES])
        for path in data.glob("countdowns*"):  # never synced
            if random.random() < 0.5:
                garble(path, 0, path.stat().st_size)
        known = self.logs()
        return sum(lose_log(path, *known.get(path.stat().st_ino, (0, 0)))
                   for path in (data / "log").glob("*.log"))


class Power:
    """What the run knows of all machines."""

    def __init__(self, options):
        self.may_be_lost = options.durability == "replicated"
        self.chance = random.Random(options.seed)
        self.interval = self.chance.choice([50, 500, 5000])  # milliseconds
        self.durability = {}  # lines of the configuration
        if self.may_be_lost:
            self.durability = {"durability": '"replicated"',
                               "sync_interval": f'"{self.interval}ms"'}
        self.blackouts = []  # (from, to): then what was acknowledged may be forgotten
        self.cuts = 0
        self.unsynced = 0  # bytes of logs that were lost, or could have been

    def begin_episode(self, now):
        """Other faults may have stopped a sync since then."""
        self.since = now - INTERVALS * self.interval * 1_000_000 - BUSY
        self.dark = {}  # when they lost their power

    def cut(self, numbers, cluster):
        """Their processes are dead."""
        for number in numbers:
            self.unsynced += cluster.nodes[number].lose_power()
            self.dark[number] = cluster.nodes[number].life.ended
        self.cuts += len(numbers)
        if len(self.dark) > len(cluster.numbers) // 2:
            self.blackouts.append((self.since, max(self.dark.values())))


def lose_log(path, written, synced):
    size = path.stat().st_size
    end = min(written, size)
    if synced >= end:
        return 0
    fate = random.choice(("some", "nothing", "all"))
    if fate != "all":
        begin = synced if fate == "nothing" else random.randrange(synced, end)
        garble(path, begin, end)
    return end - synced


def lose_meta(path, synced):
    """A slot that differs from what was synced is old, new or garbage."""
    if not any(synced):
        return
    now = path.read_bytes()
    for at in range(0, META_BYTES, SLOT_BYTES):
        old, new = (content[at:at + SLOT_BYTES] for content in (synced, now))
        if old == new:
            continue
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(random.choice((old, new, os.urandom(SLOT_BYTES))))
