"""Threads and locks of the system, also in a program where gevent or eventlet has put greenlets in
their place.

Whoever waits in the library keeps its thread of the system, and with it every greenlet of that
thread. So such a wait has a thread of its own, and the greenlet looks after it between sleeps.
"""

from __future__ import annotations

import _thread
import importlib
import sys
import time
import types
from typing import Any, Callable


def are_greenlets() -> bool:
    """Whether what Python calls threads are greenlets at present."""
    return not isinstance(_thread.start_new_thread, types.BuiltinFunctionType)


def _of_the_system() -> Any:
    if not are_greenlets():
        return _thread
    # A second import makes another module, which has what was replaced in the first one.
    replaced = sys.modules.pop("_thread")
    try:
        return importlib.import_module("_thread")
    finally:
        sys.modules["_thread"] = replaced


# The classes of `threading` would be greenlets, and they are written in Python: an interruption
# within them leaves their locks taken, and the next one to use them waits for ever.
_module = _of_the_system()
_start_new_thread = _module.start_new_thread
new_lock = _module.allocate_lock

_SHORT, _LONG = 0.0005, 0.02  # seconds between two looks of a greenlet


def start(work: Callable[[], None]) -> bool:
    """Starts a thread. False if none can begin: from Python 3.12 on also in handlers of atexit."""
    try:
        _start_new_thread(work, ())
    except RuntimeError as error:
        # What a signal handler raises comes from another frame, and the thread may have begun.
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise
        return False
    return True


def give_way() -> None:
    """Lets other greenlets run."""
    if are_greenlets():
        time.sleep(_LONG)


def take(lock: Any) -> None:
    """Waits until the lock is free and takes it. Other greenlets run meanwhile."""
    if not are_greenlets():
        lock.acquire()
        return
    pause = _SHORT
    while not lock.acquire(False):
        time.sleep(pause)
        pause = min(2 * pause, _LONG)
