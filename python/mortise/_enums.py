"""The constants of mortise.h."""

import enum
from typing import Any, Type, TypeVar


class Code(enum.IntEnum):
    """Why a call failed; LockError.code."""

    OK = 0
    TIMED_OUT = 1
    CANCELLED = 2
    SESSION_EXPIRED = 3
    LOCK_LOST = 4
    NOT_HELD = 5
    OUTCOME_UNKNOWN = 6
    NO_QUORUM = 7
    NOT_READY = 8
    DEADLOCK = 9
    RESOURCE_EXHAUSTED = 10
    INVALID_ARGUMENT = 11
    KIND_MISMATCH = 12
    STALE_REQUEST = 13
    NODE_STOPPED = 14
    FORKED = 15
    PERMISSION_DENIED = 16
    INCOMPATIBLE = 17
    DIRECTORY_LOCKED = 101
    DIRECTORY_DAMAGED = 102
    DIRECTORY_NEWER_FORMAT = 103
    DIRECTORY_WRONG_NODE = 104
    DIRECTORY_IO = 105
    DIRECTORY_NO_SPACE = 106
    DIRECTORY_SHORTAGE = 107
    DIRECTORY_CLOSED = 108
    DIRECTORY_DENIED = 109
    DIRECTORY_NOT_A_DIRECTORY = 110
    OUT_OF_MEMORY = 1001
    SYSTEM_ERROR = 1002
    INTERNAL_ERROR = 1003


class Mode(enum.IntEnum):
    """The mode in which a name is held."""

    EXCLUSIVE = 0
    SHARED = 1
    UPDATE = 2
    INTENT_SHARED = 3
    INTENT_EXCLUSIVE = 4
    SHARED_INTENT_EXCLUSIVE = 5


class QueuePolicy(enum.IntEnum):
    """The order in which the waiters of a name are granted; it belongs to the name."""

    DEFAULT = 0
    PHASE_FAIR = 1
    FIFO = 2
    PREFER_READERS = 3
    PREFER_WRITERS = 4


class OnUncertain(enum.IntEnum):
    """What happens to a hold whose lease has ended while its session may still be renewed."""

    LOSE = 0
    SUSPEND = 1


class Caching(enum.IntEnum):
    """Whether the node may keep the grant of a released hold for its next acquire."""

    ADAPTIVE = 0
    OFF = 1


class HoldState(enum.IntEnum):
    """The state of a hold; LOST is for ever. One that only a later library knows is LOST."""

    HELD = 0
    AT_RISK = 1
    SUSPENDED = 2
    LOST = 3
    RELEASED = 4


class LossReason(enum.IntEnum):
    """Why a hold was lost. A reason that only a later library knows is EXPIRED."""

    NONE = 0
    EXPIRED = 1
    BROKEN = 2
    NODE_STOPPED = 3
    FORKED = 4


class Predecessor(enum.IntEnum):
    """How the hold of the previous holder ended. An end that only a later library knows is
    EXPIRED."""

    NONE = 0
    CLEAN = 1
    EXPIRED = 2
    BROKEN = 3


class ReadLevel(enum.IntEnum):
    """Whom a look asks: the cluster, or this node alone."""

    LINEARIZABLE = 0
    LOCAL = 1


class LogLevel(enum.IntEnum):
    """The level of a log line, and the threshold from which lines are written. A level that only a
    later library knows is ERROR."""

    DEBUG = 0
    INFO = 1
    WARN = 2
    ERROR = 3
    OFF = 4


Member = TypeVar("Member", bound=enum.IntEnum)


def member(kind: Type[Member], value: Any, otherwise: Member) -> Member:
    """`otherwise` for a value that a later library returns; mortise.h says which to take."""
    try:
        return kind(value)
    except ValueError:
        return otherwise
