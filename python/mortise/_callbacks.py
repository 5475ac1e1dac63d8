"""Python functions that the library calls.

The library gets one trampoline of each kind, which lives as long as the program, and a number as
the context. The function is found under that number until the library destroys the context.
"""

from __future__ import annotations

import ctypes
import itertools
from typing import Any, Callable

from ._enums import LogLevel
from ._library import DESTROY_CALLBACK, LOG_CALLBACK, LOST_CALLBACK

_functions: dict[int, Callable[..., Any]] = {}
_numbers = itertools.count(1)


def keep(function: Callable[..., Any]) -> int:
    """The context of a function; `destroy` forgets it."""
    number = next(_numbers)
    _functions[number] = function
    return number


# What a function raises goes to sys.unraisablehook, as ctypes does it.
@LOST_CALLBACK
def lost(context: int) -> None:
    _functions[context]()


@LOG_CALLBACK
def log(context: int, level: int, line: int, length: int) -> None:
    text = ctypes.string_at(line, length).decode(errors="replace")
    _functions[context](LogLevel(level), text)


@DESTROY_CALLBACK
def destroy(context: int) -> None:
    _functions.pop(context, None)
