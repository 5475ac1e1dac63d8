"""The functions of mortise.h, through ctypes, which releases the GIL in each call."""

from __future__ import annotations

import ctypes
import ctypes.util
import datetime
import os
from ctypes import (
    CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32,
    c_uint64, c_void_p)
from pathlib import Path
from typing import Any, Optional, Union

from ._errors import class_of, known

Seconds = Union[int, float, datetime.timedelta]
Name = Union[str, bytes]

INT64_MAX = 2**63 - 1  # no limit


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
    "config_free": (None, [c_void_p]),
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


def _candidates() -> list[str]:
    if named := os.environ.get("MORTISE_LIBRARY"):
        return [named]
    here = Path(__file__).parent
    found = [str(path) for path in (here / "libmortise.so.0", here / "libmortise.so")
             if path.exists()]
    return [*found, "libmortise.so.0", ctypes.util.find_library("mortise") or "libmortise.so"]


def _load() -> ctypes.CDLL:
    problems = []
    for path in _candidates():
        try:
            return ctypes.CDLL(path)
        except OSError as problem:
            problems.append(str(problem))
    raise ImportError("the shared library of Mortise was not found; set MORTISE_LIBRARY to its "
                      "path: " + "; ".join(problems))


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


lib = _Functions(_load())


def version() -> str:
    """The version of the shared library."""
    return str(lib.version().decode())


def call(function: Any, *arguments: Any) -> None:
    """Calls a function whose last parameter receives the error, and raises it."""
    error = c_void_p()
    code = function(*arguments, byref(error))
    if code != 0:
        raise _exception(code, error)


def made(function: Any, *arguments: Any) -> Optional[int]:
    """The object that a function makes as its last output before the error; None for NULL."""
    output = c_void_p()
    call(function, *arguments, byref(output))
    return output.value


def _exception(code: int, error: c_void_p) -> Exception:
    try:
        return class_of(code)(
            _text(lib.error_message, error).decode(errors="replace"), known(code),
            _text(lib.error_lock_name, error).decode(errors="surrogateescape"),
            _text(lib.error_reason, error).decode(errors="replace"),
            bool(lib.code_is_retryable(code)), lib.error_errno(error))
    finally:
        lib.error_free(error)


def _text(function: Any, error: c_void_p) -> bytes:
    length = c_size_t()
    return ctypes.string_at(function(error, byref(length)), length.value)


def encoded(text: Name) -> bytes:
    if isinstance(text, str):
        return text.encode()
    if isinstance(text, (bytes, bytearray, memoryview)):
        return bytes(text)
    raise TypeError(f"str or bytes expected, not {type(text).__name__}")


def nanoseconds(time: Optional[Seconds], otherwise: int) -> int:
    """`otherwise` for None. Negative times are left to the library, which refuses them."""
    if time is None:
        return otherwise
    if isinstance(time, datetime.timedelta):
        time = time.total_seconds()
    return max(min(round(time * 1e9), INT64_MAX), -1) if time != float("inf") else INT64_MAX
