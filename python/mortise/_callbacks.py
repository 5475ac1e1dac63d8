"""Python functions that the library calls when a hold is lost or others want it, a wait ends,
another process leads, or a lock changes.

The library gets one trampoline of each kind, which lives as long as the program, and a number as
the context. The function is found under that number until the library destroys the context.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import time
from typing import Any, Callable

from ._library import (
    ACQUIRED_CALLBACK, CONTENDED_CALLBACK, DESTROY_CALLBACK, EVENT_CALLBACK, LEADER_CALLBACK,
    LOST_CALLBACK, WAITED_CALLBACK, ErrorHandle, HoldHandle, lib)

_functions: dict[int, Callable[..., None]] = {}
_numbers = itertools.count(1)
# The holds of callbacks that have begun, because only the library knows when one has returned from
# Python. They are kept a little longer than that.
_begun: dict[int, HoldHandle] = {}
# The waits whose context is in use. In the child of a fork those of the parent never end.
_waits: set[int] = set()
os.register_at_fork(after_in_child=_waits.clear)


def keep(function: Callable[..., None]) -> int:
    """The context of a function, which `destroy` forgets. The function of a lost callback gets its
    context, that of an observation the leader or the event, and that of an acquire or another wait
    its code, what came of it and the error."""
    for context in list(_begun):
        if context not in _functions:
            _begun.pop(context, None)
    number = next(_numbers)
    _functions[number] = function
    return number


def keep_wait(function: Callable[..., None]) -> int:
    """The same for an acquire or another wait: `await_all` waits for it."""
    number = keep(function)
    _waits.add(number)
    return number


def begun(context: int, hold: HoldHandle) -> None:
    """Called by the function of that context: `await_all` waits for it, also if the program forgets
    its hold and its node."""
    _begun[context] = hold


def await_all() -> None:
    """Returns when every callback has returned from Python. It must not be called in one."""
    for hold in list(_begun.values()):
        lib.hold_unlock(hold)  # it is lost: this only waits
    # The end of a wait of a closed node comes on a thread that nobody joins. An interruption
    # may have left one that never began.
    end = time.monotonic() + 1
    while _waits and time.monotonic() < end:
        time.sleep(0.001)


# What a function raises goes to sys.unraisablehook, as ctypes does it.
@LOST_CALLBACK
def lost(context: int) -> None:
    _functions[context](context)


@LEADER_CALLBACK
def leader(context: int, handle: Any) -> None:
    _functions[context](handle)


@ACQUIRED_CALLBACK
def acquired(context: int, code: int, hold: Any, error: Any) -> None:
    _functions[context](code, HoldHandle(hold), ErrorHandle(error))


@WAITED_CALLBACK
def waited(context: int, code: int, has_passed: int, error: Any) -> None:
    _functions[context](code, bool(has_passed), ErrorHandle(error))


@EVENT_CALLBACK
def event(context: int, json: Any, length: int) -> None:
    _functions[context](None if json is None else ctypes.string_at(json, length))


@CONTENDED_CALLBACK
def contended(context: int, mode: int, waiters: int, reason: Any, length: int) -> None:
    _functions[context](mode, waiters, ctypes.string_at(reason, length) if length else b"")


@DESTROY_CALLBACK
def destroy(context: int) -> None:
    _functions.pop(context, None)
    _waits.discard(context)
