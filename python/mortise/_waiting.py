"""Calls that wait: their options, and how Ctrl-C ends them."""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Callable, Optional, TypeVar, Union

from . import _threads
from ._arguments import Name, Seconds, encoded, int32, limit, nanoseconds
from ._canceller import Canceller
from ._enums import Caching, Mode, OnUncertain, QueuePolicy
from ._hold import Hold
from ._library import AcquireOptions, WaitOptions

Result = TypeVar("Result")


def acquire_options(*, mode: Mode = Mode.EXCLUSIVE, label: Name = b"",
                    max_hold: Optional[Seconds] = None, min_hold: Optional[Seconds] = None,
                    progress_timeout: Optional[Seconds] = None,
                    lock_delay: Optional[Seconds] = None, priority: int = 0,
                    queue_policy: QueuePolicy = QueuePolicy.DEFAULT,
                    on_uncertain: OnUncertain = OnUncertain.LOSE,
                    caching: Caching = Caching.ADAPTIVE,
                    canceller: Optional[Canceller] = None) -> AcquireOptions:
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
    return made_options


def wait_options(*, label: Name = b"", canceller: Optional[Canceller] = None) -> WaitOptions:
    words = encoded(label)
    made_options = WaitOptions(size=ctypes.sizeof(WaitOptions), label=words,
                               label_length=len(words))
    if canceller is not None:
        made_options.keep(canceller)
    return made_options


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
            if isinstance(result, Hold):
                result.unlock()
        raise
    # Nothing else may refer to it: the thread has perhaps not quite ended.
    if errors:
        raise errors.pop()
    return results.pop()
