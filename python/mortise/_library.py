"""The functions of mortise.h, through ctypes, which releases the GIL in each call."""

from __future__ import annotations

import ctypes
import functools
import types
from ctypes import (
    CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32,
    c_uint64, c_void_p)
from typing import Any, Type, TypeVar

from ._errors import class_of, known
from ._load import load


class AcquireOptions(Structure):
    """mortise_acquire_options; zero is the default of every member."""

    _fields_ = [
        ("size", c_size_t), ("label", c_char_p), ("label_length", c_size_t),
        ("max_hold_ns", c_int64), ("min_hold_ns", c_int64),
        ("progress_timeout_ns", c_int64), ("lock_delay_ns", c_int64), ("mode", c_int32),
        ("priority", c_int32), ("queue_policy", c_int32), ("on_uncertain", c_int32),
        ("caching", c_int32), ("reserved", c_int32), ("canceller", c_void_p)]

    kept: Any = None  # the object whose handle is in `canceller`

    def keep(self, canceller: Any) -> None:
        self.kept = canceller
        self.canceller = canceller._handle


class CStatus(Structure):
    """mortise_status."""

    _fields_ = [
        ("size", c_size_t), ("node_id", c_uint64), ("leader_id", c_uint64), ("term", c_uint64),
        ("commit_index", c_uint64), ("applied_index", c_uint64), ("members", c_uint32),
        ("voters", c_uint32), ("is_ready", c_int32), ("is_stopped", c_int32)]


class CPrevious(Structure):
    """mortise_previous."""

    _fields_ = [
        ("size", c_size_t), ("label", c_void_p), ("label_length", c_size_t), ("token", c_int64),
        ("how", c_int32), ("reserved", c_int32)]


class CLogLine(Structure):
    """mortise_log_line."""

    _fields_ = [
        ("size", c_size_t), ("text", c_void_p), ("length", c_size_t), ("dropped", c_uint64),
        ("level", c_int32), ("reserved", c_int32)]


LOST_CALLBACK = CFUNCTYPE(None, c_void_p)
DESTROY_CALLBACK = CFUNCTYPE(None, c_void_p)
LOG_CALLBACK = CFUNCTYPE(None, c_void_p, c_int32, c_void_p, c_size_t)

_OUT = POINTER(c_void_p)  # where a handle or an error goes
_TEXT = [c_char_p, c_size_t]
_ACQUIRE = [c_void_p, *_TEXT, POINTER(AcquireOptions), _OUT, _OUT]

# name: (result, parameters)
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "version": (c_char_p, []),
    "code_is_retryable": (c_int, [c_int]),
    "error_code": (c_int, [c_void_p]),
    "error_message": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "error_reason": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "error_lock_name": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "error_errno": (c_int, [c_void_p]),
    "error_free": (None, [c_void_p]),
    "bytes_free": (None, [c_void_p]),
    "config_from_file": (c_int, [*_TEXT, _OUT, _OUT]),
    "config_from_string": (c_int, [*_TEXT, _OUT, _OUT]),
    "config_from_environment": (c_int, [_OUT, _OUT]),
    "config_single_node": (c_int, [*_TEXT, _OUT, _OUT]),
    "config_in_memory": (c_int, [_OUT, _OUT]),
    "config_set_log": (c_int, [c_void_p, c_int32, LOG_CALLBACK, c_void_p, DESTROY_CALLBACK, _OUT]),
    "config_queue_log": (c_int, [c_void_p, c_int32, c_size_t, _OUT, _OUT]),
    "config_free": (None, [c_void_p]),
    "log_queue_next": (c_int, [c_void_p, POINTER(CLogLine), _OUT]),
    "log_queue_close": (None, [c_void_p]),
    "log_queue_free": (None, [c_void_p]),
    "node_open": (c_int, [c_void_p, _OUT, _OUT]),
    "node_wait_ready": (c_int, [c_void_p, c_int64, _OUT]),
    "node_id": (c_uint64, [c_void_p]),
    "node_close": (None, [c_void_p]),
    "node_free": (None, [c_void_p]),
    "node_status": (c_int, [c_void_p, POINTER(CStatus), _OUT]),
    "node_acquire": (c_int, _ACQUIRE),
    "node_try_acquire": (c_int, _ACQUIRE),
    "node_acquire_for": (c_int, [*_ACQUIRE[:3], c_int64, *_ACQUIRE[3:]]),
    "node_break_lock": (c_int, [c_void_p, *_TEXT, c_int64, *_TEXT, _OUT]),
    "canceller_new": (c_int, [_OUT, _OUT]),
    "canceller_cancel": (None, [c_void_p]),
    "canceller_free": (None, [c_void_p]),
    "hold_release": (c_int, [c_void_p, _OUT]),
    "hold_unlock": (None, [c_void_p]),
    "hold_free": (None, [c_void_p]),
    "hold_mode": (c_int32, [c_void_p]),
    "hold_token": (c_int64, [c_void_p]),
    "hold_valid": (c_int, [c_void_p]),
    "hold_remaining_ns": (c_int64, [c_void_p]),
    "hold_state": (c_int, [c_void_p]),
    "hold_why_lost": (c_int32, [c_void_p]),
    "hold_check": (c_int, [c_void_p, _OUT]),
    "hold_confirm": (c_int, [c_void_p, c_int64, _OUT]),
    "hold_checkpoint": (None, [c_void_p]),
    "hold_on_lost": (c_int, [c_void_p, LOST_CALLBACK, c_void_p, DESTROY_CALLBACK, _OUT]),
    "hold_value": (c_int, [c_void_p, _OUT, POINTER(c_size_t), _OUT]),
    "hold_set_value": (c_int, [c_void_p, *_TEXT, _OUT]),
    "hold_previous": (c_int, [c_void_p, POINTER(CPrevious), _OUT]),
}


class _Functions:
    """mortise_node_open as `lib.node_open`."""

    def __init__(self, library: ctypes.CDLL) -> None:
        for name, (result, parameters) in _SIGNATURES.items():
            function = getattr(library, "mortise_" + name)
            function.restype = result
            function.argtypes = parameters
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:  # only for the type checker
        raise AttributeError(name)


lib = _Functions(load(["mortise_" + name for name in _SIGNATURES]))


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

class ErrorHandle(c_void_p):
    __del__ = _freed_by(lib.error_free)


class BytesHandle(c_void_p):
    __del__ = _freed_by(lib.bytes_free)


class ConfigHandle(c_void_p):
    __del__ = _freed_by(lib.config_free)


class NodeHandle(c_void_p):
    __del__ = _freed_by(lib.node_free)


class CancellerHandle(c_void_p):
    __del__ = _freed_by(lib.canceller_free)


class HoldHandle(c_void_p):
    __del__ = _freed_by(lib.hold_free)


class LogQueueHandle(c_void_p):
    __del__ = _freed_by(lib.log_queue_free)


Handle = TypeVar("Handle", bound=c_void_p)


def call(function: Any, *arguments: Any) -> None:
    """Calls a function whose last parameter receives the error, and raises it."""
    error = ErrorHandle()
    code = function(*arguments, byref(error))
    if code != 0:
        raise _exception(code, error)


def made(kind: Type[Handle], function: Any, *arguments: Any) -> Handle:
    """The owner of what a function makes as its last output before the error; false if that is
    NULL."""
    output = kind()
    call(function, *arguments, byref(output))
    return output


def _exception(code: int, error: ErrorHandle) -> Exception:
    return class_of(code)(
        _text(lib.error_message, error).decode(errors="replace"), known(code),
        _text(lib.error_lock_name, error).decode(errors="surrogateescape"),
        _text(lib.error_reason, error).decode(errors="replace"),
        bool(lib.code_is_retryable(code)), lib.error_errno(error))


def _text(function: Any, error: ErrorHandle) -> bytes:
    length = c_size_t()
    return ctypes.string_at(function(error, byref(length)), length.value)
