"""Distributed locks: a node of a Mortise cluster inside this program.

    import mortise

    with mortise.Node("mortise.toml") as node:
        with node.acquire("orders/42") as hold:
            store.write(row, hold.token)

It calls the shared library libmortise through mortise.h: the one that the environment variable
MORTISE_LIBRARY names, the one in the folder of this package, or that of the system.

Times are seconds as a number, or a datetime.timedelta. Names are str, sent as UTF-8, or bytes.

Threads: every call may be made on any thread. The interpreter runs other threads while a call
waits. Lost callbacks run on threads of the node, which Python sees as threads that it did not
start; log sinks have threads of their own.

fork(): in the child, nodes and holds of the parent raise Forked. Open a node there. End a child of
os.fork() with os._exit(), as multiprocessing does: while the parent has a node with a directory,
sys.exit() or the end of the program would wait in the child for threads that only the parent has.

asyncio: use mortise.aio. The calls of this module block the event loop.

gevent, eventlet: while a greenlet waits for a lock the others run, if threads are patched.
"""

from ._enums import (
    Caching, Code, HoldState, LogLevel, LossReason, Mode, OnUncertain, Predecessor, QueuePolicy)
from ._errors import (
    Cancelled, Deadlock, DirectoryError, Forked, Incompatible, InternalError, InvalidArgument,
    KindMismatch, LockError, LockLost, NodeStopped, NoQuorum, NotHeld, NotReady, OutcomeUnknown,
    OutOfMemory, PermissionDenied, ResourceExhausted, SessionExpired, StaleRequest, SystemFailure,
    TimedOut)
from ._canceller import Canceller
from ._config import Config
from ._election import Election, Leader
from ._hold import Hold, Part, Previous
from ._library import version
from ._load import VERSION as __version__
from ._locker import Locker
from ._look import Observation
from ._node import Node, Status
from ._semaphore import Permit, RateLimiter, Semaphore
from ._wait import Barrier, Latch

__all__ = [
    "Barrier", "Caching", "Cancelled", "Canceller", "Code", "Config", "Deadlock", "DirectoryError",
    "Election", "Forked", "Hold", "HoldState", "Incompatible", "InternalError", "InvalidArgument",
    "KindMismatch", "Latch", "Leader", "LockError", "LockLost", "Locker", "LogLevel", "LossReason",
    "Mode", "NoQuorum", "Node", "NodeStopped", "NotHeld", "NotReady", "Observation", "OnUncertain",
    "OutOfMemory", "OutcomeUnknown", "Part", "PermissionDenied", "Permit", "Predecessor",
    "Previous", "QueuePolicy", "RateLimiter", "ResourceExhausted", "Semaphore", "SessionExpired",
    "StaleRequest", "Status", "SystemFailure", "TimedOut", "version",
]
