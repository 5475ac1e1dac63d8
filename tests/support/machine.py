"""A machine that loses its power, for nodes that do not sync every write (decision 0095).

A page cache cannot be taken away here. So what a node wrote and did not sync is damaged after its
process is killed, and its next run sees another boot of the machine."""

import os
import random
import subprocess
import uuid

BOOT_ID = "/proc/sys/kernel/random/boot_id"
SECTOR = 512


def can_boot():
    """Whether processes can be shown another boot id: root in a container may not."""
    bind = ["unshare", "-m", "sh", "-c", f"mount --bind /dev/null {BOOT_ID}"]
    return os.geteuid() == 0 and subprocess.run(
        bind, capture_output=True, check=False).returncode == 0


class Machine:
    def __init__(self, boot_id):
        self.boot_id = boot_id  # the file with it
        self.boot()

    def boot(self):
        with open(self.boot_id, "w", encoding="ascii") as file:
            file.write(f"{uuid.uuid4()}\n")

    def runs(self):
        """What a command begins with, for its processes to see this boot."""
        bind = f'mount --bind "{self.boot_id}" {BOOT_ID} && exec "$@"'
        return ["unshare", "-m", "sh", "-c", bind, "sh"]


def garble(path, begin, end):
    """Each sector of these bytes is old, which is zeros in a log, or garbage."""
    with open(path, "r+b") as file:
        file.seek(begin)
        for at in range(begin, end, SECTOR):
            size = min(SECTOR, end - at)
            file.write(random.choice((bytes(size), os.urandom(size))))
