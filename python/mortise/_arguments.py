"""What the program gives, in the form that the library takes. ctypes takes an integer modulo the
size of its parameter; therefore each is checked here."""

from __future__ import annotations

import datetime
import operator
from typing import Any, Optional, Union

from ._enums import Code
from ._errors import InvalidArgument, TimedOut

Seconds = Union[int, float, datetime.timedelta]
Name = Union[str, bytes]

INT64_MAX = 2**63 - 1  # no limit
_INT32_MAX = 2**31 - 1


def encoded(text: Name) -> bytes:
    if isinstance(text, str):
        return text.encode()
    if isinstance(text, (bytes, bytearray, memoryview)):
        return bytes(text)
    raise TypeError(f"str or bytes expected, not {type(text).__name__}")


def shown(name: Name) -> str:
    """As LockError.name has it."""
    return encoded(name).decode(errors="surrogateescape")


def timed_out(name: Name, why: str) -> TimedOut:
    return TimedOut(f"{shown(name)}: {why}", Code.TIMED_OUT, shown(name))


def int32(value: Any, what: str) -> int:
    """An integer of 32 bits: also a member of an enumeration."""
    return _within(value, what, _INT32_MAX)


def int64(value: Any, what: str) -> int:
    """An integer of 64 bits."""
    return _within(value, what, INT64_MAX)


def uint32(value: Any, what: str) -> int:
    """An integer of 32 bits that is not negative."""
    number = operator.index(value)
    if not 0 <= number < 2**32:
        raise InvalidArgument(f"{what} is out of range: {number}", Code.INVALID_ARGUMENT)
    return number


def uint64(value: Any, what: str) -> int:
    """An integer of 64 bits that is not negative."""
    number = operator.index(value)
    if not 0 <= number < 2**64:
        raise InvalidArgument(f"{what} is out of range: {number}", Code.INVALID_ARGUMENT)
    return number


def _within(value: Any, what: str, largest: int) -> int:
    number = operator.index(value)
    if not -largest - 1 <= number <= largest:
        raise InvalidArgument(f"{what} is out of range: {number}", Code.INVALID_ARGUMENT)
    return number


def limit(time: Optional[Seconds], what: str) -> int:
    """Nanoseconds, and 0 for None: for the library that means no limit."""
    if (ns := nanoseconds(time, 0)) == 0 and time is not None:
        raise InvalidArgument(f"{what} is above zero; None means no limit", Code.INVALID_ARGUMENT)
    return ns


def wait_of(time: Optional[Seconds]) -> int:
    """Nanoseconds to wait; no limit for None. A negative time, mostly what is left until a moment
    that has passed, is 0: so it is for threading.Event.wait and Condition.wait."""
    return max(nanoseconds(time, INT64_MAX), 0)


def nanoseconds(time: Optional[Seconds], otherwise: int) -> int:
    """`otherwise` for None. Negative times are left to the library, which refuses them. A time
    that is too long is the longest one, and a positive one is never 0, which would mean none."""
    if time is None:
        return otherwise
    if isinstance(time, datetime.timedelta):
        time = time.total_seconds()
    if time != time:  # the float that is no number
        raise InvalidArgument("a time is no number", Code.INVALID_ARGUMENT)
    if time <= 0:
        return 0 if time == 0 else -1
    return max(round(time * 1e9), 1) if time < INT64_MAX / 1e9 else INT64_MAX
