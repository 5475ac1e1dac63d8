"""What the library tells of locks, sessions and changes."""

from __future__ import annotations

import ctypes
import json
from ctypes import byref
from types import TracebackType
from typing import Any, Callable, Optional, Type

from . import _callbacks
from ._arguments import Name, encoded
from ._enums import ReadLevel
from ._library import CObserveOptions, ObservationHandle, bytes_of, call, lib
from ._owner import Owner

Told = dict[str, Any]


class Observation(Owner):
    """A running observation. It ends with close(), with its `with` block, or when it is
    forgotten; no call is made then."""

    def __init__(self, node: Any) -> None:
        self._node = node  # it stays open
        self._handle = ObservationHandle()

    def __enter__(self) -> Observation:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Ends it. Waits for a call that runs, unless this is made in it."""
        self._handle = ObservationHandle()


def read_level(local: bool) -> int:
    return ReadLevel.LOCAL if local else ReadLevel.LINEARIZABLE


def told(function: Any, *arguments: Any) -> Any:
    """What a function tells as JSON."""
    return _parsed(bytes_of(function, *arguments))


def observe(node: Any, prefix: Name, callback: Callable[[Optional[Told]], None],
            position: Optional[str], only_this_name: bool) -> Observation:
    content, words = encoded(prefix), encoded(position or b"")
    options = CObserveOptions(size=ctypes.sizeof(CObserveOptions), position=words,
                              position_length=len(words), only_this_name=int(only_this_name))
    observation = Observation(node)
    call(lib.node_observe, node._handle, content, len(content), byref(options), _callbacks.event,
         _callbacks.keep(lambda text: callback(None if text is None else _parsed(text))),
         _callbacks.destroy, byref(observation._handle))
    return observation


def _parsed(text: bytes) -> Any:
    return json.loads(text, object_hook=_as_python)


def _as_python(found: Told) -> Any:
    """JSON has neither bytes nor integers of 64 bits."""
    if found.keys() == {"hex", "shown"}:
        return bytes.fromhex(found["hex"])
    for key in ("token", "closed_under"):
        if isinstance(found.get(key), str):
            found[key] = int(found[key])
    if "bytes" in found:  # of a value
        found["bytes"] = encoded(found["bytes"])
    return found
