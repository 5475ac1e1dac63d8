"""Calls that wait: their options, and how Ctrl-C ends them."""

from __future__ import annotations

import ctypes
import threading
from ctypes import byref, c_int
from typing import Any, Callable, Iterable, Optional, Tuple, TypeVar, Union

from . import _threads
from ._arguments import Name, Seconds, encoded, int32, limit, nanoseconds, wait_of
from ._canceller import Canceller
from ._enums import Caching, Mode, OnUncertain, QueuePolicy
from ._library import AcquireOptions, CLockRequest, WaitOptions, call
from ._locker import Contended, Locker, contended_handle

Result = TypeVar("Result")
# Of a call for several names: a name, which is exclusive, or a name with its mode.
Request = Union[Name, Tuple[Name, Mode]]


def acquire_options(*, mode: Mode = Mode.EXCLUSIVE, label: Name = b"",
                    max_hold: Optional[Seconds] = None, min_hold: Optional[Seconds] = None,
                    progress_timeout: Optional[Seconds] = None,
                    lock_delay: Optional[Seconds] = None, priority: int = 0,
                    queue_policy: QueuePolicy = QueuePolicy.DEFAULT,
                    on_uncertain: OnUncertain = OnUncertain.LOSE,
                    caching: Caching = Caching.ADAPTIVE,
                    canceller: Optional[Canceller] = None, locker: Optional[Locker] = None,
                    on_contended: Optional[Contended] = None) -> AcquireOptions:
    words = encoded(label)
    made_options = AcquireOptions(
        size=ctypes.sizeof(AcquireOptions), label=words, label_length=len(words),
        max_hold_ns=limit(max_hold, "max_hold"), min_hold_ns=nanoseconds(min_hold, 0),
        progress_timeout_ns=limit(progress_timeout, "progress_timeout"),
        lock_delay_ns=nanoseconds(lock_delay, 0),
        mode=int32(mode, "mode"), priority=int32(priority, "priority"),
        queue_policy=int32(queue_policy, "queue_policy"),
        on_uncertain=int32(on_uncertain, "on_uncertain"), caching=int32(caching, "caching"))
    if canceller is not None:
        made_options.keep(canceller)
    contended = None if on_contended is None else contended_handle(on_contended)
    made_options.contended = contended
    made_options.locker = None if locker is None else locker._handle
    made_options.owners = (contended, locker)
    return made_options


def wait_options(*, label: Name = b"", canceller: Optional[Canceller] = None) -> WaitOptions:
    words = encoded(label)
    made_options = WaitOptions(size=ctypes.sizeof(WaitOptions), label=words,
                               label_length=len(words))
    if canceller is not None:
        made_options.keep(canceller)
    return made_options


class Several:
    """The names of a call for several of them."""

    def __init__(self, names: Iterable[Request]) -> None:
        if isinstance(names, (str, bytes)):
            raise TypeError("a list of names expected, not one name")
        listed = [one if isinstance(one, tuple) else (one, Mode.EXCLUSIVE) for one in names]
        self.spelt = {encoded(name): name for name, _ in listed}
        self.first: Name = listed[0][0] if listed else ""
        self.count = len(listed)
        self.array = (CLockRequest * self.count)(*(
            CLockRequest(name=content, name_length=len(content), mode=int32(mode, "mode"))
            for content, mode in ((encoded(name), mode) for name, mode in listed)))


def passes(function: Any, handle: Any, wait_max: Optional[Seconds], **options: Any) -> bool:
    """Whether a wait passed; False if its time ended first."""
    wait, given = wait_of(wait_max), wait_options(**options)

    def work() -> bool:
        has_passed = c_int()
        call(function, handle, wait, byref(given), byref(has_passed))
        return bool(has_passed.value)

    return interruptible(work, given)


def interruptible(work: Callable[[], Result],
                  options: Union[AcquireOptions, WaitOptions]) -> Result:
    """What `work` returns, which waits with these options. Python handles Ctrl-C on the main thread
    only, and only between its own instructions. So there another thread makes the call, and the
    main thread can cancel it; and so it is for greenlets, because the others must run."""
    if (threading.current_thread() is not threading.main_thread()
            and not _threads.are_greenlets()):
        return work()
    # The program's canceller may serve other waits, which an interruption here must not end.
    options.keep(Canceller() if options.kept is None else options.kept._part())
    return _in_a_thread(work, options.kept.cancel)


def _in_a_thread(work: Callable[[], Result], cancel: Any) -> Result:
    """What `work` returns or raises. An exception of a signal handler cancels it; a hold that it
    has then is released."""
    results: list[Result] = []
    errors: list[BaseException] = []
    until_done = _threads.new_lock()
    until_done.acquire()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # pylint: disable=broad-except
            errors.append(error)
        finally:
            until_done.release()

    try:
        if not _threads.start(run):
            run()
        _threads.take(until_done)
    except BaseException:
        cancel()
        # If the thread is late, or never started, a hold that it gets is forgotten with it.
        until_done.acquire(timeout=0.1)
        for result in results:
            if hasattr(result, "unlock"):
                result.unlock()
        raise
    # Nothing else may refer to it: the thread has perhaps not quite ended.
    if errors:
        raise errors.pop()
    return results.pop()
