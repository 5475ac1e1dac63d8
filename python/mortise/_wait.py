"""Waiting for other processes: latches and barriers."""

from __future__ import annotations

from ctypes import byref, c_int
from typing import Any, Optional

from ._arguments import Name, Seconds, encoded, int64, wait_of
from ._enums import Code
from ._errors import TimedOut
from ._library import BarrierHandle, LatchHandle, call, lib, made
from ._node import Node
from ._owner import Owner
from ._waiting import interruptible, wait_options


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
            raise _timed_out(self._name)

    def wait_for(self, wait_max: Optional[Seconds], **options: Any) -> bool:
        """The same, but False if the time ended first; 0 asks once."""
        return _passes(lib.latch_wait_for, self._handle, wait_max, **options)


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
            raise _timed_out(self._name)

    def arrive_and_wait_for(self, wait_max: Optional[Seconds], **options: Any) -> bool:
        """The same, but False if the time ended first. The time must be above zero."""
        return _passes(lib.barrier_arrive_and_wait_for, self._handle, wait_max, **options)

    def arrive_and_drop(self) -> None:
        """Arrives in this phase and leaves the barrier with its end, without waiting."""
        call(lib.barrier_arrive_and_drop, self._handle)


def _passes(function: Any, handle: Any, wait_max: Optional[Seconds], **options: Any) -> bool:
    wait, given = wait_of(wait_max), wait_options(**options)

    def work() -> bool:
        has_passed = c_int()
        call(function, handle, wait, byref(given), byref(has_passed))
        return bool(has_passed.value)

    return interruptible(work, given)


def _timed_out(name: Name) -> TimedOut:
    shown = encoded(name).decode(errors="surrogateescape")
    return TimedOut(f"{shown}: the wait ended", Code.TIMED_OUT, shown)
