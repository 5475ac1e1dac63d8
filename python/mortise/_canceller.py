"""Ends waits before their time."""

from __future__ import annotations

import weakref

from ._library import CancellerHandle, lib, made
from ._owner import Owner


class Canceller(Owner):
    """Ends waits before their time, from any thread; one serves any number of acquires."""

    def __init__(self) -> None:
        self._handle = made(CancellerHandle, lib.canceller_new)
        self._is_cancelled = False
        self._parts: weakref.WeakValueDictionary[int, Canceller] = weakref.WeakValueDictionary()

    def cancel(self) -> None:
        """The waits that use it, now and later, raise Cancelled. It cannot be taken back."""
        self._is_cancelled = True
        lib.canceller_cancel(self._handle)
        for reference in self._parts.valuerefs():
            if (part := reference()) is not None:
                part.cancel()

    def _part(self) -> Canceller:
        """One for a single wait: it is cancelled with this one, and also alone."""
        part = Canceller()
        self._parts[id(part)] = part
        if self._is_cancelled:  # perhaps before the part was in the list
            part.cancel()
        return part
