"""A loss of power leaves what was synced, and any part of the rest."""

import struct
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import power

SYNCED, WRITTEN = 700, 5000


class LossOfPower(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="mortise-power-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.data = self.folder / "data"
        (self.data / "log").mkdir(parents=True)
        self.machine = power.BookedMachine(self.folder)
        self.log = self.data / "log" / "000001.log"
        self.content = b"x" * WRITTEN + bytes(3000)
        self.meta = b"n" * power.META_BYTES
        self.lay_out()

    def lay_out(self):
        self.log.write_bytes(self.content)
        (self.data / "meta").write_bytes(self.meta)

    def book(self, written, synced, meta=b""):
        book = meta.ljust(power.META_BYTES, b"\0")
        book += struct.pack("<QQQ", self.log.stat().st_ino, written, synced)
        size = self.machine.book.stat().st_size
        self.machine.book.write_bytes(book.ljust(size, b"\0"))

    def remains(self, times=50):
        found = set()
        for _ in range(times):
            self.lay_out()
            self.machine.lose_power(self.data)
            found.add(self.log.read_bytes())
        return found

    def test_keeps_what_was_synced_and_the_zeros_behind_the_data(self):
        self.book(WRITTEN, SYNCED)
        found = self.remains()
        self.assertGreater(len(found), 10)
        self.assertEqual({each[:SYNCED] for each in found}, {self.content[:SYNCED]})
        self.assertEqual({each[WRITTEN:] for each in found}, {self.content[WRITTEN:]})

    def test_changes_nothing_that_is_synced(self):
        self.book(WRITTEN, WRITTEN)
        self.assertEqual(self.remains(), {self.content})

    def test_is_counted(self):
        self.book(WRITTEN, SYNCED)
        self.assertEqual(self.machine.lose_power(self.data), WRITTEN - SYNCED)

    def test_leaves_of_meta_any_part_of_what_differs(self):
        synced = b"o" * power.SLOT_BYTES + self.meta[power.SLOT_BYTES:]
        self.book(0, 0, synced)
        heads = set()
        for _ in range(50):
            self.lay_out()
            self.machine.lose_power(self.data)
            now = (self.data / "meta").read_bytes()
            self.assertEqual(now[power.SLOT_BYTES:], self.meta[power.SLOT_BYTES:])
            heads.add(now[:power.SLOT_BYTES])
        self.assertGreater(len(heads), 3)
        self.assertLess({b"o" * power.SLOT_BYTES, b"n" * power.SLOT_BYTES}, heads)

    def test_boots_the_machine(self):
        before = Path(self.machine.boot_id).read_text(encoding="ascii")
        self.machine.lose_power(self.data)
        self.assertNotEqual(Path(self.machine.boot_id).read_text(encoding="ascii"), before)


class Blackouts(unittest.TestCase):
    def setUp(self):
        self.power = power.Power(SimpleNamespace(durability="replicated", seed=1))
        self.power.begin_episode(100_000_000_000)
        lives = [SimpleNamespace(life=SimpleNamespace(ended=number), lose_power=lambda: 7)
                 for number in range(4)]
        self.cluster = SimpleNamespace(numbers=[1, 2, 3], nodes=dict(enumerate(lives)))

    def test_a_minority_forgets_nothing(self):
        self.power.cut([2], self.cluster)
        self.assertEqual(self.power.blackouts, [])

    def test_one_after_the_other_is_a_majority_too(self):
        self.power.cut([2], self.cluster)
        self.power.cut([3], self.cluster)
        (begin, end), = self.power.blackouts
        self.assertLess(begin, 100_000_000_000)
        self.assertEqual(end, 3)
        self.assertEqual(self.power.unsynced, 14)

    def test_the_next_episode_begins_with_all(self):
        self.power.cut([2], self.cluster)
        self.power.begin_episode(200_000_000_000)
        self.power.cut([3], self.cluster)
        self.assertEqual(self.power.blackouts, [])


if __name__ == "__main__":
    unittest.main()
