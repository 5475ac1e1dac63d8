"""Permits: semaphores, and rate limiters."""

from __future__ import annotations

from ctypes import byref, c_int, c_uint32
from dataclasses import dataclass
from typing import Any, List, Optional

from ._arguments import Name, Seconds, encoded, nanoseconds, timed_out, uint32, wait_of
from ._hold import Hold
from ._library import CPermit, HoldHandle, RateLimiterHandle, SemaphoreHandle, call, lib, made
from ._node import Node
from ._owner import Owner
from ._waiting import acquire_options, interruptible


class Semaphore(Owner):
    """A name that several holders have at once, up to a limit.

    Each acquire takes `count` permits, 1 to 1024; they are one Hold, and `hold.slots` has their
    numbers. `limit` counts if an acquire of this object creates the semaphore; if it exists, it
    keeps its own. The options are those of Node.acquire() without `mode` and `queue_policy`.
    """

    def __init__(self, node: Node, name: Name, limit: int) -> None:
        content = encoded(name)
        self._node = node
        self._name = name
        self._handle = made(SemaphoreHandle, lib.semaphore_new, node._handle, content,
                            len(content), uint32(limit, "limit"))

    @property
    def name(self) -> Name:
        """The name as it was given."""
        return self._name

    def acquire(self, count: int = 1, *, wait_max: Optional[Seconds] = None,
                **options: Any) -> Hold:
        """Waits until it has the permits. Raises TimedOut after `wait_max`; without it there is no
        limit, and with 0 it is one attempt. Ctrl-C ends the wait."""
        if (hold := self.acquire_for(count, wait_max, **options)) is not None:
            return hold
        raise timed_out(self._name, "others have the permits")

    def try_acquire(self, count: int = 1, **options: Any) -> Optional[Hold]:
        """Makes one attempt: None if there are too few permits, or somebody waits for them."""
        handle = made(HoldHandle, lib.semaphore_try_acquire, self._handle, uint32(count, "count"),
                      byref(acquire_options(**options)))
        return Hold(self._node, handle, self._name) if handle else None

    def acquire_for(self, count: int, wait_max: Optional[Seconds],
                    **options: Any) -> Optional[Hold]:
        """Waits for at most `wait_max`, without a limit if it is None. None if that time ended
        first. Ctrl-C ends the wait."""
        wait, wanted = wait_of(wait_max), uint32(count, "count")
        given = acquire_options(**options)

        def acquire() -> Optional[Hold]:
            handle = made(HoldHandle, lib.semaphore_acquire_for, self._handle, wanted, wait,
                          byref(given))
            return Hold(self._node, handle, self._name) if handle else None

        return interruptible(acquire, given)

    def resize(self, limit: int) -> None:
        """Changes the limit, for everybody. No permit is taken away. From then on the semaphore
        exists until Node.remove()."""
        call(lib.semaphore_resize, self._handle, uint32(limit, "limit"))

    def limit(self) -> int:
        """The limit that is in force; asks the cluster."""
        limit = c_uint32()
        call(lib.semaphore_limit, self._handle, byref(limit))
        return limit.value


@dataclass(frozen=True)
class Permit:
    """A permit of a RateLimiter. Of two with one number the later one has the greater token."""

    number: int
    token: int


class RateLimiter(Owner):
    """The cluster grants at most `permits` permits in any stretch of time of the length `per`, to
    all its programs together. A program that gets its permit late may act closer to the next one.
    A permit is used at once, and is not given back. Of the options `label`, `priority` and
    `canceller` count."""

    def __init__(self, node: Node, name: Name, permits: int, per: Seconds) -> None:
        content = encoded(name)
        self._node = node  # it stays open
        self._name = name
        self._handle = made(RateLimiterHandle, lib.rate_limiter_new, node._handle, content,
                            len(content), uint32(permits, "permits"), nanoseconds(per, 0))

    def acquire(self, count: int = 1, *, wait_max: Optional[Seconds] = None,
                **options: Any) -> List[Permit]:
        """Waits for the permits. Raises TimedOut after `wait_max`. Ctrl-C ends the wait."""
        if (permits := self.acquire_for(count, wait_max, **options)) is not None:
            return permits
        raise timed_out(self._name, "others have the permits")

    def try_acquire(self, count: int = 1, **options: Any) -> Optional[List[Permit]]:
        """Makes one attempt: None if there are too few permits now."""
        return self.acquire_for(count, 0, **options)

    def acquire_for(self, count: int, wait_max: Optional[Seconds],
                    **options: Any) -> Optional[List[Permit]]:
        """Waits for at most `wait_max`, without a limit if it is None. None if that time ended
        first. Ctrl-C ends the wait."""
        wait, wanted = wait_of(wait_max), uint32(count, "count")
        given = acquire_options(**options)

        def acquire() -> Optional[List[Permit]]:
            # More than the library allows are refused before it writes any.
            permits, is_granted = (CPermit * min(wanted, 1024))(), c_int()
            call(lib.rate_limiter_acquire_for, self._handle, wanted, wait, byref(given),
                 byref(is_granted), permits)
            if not is_granted.value:
                return None
            return [Permit(int(one.number), int(one.token)) for one in permits]

        return interruptible(acquire, given)
