"""Waiting for other processes: latches and barriers."""

from __future__ import annotations

from ctypes import byref, c_int
from typing import Any, Optional

from ._arguments import Name, Seconds, encoded, int64, timed_out
from ._library import BarrierHandle, LatchHandle, call, lib, made
from ._node import Node
from ._owner import Owner
from ._waiting import passes


class Latch(Owner):
    """A name with a count that only goes down, for processes that wait until others have done
    something. Each count counts once, and stays counted when its process dies. The latch exists
    until Node.remove(). `expected` counts if a call of this object creates it.

    The options of the waits are `label`, which operators see, and `canceller`."""

    def __init__(self, node: Node, name: Name, expected: int) -> None:
        content = encoded(name)
        self._node = node  # it stays open
        self._name = name
        self._handle = made(LatchHandle, lib.latch_new, node._handle, content, len(content),
                            int64(expected, "expected"))

    def count_down(self, count: int = 1) -> None:
        """Counts down. InvalidArgument if less than that remains; then nothing was counted."""
        call(lib.latch_count_down, self._handle, int64(count, "count"))

    def try_wait(self) -> bool:
        """Whether the count is zero; asks the cluster."""
        is_open = c_int()
        call(lib.latch_try_wait, self._handle, byref(is_open))
        return bool(is_open.value)

    def wait(self, wait_max: Optional[Seconds] = None, **options: Any) -> None:
        """Waits until the count is zero. Raises TimedOut after `wait_max`. Ctrl-C ends the wait."""
        if not self.wait_for(wait_max, **options):
            raise timed_out(self._name, "the wait ended")

    def wait_for(self, wait_max: Optional[Seconds], **options: Any) -> bool:
        """The same, but False if the time ended first; 0 asks once."""
        return passes(lib.latch_wait_for, self._handle, wait_max, **options)


class Barrier(Owner):
    """A name at which `parties` meet: each waits until all have arrived, and then the next phase
    begins. If a party ends or gives up a wait, the barrier breaks: the others get SessionExpired,
    until Node.remove(). Leave it with arrive_and_drop().

    The options of the waits are `label`, which operators see, and `canceller`."""

    def __init__(self, node: Node, name: Name, parties: int) -> None:
        content = encoded(name)
        self._node = node  # it stays open
        self._name = name
        self._handle = made(BarrierHandle, lib.barrier_new, node._handle, content, len(content),
                            int64(parties, "parties"))

    def arrive_and_wait(self, wait_max: Optional[Seconds] = None, **options: Any) -> None:
        """Arrives, and waits until all have. After `wait_max` it raises TimedOut, and the barrier
        is broken; so it is after Ctrl-C."""
        if not self.arrive_and_wait_for(wait_max, **options):
            raise timed_out(self._name, "the wait ended")

    def arrive_and_wait_for(self, wait_max: Optional[Seconds], **options: Any) -> bool:
        """The same, but False if the time ended first. The time must be above zero."""
        return passes(lib.barrier_arrive_and_wait_for, self._handle, wait_max, **options)

    def arrive_and_drop(self) -> None:
        """Arrives in this phase and leaves the barrier with its end, without waiting."""
        call(lib.barrier_arrive_and_drop, self._handle)
