"""A node: one member of a cluster, in this process."""

from __future__ import annotations

import atexit
import ctypes
import os
import time
import weakref
from ctypes import byref
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Optional, Type, Union

from . import _callbacks, _log, _threads
from ._arguments import Name, Seconds, encoded, int64, wait_of
from ._config import Config
from ._enums import Code
from ._errors import TimedOut
from ._hold import Hold
from ._library import CStatus, HoldHandle, NodeHandle, call, lib, made
from ._owner import Owner
from ._waiting import acquire_options, interruptible

# Python runs signal handlers between its own instructions, so a long wait is made in pieces.
_PIECE_NS = 200_000_000


@dataclass(frozen=True)
class Status:
    """What a node knows about itself and its cluster."""

    node_id: int
    leader_id: int  # 0: unknown
    term: int
    commit_index: int
    applied_index: int
    members: int
    voters: int
    is_ready: bool
    is_stopped: bool


_nodes: weakref.WeakSet[Node] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """No thread of a node may call Python code when there is no interpreter any more. Nodes that
    are closed are in the list, too: if that was done in a callback, it has perhaps not ended."""
    try:
        for node in list(_nodes):
            node.close()
        _callbacks.await_all()
        _log.end_all()
    except KeyboardInterrupt:  # a second one ends the waiting, and not the closing
        _close_all()
        raise


class Node(Owner):
    """One member of a cluster, in this process. The `with` block closes it.

    `config` is a Config, or the path of a TOML file. Opening raises InvalidArgument, SystemFailure
    or DirectoryError, and does not wait for the cluster.

    The options of the acquiring calls:

    mode:             how the name is held
    label:            shown to the next holder and to operators; at most 256 bytes
    max_hold:         the hold is lost after this time, which is above zero
    min_hold:         nobody else gets the name before this time is over
    progress_timeout: the hold is lost unless hold.checkpoint() is called this often; above zero
    lock_delay:       if the hold is lost, nobody else gets the name for this time
    priority:         0 to 7; higher ones go first
    queue_policy, on_uncertain, caching: see the enumerations
    canceller:        a Canceller that ends the wait
    """

    def __init__(self, config: Union[Config, str, os.PathLike[str]]) -> None:
        if not isinstance(config, Config):
            config = Config.from_file(config)
        self._handle = NodeHandle()
        _nodes.add(self)  # also if the program is interrupted when it has just been opened
        call(lib.node_open, config._handle, byref(self._handle))

    def __enter__(self) -> Node:
        if self.status().is_stopped:
            call(lib.node_wait_ready, self._handle, 0)  # raises NodeStopped, or Forked
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    @property
    def id(self) -> int:
        """The configured number of this member."""
        return int(lib.node_id(self._handle))

    def wait_ready(self, wait_max: Optional[Seconds] = None) -> None:
        """Waits until the cluster has a leader and this node a session. Raises TimedOut, whose
        `reason` says what is missing. Ctrl-C ends the wait."""
        left = wait_of(wait_max)
        end = time.monotonic_ns() + left
        piece = 0 if _threads.are_greenlets() else _PIECE_NS
        while left > piece:
            try:
                return call(lib.node_wait_ready, self._handle, piece)
            except TimedOut:
                _threads.give_way()
                left = max(end - time.monotonic_ns(), 0)
        return call(lib.node_wait_ready, self._handle, left)

    def status(self) -> Status:
        """What the node knows, without asking the cluster."""
        got = CStatus(size=ctypes.sizeof(CStatus))
        call(lib.node_status, self._handle, byref(got))
        return Status(got.node_id, got.leader_id, got.term, got.commit_index, got.applied_index,
                      got.members, got.voters, bool(got.is_ready), bool(got.is_stopped))

    def close(self) -> None:
        """Ends pending calls with NodeStopped, releases all holds and stops. No callback runs
        after it has returned. In a callback of the node it returns at once, and the node ends
        elsewhere; the end of the program waits for that. A second call waits for the first one, and
        otherwise has no effect."""
        lib.node_close(self._handle)

    def acquire(self, name: Name, *, wait_max: Optional[Seconds] = None,
                **options: Any) -> Hold:
        """Waits until the lock is held. Raises TimedOut after `wait_max`; without it there is no
        limit, and with 0 it is one attempt. Ctrl-C ends the wait."""
        if (hold := self.acquire_for(name, wait_max, **options)) is not None:
            return hold
        shown = encoded(name).decode(errors="surrogateescape")
        raise TimedOut(f"{shown}: another holder has the lock", Code.TIMED_OUT, shown)

    def try_acquire(self, name: Name, **options: Any) -> Optional[Hold]:
        """Makes one attempt: None if another holder has the lock."""
        content = encoded(name)
        handle = made(HoldHandle, lib.node_try_acquire, self._handle, content, len(content),
                      byref(acquire_options(**options)))
        return Hold(self, handle, name) if handle else None

    def acquire_for(self, name: Name, wait_max: Optional[Seconds],
                    **options: Any) -> Optional[Hold]:
        """Waits for at most `wait_max`, without a limit if it is None. None if that time ended
        first. Ctrl-C ends the wait."""
        wait = wait_of(wait_max)
        content, given = encoded(name), acquire_options(**options)

        # It may go on for a moment after an interruption, so it keeps what it needs: this node, and
        # the options with their canceller.
        def acquire() -> Optional[Hold]:
            handle = made(HoldHandle, lib.node_acquire_for, self._handle, content, len(content),
                          wait, byref(given))
            return Hold(self, handle, name) if handle else None

        return interruptible(acquire, given)

    def remove(self, name: Name) -> None:
        """Removes a semaphore, a latch or a barrier that nobody uses, so that the name may be
        something else. InvalidArgument while somebody holds the name or waits for it."""
        content = encoded(name)
        call(lib.node_remove, self._handle, content, len(content))

    def break_lock(self, name: Name, token: int, reason: str = "") -> None:
        """Takes a lock away from the holder with that token. NotHeld if nobody has it."""
        content, words = encoded(name), encoded(reason)
        call(lib.node_break_lock, self._handle, content, len(content), int64(token, "token"),
             words, len(words))
