"""A lock that is held."""

from __future__ import annotations

import ctypes
import weakref
from ctypes import byref, c_uint32, c_void_p
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Callable, Optional, Type

from . import _callbacks
from ._arguments import Name, Seconds, encoded, int32, timed_out, wait_of
from ._enums import HoldState, LossReason, Mode, Predecessor, member
from ._library import CPrevious, HoldHandle, bytes_of, call, lib, text_of
from ._owner import Owner
from ._waiting import passes


@dataclass(frozen=True)
class Previous:
    """How the hold of the previous holder ended."""

    how: Predecessor
    label: str
    token: int  # 0: unknown


class Named(Owner):
    """What a hold of one name has, and each part of a hold of several."""

    _handle: Any
    _name: Name

    @property
    def name(self) -> Name:
        """The name as it was given."""
        return self._name

    @property
    def mode(self) -> Mode:
        """The present mode."""
        return member(Mode, lib.hold_mode(self._handle), Mode.EXCLUSIVE)

    @property
    def token(self) -> int:
        """The fencing token: greater than that of every earlier conflicting holder, for ever. The
        resource stores the largest it has seen and refuses smaller ones. 0 after the release."""
        return int(lib.hold_token(self._handle))

    def value(self) -> bytes:
        """The value that is stored with the name; empty if there is none."""
        return bytes_of(lib.hold_value, self._handle)

    def set_value(self, value: Name) -> None:
        """Stores at most 4 KiB with the name, and waits until the cluster has it."""
        content = encoded(value)
        call(lib.hold_set_value, self._handle, content, len(content))

    def consistent(self) -> None:
        """Declares the value consistent: Node.inspect() does not show it as dirty any more, which
        it is when an exclusive holder was lost."""
        call(lib.hold_consistent, self._handle)

    def previous(self) -> Previous:
        """How the hold of the previous holder ended."""
        got = CPrevious(size=ctypes.sizeof(CPrevious))
        call(lib.hold_previous, self._handle, byref(got))
        label = ctypes.string_at(got.label, got.label_length).decode(errors="replace")
        how = member(Predecessor, got.how, Predecessor.EXPIRED)
        return Previous(how, label, int(got.token))


class Part(Named):
    """One of several names that Node.acquire_all() acquired together. It ends with its hold."""

    def __init__(self, hold: Hold, handle: c_void_p, name: Name) -> None:
        self._hold = hold  # the owner of the handle
        self._handle = handle
        self._name = name

    def __repr__(self) -> str:
        return f"<mortise.Part {self._name!r} token {self.token}>"


class Hold(Named):
    """A lock that is held, until the `with` block ends.

    The owner is the object, not a thread. Leaving the block releases the lock and waits for the
    cluster; if the lock was lost, it raises LockLost, unless the block itself raised something. A
    hold that is forgotten is released when the garbage collector finds it. It keeps its node open;
    when the node is closed, the hold is lost, and says NodeStopped.
    """

    # How the caller of acquire_all() has spelt the names.
    _spelt: dict[bytes, Name] = {}

    def __init__(self, node: Any, handle: HoldHandle, name: Name) -> None:
        self._node = node
        self._handle = handle
        self._name = name

    def __enter__(self) -> Hold:
        if self.state == HoldState.RELEASED:
            self.check()  # raises NotHeld: the block would run without the lock
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if kind is not None or self.state == HoldState.RELEASED:
            self.unlock()
        else:
            self.release()

    def __repr__(self) -> str:
        return f"<mortise.Hold {self._name!r} token {self.token} {self.state.name.lower()}>"

    @property
    def valid(self) -> bool:
        """True while no other holder can have a conflicting hold. It is about this moment: protect
        what you do afterwards with the token."""
        return bool(lib.hold_valid(self._handle))

    @property
    def remaining(self) -> float:
        """For how many seconds `valid` stays true if no renewal succeeds."""
        return float(lib.hold_remaining_ns(self._handle)) / 1e9

    @property
    def state(self) -> HoldState:
        """Whether it is held, at risk, suspended, lost or released."""
        return member(HoldState, lib.hold_state(self._handle), HoldState.LOST)

    @property
    def why_lost(self) -> LossReason:
        """Why it was lost; NONE if it is not."""
        return member(LossReason, lib.hold_why_lost(self._handle), LossReason.EXPIRED)

    @property
    def slots(self) -> list[int]:
        """The numbers of its permits, ascending, if it is one of a Semaphore. Of two holders of a
        number the later one has the greater token."""
        numbers = (c_uint32 * 1024)()
        count = lib.hold_slots(self._handle, numbers, len(numbers))
        return list(numbers[:count])

    def check(self) -> None:
        """Raises unless `valid`: LockLost, NotHeld, NodeStopped, Forked, NoQuorum."""
        call(lib.hold_check, self._handle)

    def confirm(self, wait_max: Optional[Seconds] = None) -> None:
        """Asks the cluster whether the hold is alive, and waits for the answer."""
        call(lib.hold_confirm, self._handle, wait_of(wait_max))

    def checkpoint(self) -> None:
        """Reports progress, for a hold that was acquired with `progress_timeout`."""
        lib.hold_checkpoint(self._handle)

    def on_lost(self, callback: Callable[[Hold], None]) -> None:
        """Calls callback(hold) once, when the hold is lost; at once if it is lost already.

        It runs on a thread of the node, beside the rest of the program: set an event there. The
        name is granted to others when it has returned, or after 100 ms. What it raises goes to
        sys.unraisablehook. A second callback is InvalidArgument. A hold whose callback refers to
        it is not collected: release it.
        """
        this = weakref.ref(self)

        def lost(context: int) -> None:
            if (hold := this()) is not None:
                _callbacks.begun(context, hold._handle)
                callback(hold)

        call(lib.hold_on_lost, self._handle, _callbacks.lost, _callbacks.keep(lost),
             _callbacks.destroy)

    @property
    def parts(self) -> dict[Name, Part]:
        """What acquire_all() acquired, by name; empty for every other hold. The token, the value
        and the previous holder of each name are those of its part."""
        found: dict[Name, Part] = {}
        for index in range(lib.hold_parts(self._handle)):
            handle = c_void_p(lib.hold_part(self._handle, index))
            content = text_of(lib.hold_name, handle)
            name = self._spelt.get(content, content)
            found[name] = Part(self, handle, name)
        return found

    def downgrade(self, mode: Mode) -> None:
        """Changes to a mode that admits more others; keeps the token and waits for nobody. Any
        other change is InvalidArgument."""
        call(lib.hold_downgrade, self._handle, int32(mode, "mode"))

    def upgrade(self, wait_max: Optional[Seconds] = None, **options: Any) -> None:
        """Changes to EXCLUSIVE, with a new token: from UPDATE it waits until the readers have
        left; from SHARED it is Deadlock if there is another holder. Raises TimedOut after
        `wait_max`; then, and after Ctrl-C, the hold is as before. The option is `canceller`."""
        if not self.upgrade_for(wait_max, **options):
            raise timed_out(self._name, "others hold the lock")

    def upgrade_for(self, wait_max: Optional[Seconds], **options: Any) -> bool:
        """The same, but False if the time ended first; 0 does not wait for other holders."""
        return passes(lib.hold_upgrade_for, self._handle, wait_max, **options)

    def release(self) -> None:
        """Releases the lock and waits until the cluster has confirmed it. Raises LockLost if it was
        lost, NotHeld if it was released before."""
        call(lib.hold_release, self._handle)

    def unlock(self) -> None:
        """Releases the lock without waiting. Never fails."""
        lib.hold_unlock(self._handle)
