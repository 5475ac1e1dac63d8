"""Locks for asyncio: no thread waits, and the event loop does not stand still.

    from mortise import aio

    async with aio.lock(node, "orders/42") as hold:
        await store.write(row, hold.token)

A task that is cancelled while it waits holds nothing: what it is granted all the same is released.
What acquires does not wait for the cluster itself: what it returns is used once, in an `async with`
block, or with `await`, which gives the Hold. It raises what Node.acquire() raises, and takes its
options; TimedOut comes after `wait_max`. What waits for a latch, a barrier or an upgrade is a
coroutine, and what changes comes with `async for`:

    async for change in aio.observe(node, "jobs/"):
        print(change)
"""

from __future__ import annotations

import asyncio
import collections
from ctypes import byref
from types import TracebackType
from typing import Any, Callable, Generator, Iterable, Optional, Type, Union

from . import _callbacks
from ._arguments import Name, Seconds, encoded, int64, timed_out, uint32, wait_of
from ._canceller import Canceller
from ._election import Election
from ._enums import HoldState
from ._hold import Hold as _Hold
from ._library import (
    AcquireOptions, ErrorHandle, HoldHandle, WaitOptions, call, exception, lib)
from ._look import Observation, Told, observe as _observe
from ._node import Node, hold_of_several
from ._semaphore import Semaphore
from ._wait import Barrier, Latch
from ._waiting import Request, Several, acquire_options, wait_options

__all__ = ["Acquiring", "Changes", "Hold", "arrive_and_wait", "campaign", "count_down", "lock",
           "lock_all", "lock_any", "observe", "permits", "upgrade", "wait"]

# So many events wait for the program. The library cannot be made to wait: that takes a thread.
_EVENTS_MAX = 4096
# How often it is seen whether the node has stopped, while nothing happens.
_LOOK_SECONDS = 1.0


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

    def __init__(self, name: Name, begin: Callable[..., None], options: AcquireOptions,
                 hold_of: Callable[[HoldHandle], Hold]) -> None:
        self._name = name
        self._begin = begin
        self._options = options
        self._hold_of = hold_of
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
        handle = await _ended(self._begin, _callbacks.acquired, _canceller_of(self._options),
                              lib.hold_unlock)
        if not handle:
            raise timed_out(self._name, "the wait ended")
        return self._hold_of(handle)


def lock(node: Node, name: Name, *, wait_max: Optional[Seconds] = None,
         **options: Any) -> Acquiring:
    """A lock; see Node.acquire()."""
    content, wait, given = encoded(name), wait_of(wait_max), acquire_options(**options)
    return Acquiring(name, lambda *then: call(
        lib.node_acquire_async, node._handle, content, len(content), wait, byref(given), *then),
        given, lambda handle: Hold(node, handle, name))


def lock_all(node: Node, names: Iterable[Request], *, wait_max: Optional[Seconds] = None,
             **options: Any) -> Acquiring:
    """All names or none; see Node.acquire_all()."""
    return _several(lib.node_acquire_all_async, node, Several(names), wait_max, **options)


def lock_any(node: Node, names: Iterable[Request], *, wait_max: Optional[Seconds] = None,
             **options: Any) -> Acquiring:
    """One of the names; see Node.acquire_any()."""
    return _several(lib.node_acquire_any_async, node, Several(names), wait_max, **options)


def permits(semaphore: Semaphore, count: int = 1, *, wait_max: Optional[Seconds] = None,
            **options: Any) -> Acquiring:
    """Permits of a semaphore; see Semaphore.acquire()."""
    wanted, wait, given = uint32(count, "count"), wait_of(wait_max), acquire_options(**options)
    return Acquiring(semaphore.name, lambda *then: call(
        lib.semaphore_acquire_async, semaphore._handle, wanted, wait, byref(given), *then), given,
        lambda handle: Hold(semaphore._node, handle, semaphore.name))


def campaign(election: Election, value: Name = b"", **options: Any) -> Acquiring:
    """The leadership; see Election.campaign()."""
    content, given = encoded(value), acquire_options(**options)
    return Acquiring(election._name, lambda *then: call(
        lib.election_campaign_async, election._handle, content, len(content), byref(given), *then),
        given, lambda handle: Hold(election._node, handle, election._name))


async def wait(latch: Latch, wait_max: Optional[Seconds] = None, **options: Any) -> None:
    """Waits until the count of the latch is zero; see Latch.wait()."""
    await _passed(lib.latch_wait_async, latch, wait_max, **options)


async def count_down(latch: Latch, count: int = 1) -> None:
    """Counts down; see Latch.count_down(). A cancelled task has perhaps counted."""
    number = int64(count, "count")
    await _ended(lambda *then: call(lib.latch_count_down_async, latch._handle, number, *then),
                 _callbacks.waited, None, _nothing)


async def arrive_and_wait(barrier: Barrier, wait_max: Optional[Seconds] = None,
                          **options: Any) -> None:
    """Arrives at the barrier, and waits until all have; see Barrier.arrive_and_wait(). A party that
    is cancelled breaks it."""
    await _passed(lib.barrier_arrive_and_wait_async, barrier, wait_max, **options)


async def upgrade(hold: _Hold, wait_max: Optional[Seconds] = None, **options: Any) -> None:
    """Changes the hold to EXCLUSIVE; see Hold.upgrade(). For a cancelled task it is as before."""
    await _passed(lib.hold_upgrade_async, hold, wait_max, **options)


class _Box:
    """The events that wait for the program. It knows nothing of the Changes, which end when they
    are forgotten."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.events: collections.deque[Told] = collections.deque()
        self.arrived = asyncio.Event()
        self.has_missed_some = False

    def put(self, event: Optional[Told]) -> None:  # on a thread of the node
        if event is None or len(self.events) >= _EVENTS_MAX:
            self.has_missed_some = True
        else:
            self.events.append(event)
        _tell(self.loop, self.arrived.set)


class Changes:
    """What changes of locks, for `async for`. It ends when the loop is left and it is forgotten,
    when the task is cancelled in it, at the end of an `async with` block, or with close()."""

    def __init__(self, node: Node, prefix: Name, position: Optional[str],
                 only_this_name: bool) -> None:
        self._node = node
        self._prefix = prefix
        self._position = position
        self._only_this_name = only_this_name
        self._is_closed = False
        self._box: Optional[_Box] = None
        self._observation: Optional[Observation] = None

    def __aiter__(self) -> Changes:
        return self

    async def __aenter__(self) -> Changes:
        return self

    async def __aexit__(self, *raised: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends it: nothing of it is left in the node. The loop ends then."""
        self._is_closed = True
        if self._observation is not None:
            self._observation.close()
        if self._box is not None:
            self._box.arrived.set()

    async def __anext__(self) -> Told:
        try:
            while not self._is_closed:
                box = self._present_box()
                if box.events:
                    return box.events.popleft()
                await self._wait(box)
        except BaseException:
            self.close()
            raise
        raise StopAsyncIteration

    def _present_box(self) -> _Box:
        """After a loss of events it begins anew, with a gap and the present state."""
        if self._box is None or self._box.has_missed_some:
            if self._observation is not None:
                self._observation.close()
            self._box = _Box()
            self._observation = _observe(self._node, self._prefix, self._box.put, self._position,
                                         self._only_this_name)
            self._position = None
        return self._box

    async def _wait(self, box: _Box) -> None:
        box.arrived.clear()
        if box.events or box.has_missed_some:  # it came before
            return
        timer = box.loop.call_later(_LOOK_SECONDS, box.arrived.set)
        try:
            await box.arrived.wait()
        finally:
            timer.cancel()
        if not box.events and self._node.status().is_stopped:
            call(lib.node_wait_ready, self._node._handle, 0)  # raises NodeStopped


def observe(node: Node, prefix: Name, *, position: Optional[str] = None,
            only_this_name: bool = False) -> Changes:
    """What changes of the names that begin with `prefix`; see Node.observe(). The observation
    begins with the first turn of the loop. A loop that is 4096 events behind gets a gap and the
    present state. It raises NodeStopped within a second when the node stops."""
    return Changes(node, prefix, position, only_this_name)


def _several(function: Any, node: Node, names: Several, wait_max: Optional[Seconds],
             **options: Any) -> Acquiring:
    longest, given = wait_of(wait_max), acquire_options(**options)
    return Acquiring(names.first, lambda *then: call(
        function, node._handle, names.array, names.count, longest, byref(given), *then), given,
        lambda handle: hold_of_several(Hold, node, handle, names))


async def _passed(function: Any, waited_for: Any, wait_max: Optional[Seconds],
                  **options: Any) -> None:
    longest, given = wait_of(wait_max), wait_options(**options)
    canceller = _canceller_of(given)
    if not await _ended(lambda *then: call(function, waited_for._handle, longest, byref(given),
                                           *then),
                        _callbacks.waited, canceller, _nothing):
        raise timed_out(waited_for._name, "the wait ended")


def _canceller_of(options: Union[AcquireOptions, WaitOptions]) -> Canceller:
    """For this wait alone: the program's canceller may serve other waits, which a cancelled task
    must not end."""
    given = options.kept
    options.keep(canceller := Canceller() if given is None else given._part())
    return canceller


async def _ended(begin: Callable[..., None], trampoline: Any, canceller: Optional[Canceller],
                 drop: Callable[[Any], Any]) -> Any:
    """What came of a wait; what nobody wants any more is dropped."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Any] = loop.create_future()
    is_wanted = True

    def deliver(outcome: Any, error: Optional[Exception]) -> None:
        if ended.done() or not is_wanted:
            drop(outcome)
        elif error is not None:
            ended.set_exception(error)
        else:
            ended.set_result(outcome)

    # On a thread of the node. If the loop is closed, a hold is forgotten, and with that released.
    def tell(code: int, outcome: Any, error: ErrorHandle) -> None:
        _tell(loop, deliver, outcome, exception(code, error) if code else None)

    try:
        begin(trampoline, _callbacks.keep_wait(tell), _callbacks.destroy)
        return await ended
    except BaseException:
        is_wanted = False
        if canceller is not None:
            canceller.cancel()
        if ended.done() and not ended.cancelled() and ended.exception() is None:
            drop(ended.result())  # the cancellation came just after the grant
        raise


def _nothing(_: Any) -> None:
    """Drops what holds nothing."""


def _tell(loop: asyncio.AbstractEventLoop, function: Callable[..., Any], *arguments: Any) -> None:
    """Calls the function in the loop, unless that is closed."""
    try:
        loop.call_soon_threadsafe(function, *arguments)
    except RuntimeError:
        if not loop.is_closed():
            raise
