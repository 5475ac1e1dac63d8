"""Leader elections."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_size_t
from dataclasses import dataclass
from typing import Any, Callable, Optional

from . import _callbacks
from ._arguments import Name, encoded
from ._hold import Hold
from ._library import ElectionHandle, HoldHandle, LeaderHandle, call, lib, made
from ._look import Observation
from ._node import Node
from ._owner import Owner
from ._waiting import acquire_options, interruptible


@dataclass(frozen=True)
class Leader:
    """Who leads."""

    node: int
    value: bytes  # what it has published
    token: int  # greater than those of all leaders before it


class Election(Owner):
    """One of several candidates leads, and everybody learns who and where it is. The leader holds
    the name exclusively and has published its value under that hold."""

    def __init__(self, node: Node, name: Name) -> None:
        content = encoded(name)
        self._node = node
        self._name = name
        self._handle = made(ElectionHandle, lib.election_new, node._handle, content, len(content))

    def campaign(self, value: Name = b"", **options: Any) -> Hold:
        """Waits until this candidate leads, and publishes its value. It leads until the hold is
        released or lost. Ctrl-C ends the wait. The options are those of Node.acquire() without
        `wait_max`: a `canceller` limits the wait."""
        content, given = encoded(value), acquire_options(**options)

        def campaign() -> Hold:
            handle = made(HoldHandle, lib.election_campaign, self._handle, content, len(content),
                          byref(given))
            return Hold(self._node, handle, self._name)

        return interruptible(campaign, given)

    def publish(self, hold: Hold, value: Name) -> None:
        """Publishes another value while it leads. `hold` is that of campaign()."""
        content = encoded(value)
        call(lib.election_publish, self._handle, hold._handle, content, len(content))

    def resign(self, hold: Hold) -> None:
        """Withdraws the value and releases the hold of campaign()."""
        call(lib.election_resign, self._handle, hold._handle)

    def leader(self) -> Optional[Leader]:
        """The present leader, or None; asks the cluster."""
        handle = made(LeaderHandle, lib.election_leader, self._handle)
        return _leader(handle) if handle else None

    def observe(self, callback: Callable[[Optional[Leader]], None]) -> Observation:
        """Calls callback(leader) with the present leader, or None, and with each change, until the
        observation is closed. It runs on a thread of the node, one call at a time. What it raises
        goes to sys.unraisablehook."""
        observation = Observation(self._node)
        call(lib.election_observe, self._handle, _callbacks.leader,
             _callbacks.keep(lambda handle: callback(_leader(handle) if handle else None)),
             _callbacks.destroy, byref(observation._handle))
        return observation


def _leader(handle: Any) -> Leader:
    length = c_size_t()
    value = lib.leader_value(handle, byref(length))
    return Leader(int(lib.leader_node(handle)), ctypes.string_at(value, length.value),
                  int(lib.leader_token(handle)))
