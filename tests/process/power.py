"""The loss of power of a machine, for a node that does not sync every write (decision 0095).

A page cache cannot be taken away here. So what was written to the log since some moment is damaged
after the process is killed, as a loss of power may leave it, and the next run sees another boot of
the machine. The nodes have to sync rarely (`sync_interval`)."""

import os
import random
import subprocess
import uuid


def end_of_data(path):
    """Behind it the file has zeros only: a log is written over zeros."""
    with open(path, "rb") as file:
        return len(file.read().rstrip(b"\0"))


def can_boot():
    """Whether processes can be shown another boot id: root in a container may not."""
    bind = "mount --bind /dev/null /proc/sys/kernel/random/boot_id"
    return os.geteuid() == 0 and subprocess.run(
        ["unshare", "-m", "sh", "-c", bind], capture_output=True, check=False).returncode == 0


class Machine:
    """The machine of one node: its boot id, and what of its log is on disk."""

    def __init__(self, data, boot_id):
        self.data = data
        self.boot_id = boot_id
        self.synced = {}
        self.boot()

    def boot(self):
        with open(self.boot_id, "w", encoding="ascii") as file:
            file.write(f"{uuid.uuid4()}\n")

    def runs(self):
        """What a command begins with, for its processes to see this boot."""
        bind = f'mount --bind "{self.boot_id}" /proc/sys/kernel/random/boot_id && exec "$@"'
        return ["unshare", "-m", "sh", "-c", bind, "sh"]

    def logs(self):
        folder = os.path.join(self.data, "log")
        return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".log")]

    def note_synced(self):
        """A loss of power leaves what is written now, and any of what follows."""
        self.synced = {path: end_of_data(path) for path in self.logs()}

    def lose_power(self, left=None):
        """Of the unsynced bytes of each log a part stays; the rest is old (zeros), or garbage."""
        for path in self.logs():
            begin = self.synced.get(path, 0)
            end = end_of_data(path)
            lost = begin + (random.randrange(end - begin + 1) if left is None else left)
            with open(path, "r+b") as file:
                for at in range(lost, end, 512):
                    size = min(512, end - at)
                    file.seek(at)
                    file.write(random.choice((bytes(size), os.urandom(size))))
        self.boot()
