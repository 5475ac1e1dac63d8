"""Explicit owners of holds, and who hears that others want a hold."""

from __future__ import annotations

from typing import Any, Callable

from . import _callbacks
from ._arguments import Name, encoded
from ._enums import Mode, member
from ._library import ContendedHandle, LockerHandle, call, lib, made
from ._owner import Owner

Contended = Callable[[Mode, int, str], None]


class Locker(Owner):
    """Owns the holds that are acquired with the option `locker`, on any thread. It may acquire a
    name that it holds already: the holds share one grant, and the lock is released with the last of
    them. Lockers on any nodes may wait for each other: the request that would complete a wait cycle
    raises Deadlock. Forgetting it releases nothing. The `label` names it in wait cycles."""

    def __init__(self, node: Any, label: Name = b"") -> None:
        words = encoded(label)
        self._handle = made(LockerHandle, lib.locker_new, node._handle, words,
                            len(words))

    @property
    def hold_count(self) -> int:
        """How many holds it has that are not released."""
        return int(lib.locker_hold_count(self._handle))

    def release_all(self) -> None:
        """Releases all its holds at once, and waits until the cluster has confirmed it. Raises the
        first error of Hold.release(), when all are released."""
        call(lib.locker_release_all, self._handle)


def contended_handle(function: Contended) -> ContendedHandle:
    """Holds that were acquired with it go on to call the function, also when it is forgotten."""
    def told(mode: int, waiters: int, reason: bytes) -> None:
        function(member(Mode, mode, Mode.EXCLUSIVE), waiters, reason.decode(errors="replace"))

    return made(ContendedHandle, lib.contended_new, _callbacks.contended, _callbacks.keep(told),
                _callbacks.destroy)
