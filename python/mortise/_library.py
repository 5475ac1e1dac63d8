"""The functions of mortise.h, through ctypes, which releases the GIL in each call."""

from __future__ import annotations

import ctypes
import functools
import types
from ctypes import byref, c_size_t, c_void_p
from typing import Any, Type, TypeVar

from ._errors import class_of, known
from ._load import load
from ._owner import Owner
from ._signatures import (
    ACQUIRED_CALLBACK, CONTENDED_CALLBACK, DESTROY_CALLBACK, EVENT_CALLBACK, LEADER_CALLBACK,
    LOG_CALLBACK, LOST_CALLBACK, SIGNATURES, WAITED_CALLBACK, AcquireOptions, CLockRequest,
    CLogLine, CObserveOptions, CPermit, CPrevious, CStatus, WaitOptions)

__all__ = [
    "ACQUIRED_CALLBACK", "CONTENDED_CALLBACK", "DESTROY_CALLBACK", "EVENT_CALLBACK",
    "LEADER_CALLBACK", "LOG_CALLBACK", "LOST_CALLBACK", "WAITED_CALLBACK", "AcquireOptions",
    "CLockRequest", "CLogLine", "CObserveOptions", "CPermit", "CPrevious", "CStatus", "WaitOptions",
]


class _Functions:
    """mortise_node_open as `lib.node_open`."""

    def __init__(self, library: ctypes.CDLL) -> None:
        for name, (result, parameters) in SIGNATURES.items():
            function = getattr(library, "mortise_" + name)
            function.restype = result
            function.argtypes = parameters
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:  # only for the type checker
        raise AttributeError(name)


lib = _Functions(load(["mortise_" + name for name in SIGNATURES]))


def version() -> str:
    """The version of the shared library."""
    return str(lib.version().decode())


def _freed_by(function: Any) -> Any:
    """A `__del__` that calls this function of the library.

    Python runs signal handlers between its own instructions, and an exception of theirs, as that
    of Ctrl-C, would get lost in a `__del__` together with the object. This one has no instruction:
    everything in it is written in C.
    """
    return property(functools.partial(types.MethodType, function))


# The owners of what the library makes. The library writes into an owner that exists already, so
# what a call made has an owner when the call returns, whatever interrupts the caller then.

class _Handle(Owner, c_void_p):
    """Without Owner, the copies that ctypes makes of a pointer would be further owners."""


class ErrorHandle(_Handle):
    __del__ = _freed_by(lib.error_free)


class BytesHandle(_Handle):
    __del__ = _freed_by(lib.bytes_free)


class ConfigHandle(_Handle):
    __del__ = _freed_by(lib.config_free)


class NodeHandle(_Handle):
    __del__ = _freed_by(lib.node_free)


class CancellerHandle(_Handle):
    __del__ = _freed_by(lib.canceller_free)


class ContendedHandle(_Handle):
    __del__ = _freed_by(lib.contended_free)


class LockerHandle(_Handle):
    __del__ = _freed_by(lib.locker_free)


class HoldHandle(_Handle):
    __del__ = _freed_by(lib.hold_free)


class LogQueueHandle(_Handle):
    __del__ = _freed_by(lib.log_queue_free)


class SemaphoreHandle(_Handle):
    __del__ = _freed_by(lib.semaphore_free)


class RateLimiterHandle(_Handle):
    __del__ = _freed_by(lib.rate_limiter_free)


class LatchHandle(_Handle):
    __del__ = _freed_by(lib.latch_free)


class BarrierHandle(_Handle):
    __del__ = _freed_by(lib.barrier_free)


class ElectionHandle(_Handle):
    __del__ = _freed_by(lib.election_free)


class LeaderHandle(_Handle):
    __del__ = _freed_by(lib.leader_free)


class ObservationHandle(_Handle):
    __del__ = _freed_by(lib.observation_free)


Handle = TypeVar("Handle", bound=c_void_p)


def call(function: Any, *arguments: Any) -> None:
    """Calls a function whose last parameter receives the error, and raises it."""
    error = ErrorHandle()
    code = function(*arguments, byref(error))
    if code != 0:
        raise exception(code, error)


def made(kind: Type[Handle], function: Any, *arguments: Any) -> Handle:
    """The owner of what a function makes as its last output before the error; false if that is
    NULL."""
    output = kind()
    call(function, *arguments, byref(output))
    return output


def exception(code: int, error: ErrorHandle) -> Exception:
    return class_of(code)(
        text_of(lib.error_message, error).decode(errors="replace"), known(code),
        text_of(lib.error_lock_name, error).decode(errors="surrogateescape"),
        text_of(lib.error_reason, error).decode(errors="replace"),
        bool(lib.code_is_retryable(code)), lib.error_errno(error))


def text_of(function: Any, handle: Any) -> bytes:
    """The text that belongs to the object."""
    length = c_size_t()
    return ctypes.string_at(function(handle, byref(length)), length.value)


def bytes_of(function: Any, *arguments: Any) -> bytes:
    """What a function makes as bytes."""
    output, length = BytesHandle(), c_size_t()
    call(function, *arguments, byref(output), byref(length))
    return ctypes.string_at(output, length.value)
