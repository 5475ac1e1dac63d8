"""The exceptions: one class for each code, all of them LockError."""

from __future__ import annotations

from typing import Union

from ._enums import Code


class LockError(Exception):
    """A call of Mortise failed.

    code:         a Code, or an int that this version of the package does not know
    name:         the name of the lock; empty if it is not about one. Bytes that are not UTF-8 are
                  shown as surrogates, as in names of files
    reason:       what the cluster gave as a reason beyond the code; may be empty
    is_retryable: the same call may succeed when it is repeated unchanged
    errno:        that of the operating system for SystemFailure, otherwise 0
    """

    def __init__(self, message: str, code: Union[Code, int] = Code.INTERNAL_ERROR, name: str = "",
                 reason: str = "", is_retryable: bool = False, errno: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.name = name
        self.reason = reason
        self.is_retryable = is_retryable
        self.errno = errno


class TimedOut(LockError, TimeoutError):
    """The wait ended; the request was withdrawn and holds nothing."""


class Cancelled(LockError):
    """The caller cancelled the wait; it holds nothing."""


class SessionExpired(LockError):
    """The holds and waits of this node have ended; acquire again."""


class LockLost(LockError):
    """The hold ended before it was released; stop the work that it protected."""


class NotHeld(LockError):
    """There is nothing to release or to use."""


class OutcomeUnknown(LockError):
    """The request was sent and not answered: check its effect before you repeat it."""


class NoQuorum(LockError):
    """No majority of the members answered in time."""


class NotReady(LockError):
    """The node is not in its cluster yet, or not any more."""


class Deadlock(LockError):
    """Waiting would complete a wait cycle: release something and try again."""


class ResourceExhausted(LockError):
    """A limit was reached."""


class InvalidArgument(LockError, ValueError):
    """The call or the configuration is wrong."""


class KindMismatch(LockError):
    """The name is in use as something else, or with another queue policy."""


class StaleRequest(LockError):
    """It was answered long ago, and the answer is not kept any more."""


class NodeStopped(LockError):
    """The node was closed, or it failed; open a new one."""


class Forked(LockError):
    """Called in the child of a fork; open a node there."""


class PermissionDenied(LockError):
    """The certificate of this node does not allow it."""


class Incompatible(LockError):
    """A member runs another version; upgrade the older one."""


class DirectoryError(LockError):
    """The data directory cannot be used; `code` says why."""


class OutOfMemory(LockError, MemoryError):
    """There was no memory; nothing was begun."""


class SystemFailure(LockError):
    """An error of the operating system; see `errno`."""


class InternalError(LockError):
    """An error without a code of its own."""


_CLASSES = {
    Code.TIMED_OUT: TimedOut, Code.CANCELLED: Cancelled, Code.SESSION_EXPIRED: SessionExpired,
    Code.LOCK_LOST: LockLost, Code.NOT_HELD: NotHeld, Code.OUTCOME_UNKNOWN: OutcomeUnknown,
    Code.NO_QUORUM: NoQuorum, Code.NOT_READY: NotReady, Code.DEADLOCK: Deadlock,
    Code.RESOURCE_EXHAUSTED: ResourceExhausted, Code.INVALID_ARGUMENT: InvalidArgument,
    Code.KIND_MISMATCH: KindMismatch, Code.STALE_REQUEST: StaleRequest,
    Code.NODE_STOPPED: NodeStopped, Code.FORKED: Forked, Code.PERMISSION_DENIED: PermissionDenied,
    Code.INCOMPATIBLE: Incompatible, Code.OUT_OF_MEMORY: OutOfMemory,
    Code.SYSTEM_ERROR: SystemFailure, Code.INTERNAL_ERROR: InternalError,
}


def class_of(code: int) -> type[LockError]:
    """The class for a code: LockError itself for one that is not known here."""
    if Code.DIRECTORY_LOCKED <= code <= Code.DIRECTORY_NOT_A_DIRECTORY:
        return DirectoryError
    return _CLASSES.get(code, LockError)  # type: ignore[call-overload]


def known(code: int) -> Union[Code, int]:
    try:
        return Code(code)
    except ValueError:
        return code
