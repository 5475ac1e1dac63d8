"""The loss of power of a machine, as a test with few writes needs it: of what was written since
some moment a part is lost. The nodes have to sync rarely (`sync_interval`)."""

import os
import random

from machine import Machine, can_boot, garble

__all__ = ["LossyMachine", "can_boot"]

ZEROS = 16  # bytes; a record may end with some that count


def end_of_data(path):
    """Behind it the file has zeros only: a log is written over zeros."""
    with open(path, "rb") as file:
        return len(file.read().rstrip(b"\0"))


class LossyMachine(Machine):
    """The machine of one node, and what of its log is on disk."""

    def __init__(self, data, boot_id):
        super().__init__(boot_id)
        self.data = data
        self.synced = {}

    def logs(self):
        folder = os.path.join(self.data, "log")
        return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".log")]

    def note_synced(self):
        """A loss of power leaves what is written now, and any of what follows."""
        self.synced = {path: end_of_data(path) + ZEROS for path in self.logs()}

    def lose_power(self, left=None):
        """Of the unsynced bytes of each log a part stays."""
        for path in self.logs():
            end = end_of_data(path)
            begin = min(self.synced.get(path, 0), end)
            lost = begin + (random.randrange(end - begin + 1) if left is None else left)
            garble(path, lost, end)
        self.boot()
