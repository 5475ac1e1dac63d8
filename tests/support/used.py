"""What a process and a folder use, as the kernel says."""

import contextlib
import os
from pathlib import Path


def cpu_seconds(pid):
    """Of all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid):
    """What is resident, and what of it belongs to this process alone, in bytes."""
    lines = dict(line.split(":") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return tuple(int(lines[key].split()[0]) * 1024 for key in ("VmRSS", "RssAnon"))


def on_disk(folder):
    """Of its files that are not removed meanwhile."""
    size = 0
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            with contextlib.suppress(FileNotFoundError):
                size += os.lstat(os.path.join(place, name)).st_blocks * 512
    return size


def count(pid, what):
    return len(os.listdir(f"/proc/{pid}/{what}"))
