"""Python functions that the library calls when a hold is lost, or another process leads.

The library gets one trampoline of each kind, which lives as long as the program, and a number as
the context. The function is found under that number until the library destroys the context.
"""

from __future__ import annotations

import itertools
from typing import Any, Callable

from ._library import DESTROY_CALLBACK, LEADER_CALLBACK, LOST_CALLBACK, HoldHandle, lib

_functions: dict[int, Callable[[Any], None]] = {}
_numbers = itertools.count(1)
# The holds of callbacks that have begun, because only the library knows when one has returned from
# Python. They are kept a little longer than that.
_begun: dict[int, HoldHandle] = {}


def keep(function: Callable[[Any], None]) -> int:
    """The context of a function, which `destroy` forgets. The function of a lost callback gets its
    context, that of an observation the leader."""
    for context in list(_begun):
        if context not in _functions:
            _begun.pop(context, None)
    number = next(_numbers)
    _functions[number] = function
    return number


def begun(context: int, hold: HoldHandle) -> None:
    """Called by the function of that context: `await_all` waits for it, also if the program forgets
    its hold and its node."""
    _begun[context] = hold


def await_all() -> None:
    """Returns when every callback has returned from Python. It must not be called in one."""
    for hold in list(_begun.values()):
        lib.hold_unlock(hold)  # it is lost: this only waits


# What a function raises goes to sys.unraisablehook, as ctypes does it.
@LOST_CALLBACK
def lost(context: int) -> None:
    _functions[context](context)


@LEADER_CALLBACK
def leader(context: int, handle: Any) -> None:
    _functions[context](handle)


@DESTROY_CALLBACK
def destroy(context: int) -> None:
    _functions.pop(context, None)
