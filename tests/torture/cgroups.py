"""Control groups, of either version: a node's processes stand still, or get little of the CPU."""

import os
import time
from pathlib import Path

PREFIX = "mortise-torture-"
# control: folders for its groups, each with a file that exists if the control does
ROOTS = {
    "freezer": [("/sys/fs/cgroup/freezer", "freezer.state"), ("/sys/fs/cgroup", "cgroup.freeze")],
    "cpu": [("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us"), ("/sys/fs/cgroup", "cpu.max")],
}
PERIOD_US = 100_000


def place(control, name):
    """The folder of a group, made if needed, and its file."""
    for root, file in ROOTS[control]:
        if not os.path.isdir(root):
            continue
        folder = Path(root) / name
        try:
            folder.mkdir(exist_ok=True)
        except OSError:
            continue
        if (folder / file).exists():
            return folder, file
        folder.rmdir()
    return None


def available(control, owner):
    return place(control, f"{PREFIX}{owner}-probe") is not None


class Group:
    """The groups of one node."""

    def __init__(self, owner, node):
        name = f"{PREFIX}{owner}-{node}"
        self.places = {control: place(control, name) for control in ROOTS}

    def add(self, pid):
        for found in self.places.values():
            if found:
                (found[0] / "cgroup.procs").write_text(str(pid))

    def freeze(self, frozen):
        folder, file = self.places["freezer"]
        words = ("THAWED", "FROZEN") if file == "freezer.state" else ("0", "1")
        (folder / file).write_text(words[frozen])

    def limit_cpu(self, percent):
        """None: no limit."""
        folder, file = self.places["cpu"]
        quota = None if percent is None else PERIOD_US * percent // 100
        if file == "cpu.max":
            (folder / file).write_text(f"{quota or 'max'} {PERIOD_US}")
        else:
            (folder / file).write_text(str(quota or -1))


def remove(folder):
    for file, word in (("freezer.state", "THAWED"), ("cgroup.freeze", "0")):
        if (folder / file).exists():
            (folder / file).write_text(word)
    for pid in (folder / "cgroup.procs").read_text().split():
        try:
            os.kill(int(pid), 9)  # only processes of ours were ever put there
        except ProcessLookupError:
            pass
    for _ in range(50):
        try:
            folder.rmdir()
            return
        except OSError:  # a killed process still exists
            time.sleep(0.1)


def groups():
    """Every group of a run, with the process that led it."""
    roots = {root for places in ROOTS.values() for root, _ in places}
    for root in sorted(roots):
        for folder in Path(root).glob(PREFIX + "*"):
            owner = folder.name.removeprefix(PREFIX).split("-")[0]
            if owner.isdigit():
                yield folder, int(owner)


def remove_all_of(owner):
    for folder, whose in groups():
        if whose == owner:
            remove(folder)


def is_leading(pid):
    try:
        return b"run.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def remove_left_behind():
    for folder, owner in groups():
        if owner == os.getpid() or not is_leading(owner):
            remove(folder)
