"""Locks for asyncio: no thread waits, and the event loop does not stand still.

    from mortise import aio

    async with aio.lock(node, "orders/42") as hold:
        await store.write(row, hold.token)

A task that is cancelled while it waits holds nothing: what it is granted all the same is released.
The functions do not wait for the cluster themselves: what they return is used once, in an `async
with` block, or with `await`, which gives the Hold. They raise what Node.acquire() raises, and take
its options; TimedOut comes after `wait_max`.
"""

from __future__ import annotations

import asyncio
from ctypes import byref
from types import TracebackType
from typing import Any, Callable, Generator, Optional, Type

from . import _callbacks
from ._arguments import Name, Seconds, encoded, uint32, wait_of
from ._canceller import Canceller
from ._election import Election
from ._enums import Code, HoldState
from ._errors import TimedOut
from ._hold import Hold as _Hold
from ._library import AcquireOptions, ErrorHandle, HoldHandle, call, exception, lib
from ._node import Node
from ._semaphore import Semaphore
from ._waiting import acquire_options

__all__ = ["Acquiring", "Hold", "campaign", "lock", "permits"]


class Hold(_Hold):
    """A lock that is held, until the `async with` block ends.

    The end of the block releases the lock and does not wait for the cluster. If the lock was lost,
    it raises LockLost, unless the block itself raised something. Release a hold of `await` with
    `async with hold:` or unlock(). The other calls that wait for the cluster, such as confirm() and
    set_value(), are for asyncio.to_thread().
    """

    _lost: Optional[asyncio.Event] = None

    @property
    def lost(self) -> asyncio.Event:
        """Is set when the hold is lost. It belongs to the event loop that runs at the first use. A
        hold that has been asked for it has its lost callback: on_lost() is InvalidArgument."""
        if self._lost is None:
            event, loop = asyncio.Event(), asyncio.get_running_loop()
            self.on_lost(lambda hold: _tell(loop, event.set))
            self._lost = event
        return self._lost

    async def __aenter__(self) -> Hold:
        self.__enter__()
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        try:
            if kind is None and self.state == HoldState.LOST:
                self.check()  # raises why
        finally:
            self.unlock()


class Acquiring:
    """An acquire that begins with `async with` or `await`. It is used once."""

    def __init__(self, owner: Any, name: Name, begin: Callable[..., None],
                 options: AcquireOptions) -> None:
        self._owner = owner  # a node or what keeps one
        self._name = name
        self._begin = begin
        self._options = options
        self._hold: Optional[Hold] = None

    def __await__(self) -> Generator[Any, None, Hold]:
        return self._acquire().__await__()

    async def __aenter__(self) -> Hold:
        self._hold = await self._acquire()
        return self._hold

    async def __aexit__(self, *raised: Any) -> None:
        assert self._hold is not None
        await self._hold.__aexit__(*raised)

    async def _acquire(self) -> Hold:
        # The program's canceller may serve other waits, which a cancelled task must not end.
        given = self._options.kept
        self._options.keep(canceller := Canceller() if given is None else given._part())
        handle = await _granted(self._begin, canceller)
        if not handle:
            shown = encoded(self._name).decode(errors="surrogateescape")
            raise TimedOut(f"{shown}: the wait ended", Code.TIMED_OUT, shown)
        return Hold(self._owner, handle, self._name)


def lock(node: Node, name: Name, *, wait_max: Optional[Seconds] = None,
         **options: Any) -> Acquiring:
    """A lock; see Node.acquire()."""
    content, wait, given = encoded(name), wait_of(wait_max), acquire_options(**options)
    return Acquiring(node, name, lambda *then: call(
        lib.node_acquire_async, node._handle, content, len(content), wait, byref(given), *then),
        given)


def permits(semaphore: Semaphore, count: int = 1, *, wait_max: Optional[Seconds] = None,
            **options: Any) -> Acquiring:
    """Permits of a semaphore; see Semaphore.acquire()."""
    wanted, wait, given = uint32(count, "count"), wait_of(wait_max), acquire_options(**options)
    return Acquiring(semaphore._node, semaphore.name, lambda *then: call(
        lib.semaphore_acquire_async, semaphore._handle, wanted, wait, byref(given), *then), given)


def campaign(election: Election, value: Name = b"", **options: Any) -> Acquiring:
    """The leadership; see Election.campaign()."""
    content, given = encoded(value), acquire_options(**options)
    return Acquiring(election._node, election._name, lambda *then: call(
        lib.election_campaign_async, election._handle, content, len(content), byref(given), *then),
        given)


async def _granted(begin: Callable[..., None], canceller: Canceller) -> HoldHandle:
    """What the cluster grants; false if the time ended first."""
    loop = asyncio.get_running_loop()
    granted: asyncio.Future[HoldHandle] = loop.create_future()
    is_wanted = True

    def deliver(handle: HoldHandle, error: Optional[Exception]) -> None:
        if granted.done() or not is_wanted:
            lib.hold_unlock(handle)
        elif error is not None:
            granted.set_exception(error)
        else:
            granted.set_result(handle)

    # On a thread of the node. If the loop is closed, the hold is forgotten, and with that released.
    def acquired(code: int, handle: HoldHandle, error: ErrorHandle) -> None:
        _tell(loop, deliver, handle, exception(code, error) if code else None)

    try:
        begin(_callbacks.acquired, _callbacks.keep_acquired(acquired), _callbacks.destroy)
        return await granted
    except BaseException:
        is_wanted = False
        canceller.cancel()
        if granted.done() and not granted.cancelled() and granted.exception() is None:
            lib.hold_unlock(granted.result())  # the cancellation came just after the grant
        raise


def _tell(loop: asyncio.AbstractEventLoop, function: Callable[..., Any], *arguments: Any) -> None:
    """Calls the function in the loop, unless that is closed."""
    try:
        loop.call_soon_threadsafe(function, *arguments)
    except RuntimeError:
        if not loop.is_closed():
            raise
