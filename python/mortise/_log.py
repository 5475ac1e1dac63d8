"""Log lines of nodes, for a function of the program.

A thread of a node must not wait for the GIL, which an extension may keep for long. So the library
puts the lines into a queue, without Python, and a thread of Python takes them out.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from ctypes import byref
from typing import Callable

from ._enums import LogLevel, member
from ._library import CLogLine, ConfigHandle, LogQueueHandle, call, lib, made

Sink = Callable[[LogLevel, str], None]

LINES_MAX = 4096  # that wait for the thread; more are dropped
_PATIENCE = 2.0  # seconds for the last lines at the end of the program

_readers: dict[threading.Thread, LogQueueHandle] = {}


def attach(config: ConfigHandle, level: int, sink: Sink) -> None:
    """The nodes of that config write to the sink, until the last of them and the config have
    gone."""
    queue = made(LogQueueHandle, lib.config_queue_log, config, level, LINES_MAX)
    threading.Thread(target=_read, args=(queue, sink), name="mortise log", daemon=True).start()


def end_all() -> None:
    """Gives the last lines to their sinks; when the nodes are closed, at the end of the program."""
    for reader, queue in list(_readers.items()):
        lib.log_queue_close(queue)
        reader.join(_PATIENCE)


def _read(queue: LogQueueHandle, sink: Sink) -> None:
    _readers[threading.current_thread()] = queue
    while True:
        line = CLogLine(size=ctypes.sizeof(CLogLine))
        call(lib.log_queue_next, queue, byref(line))
        if line.dropped:
            _give(sink, LogLevel.WARN, f"{line.dropped} lines were dropped: the sink was too slow")
        if not line.text:  # there will be no more
            break
        text = ctypes.string_at(line.text, line.length).decode(errors="replace")
        _give(sink, member(LogLevel, line.level, LogLevel.ERROR), text)
    _readers.pop(threading.current_thread(), None)


def _give(sink: Sink, level: LogLevel, text: str) -> None:
    try:
        sink(level, text)
    except Exception:  # pylint: disable=broad-except
        kind, error, trace = sys.exc_info()
        about = (kind, error, trace, threading.current_thread())
        threading.excepthook(threading.ExceptHookArgs(about))
