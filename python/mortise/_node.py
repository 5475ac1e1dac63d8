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
from typing import Any, Callable, Iterable, Optional, Type, TypeVar, Union

from . import _callbacks, _log, _threads
from ._arguments import Name, Seconds, encoded, int64, timed_out, uint32, uint64, wait_of
from ._config import Config
from ._errors import TimedOut
from ._hold import Hold
from ._library import CStatus, HoldHandle, NodeHandle, bytes_of, call, lib, made, text_of
from ._look import Observation, Told, observe, read_level, told
from ._owner import Owner
from ._waiting import Request, Several, acquire_options, interruptible

Held = TypeVar("Held", bound=Hold)

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
    locker:           the Locker that owns the hold
    on_contended:     called as on_contended(mode, waiters, reason) when others want the lock: for
                      the first request that waits, when their number grows, and for
                      request_release(). It runs on a thread of the node, and may release the hold
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
        raise timed_out(name, "another holder has the lock")

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

    def acquire_all(self, names: Iterable[Request], *, wait_max: Optional[Seconds] = None,
                    **options: Any) -> Hold:
        """Acquires all names or none, in one step once all are free: it holds nothing while it
        waits. A name may be a pair with its mode; the option `mode` has no effect. Hold.parts has
        the token of each. Raises TimedOut as acquire() does."""
        hold = self._several(lib.node_acquire_all_for, asked := Several(names), wait_max, **options)
        if hold is None:
            raise timed_out(asked.first, "others hold some of the names")
        return hold

    def acquire_any(self, names: Iterable[Request], *, wait_max: Optional[Seconds] = None,
                    **options: Any) -> Hold:
        """Acquires one of the names: the first one that is free, otherwise the one that becomes
        free first; Hold.name tells which. The rest is as for acquire_all()."""
        hold = self._several(lib.node_acquire_any_for, asked := Several(names), wait_max, **options)
        if hold is None:
            raise timed_out(asked.first, "others hold all of the names")
        return hold

    def try_acquire_any(self, names: Iterable[Request], **options: Any) -> Optional[Hold]:
        """Makes one attempt: None if all names are taken. It distributes pieces of work."""
        return self._several(lib.node_acquire_any_for, Several(names), 0, **options)

    def _several(self, function: Any, names: Several, wait_max: Optional[Seconds],
                 **options: Any) -> Optional[Hold]:
        wait, given = wait_of(wait_max), acquire_options(**options)

        def acquire() -> Optional[Hold]:
            handle = made(HoldHandle, function, self._handle, names.array, names.count, wait,
                          byref(given))
            return hold_of_several(Hold, self, handle, names) if handle else None

        return interruptible(acquire, given)

    def inspect(self, name: Name, *, local: bool = False) -> Told:
        """Who holds the name and who waits for it, its value, and what it is used as: what
        `mortise inspect --json` prints, with tokens as integers, and as bytes what is no UTF-8.
        With `local` it does not ask the cluster, and may be behind."""
        content = encoded(name)
        return dict(told(lib.node_inspect, self._handle, content, len(content), read_level(local)))

    def locks(self, prefix: Name = b"", *, after: Name = b"", limit: int = 1000,
              local: bool = False) -> list[Told]:
        """The same, without values, of the names that begin with `prefix` and are greater than
        `after`, in byte order, at most `limit`. For the next page pass the last name as `after`; a
        page with fewer is the last one."""
        begin, last = encoded(prefix), encoded(after)
        return list(told(lib.node_list, self._handle, begin, len(begin), last, len(last),
                         uint32(limit, "limit"), read_level(local)))

    def sessions(self, *, local: bool = False) -> list[Told]:
        """The sessions of the cluster: what `mortise sessions --json` prints."""
        return list(told(lib.node_sessions, self._handle, read_level(local)))

    def observe(self, prefix: Name, callback: Callable[[Optional[Told]], None], *,
                position: Optional[str] = None, only_this_name: bool = False) -> Observation:
        """Calls callback(event) with what changes of the names that begin with `prefix`, until the
        observation is closed: what `mortise watch --json` prints. First comes a gap, then the
        present state, and then each change; with the `position` of an event, what follows it.
        It runs on a thread of the node, one call at a time; one that is too slow gets a gap, after
        which the state follows. None means that there was no memory for an event: observe anew.
        What it raises goes to sys.unraisablehook."""
        return observe(self, prefix, callback, position, only_this_name)

    def metrics(self) -> Told:
        """The counters and the present numbers of this node; docs/monitoring.md explains them."""
        return dict(told(lib.node_metrics, self._handle))

    def prometheus(self) -> str:
        """The same as the text that Prometheus reads."""
        return bytes_of(lib.node_prometheus, self._handle).decode()

    def members(self) -> list[Told]:
        """The members of the cluster, as this node knows them."""
        return list(told(lib.node_members, self._handle))

    def add_member(self, number: int, address: str) -> None:
        """Adds a learner, which must be running with that number. It and the other changes of the
        members return when they are committed, and may be repeated. They raise InvalidArgument if
        they are never possible, NotReady, NoQuorum, and OutcomeUnknown."""
        content = encoded(address)
        call(lib.node_add_member, self._handle, uint64(number, "number"), content, len(content))

    def promote_member(self, number: int) -> None:
        """Makes a voter of a learner that has caught up."""
        call(lib.node_promote_member, self._handle, uint64(number, "number"))

    def remove_member(self, number: int) -> None:
        """Removes a learner or a voter; it may be the leader or this node."""
        call(lib.node_remove_member, self._handle, uint64(number, "number"))

    def move_member(self, number: int, address: str) -> None:
        """Changes the address at which the others reach a member."""
        content = encoded(address)
        call(lib.node_move_member, self._handle, uint64(number, "number"), content, len(content))

    def transfer_leadership(self, number: int) -> None:
        """Transfers leadership to a voter that has caught up."""
        call(lib.node_transfer_leadership, self._handle, uint64(number, "number"))

    def remove(self, name: Name) -> None:
        """Removes a semaphore, a latch or a barrier that nobody uses, so that the name may be
        something else. InvalidArgument while somebody holds the name or waits for it."""
        content = encoded(name)
        call(lib.node_remove, self._handle, content, len(content))

    def break_lock(self, name: Name, token: int, reason: str = "", *,
                   immediate: bool = False) -> None:
        """Takes a lock away from the holder with that token. NotHeld if nobody has it. The name
        is free when the holder's node has confirmed the loss or cannot rely on the hold any more;
        with `immediate` at once, and then two processes may believe that they hold it."""
        content, words = encoded(name), encoded(reason)
        call(lib.node_break_lock_now if immediate else lib.node_break_lock, self._handle, content,
             len(content), int64(token, "token"), words, len(words))

    def evict(self, session: int, reason: str = "", *, immediate: bool = False) -> None:
        """Takes a session out, with all that it holds and waits for; sessions() has its number.
        NotHeld if there is none with it. It ends when its node has learned of it, or with its
        lease if that node is silent; with `immediate` at once, and then two processes may believe
        that they hold its locks."""
        words = encoded(reason)
        call(lib.node_evict_now if immediate else lib.node_evict, self._handle,
             uint64(session, "session"), words, len(words))

    def request_release(self, name: Name, reason: str = "") -> None:
        """Asks the holders of a lock to release it: their on_contended gets `reason`, and may
        ignore it. NotHeld if nobody has the lock."""
        content, words = encoded(name), encoded(reason)
        call(lib.node_request_release, self._handle, content, len(content), words, len(words))


def hold_of_several(kind: Type[Held], owner: Any, handle: HoldHandle, names: Several) -> Held:
    """The hold of a call for several names, with the names as the caller has spelt them."""
    content = text_of(lib.hold_name, handle)
    hold = kind(owner, handle, names.spelt.get(content, content))
    hold._spelt = names.spelt
    return hold
