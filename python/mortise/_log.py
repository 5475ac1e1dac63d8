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

from . import _threads
from ._enums import LogLevel, member
from ._library import CLogLine, ConfigHandle, LogQueueHandle, call, lib, made

Sink = Callable[[LogLevel, str], None]

LINES_MAX = 4096  # that wait for the thread; more are dropped
_PATIENCE = 2.0  # seconds for the last lines at the end of the program


class _Reader:
    """Gives the lines of a queue to a sink."""

    def __init__(self, queue: LogQueueHandle, sink: Sink) -> None:
        self._queue = queue
        self._sink = sink
        self._until_done = _threads.new_lock()
        self._is_late = False

    def start(self) -> None:
        self._until_done.acquire()
        if not _threads.start(self._run):
            self._is_late = True  # the end of the program reads the lines
            _readers.add(self)

    def end(self) -> None:
        lib.log_queue_close(self._queue)
        if self._is_late:
            self._run()
        self._until_done.acquire(timeout=_PATIENCE)

    def _run(self) -> None:
        _readers.add(self)
        while True:
            line = CLogLine(size=ctypes.sizeof(CLogLine))
            call(lib.log_queue_next, self._queue, byref(line))
            if line.dropped:
                self._give(LogLevel.WARN,
                           f"{line.dropped} lines were dropped: the sink was too slow")
            if not line.text:  # there will be no more
                break
            text = ctypes.string_at(line.text, line.length).decode(errors="replace")
            self._give(member(LogLevel, line.level, LogLevel.ERROR), text)
        _readers.discard(self)
        self._until_done.release()

    def _give(self, level: LogLevel, text: str) -> None:
        try:
            self._sink(level, text)
        except Exception:  # pylint: disable=broad-except
            kind, error, trace = sys.exc_info()
            about = (kind, error, trace, threading.current_thread())
            threading.excepthook(threading.ExceptHookArgs(about))


_readers: set[_Reader] = set()


def attach(config: ConfigHandle, level: int, sink: Sink) -> None:
    """The nodes of that config write to the sink, until the last of them and the config have
    gone."""
    _Reader(made(LogQueueHandle, lib.config_queue_log, config, level, LINES_MAX), sink).start()


def end_all() -> None:
    """Gives the last lines to their sinks; when the nodes are closed, at the end of the program."""
    for reader in list(_readers):
        reader.end()
