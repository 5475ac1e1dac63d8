"""Replaces threads, locks and sleep of Python as gevent and eventlet do, without either of them.

`patch()` makes of each thread a greenlet: only one of them runs at a time, and another one when
that one waits for a lock or sleeps. So what waits in a function of C holds all of them up.
"""

import _thread
import threading
import time

_start, _allocate, _sleep = _thread.start_new_thread, _thread.allocate_lock, time.sleep
_turn = _allocate()
_greenlets = set()  # the threads of the system that stand for one


def _sleep_green(seconds):
    if _thread.get_ident() not in _greenlets:
        _sleep(seconds)
        return
    _turn.release()
    _sleep(max(seconds, 0.0001))
    _turn.acquire()


class _GreenLock:
    def __init__(self):
        self._lock = _allocate()

    def acquire(self, blocking=True, timeout=-1):
        end = time.monotonic() + timeout
        while not self._lock.acquire(False):
            if not blocking or (timeout >= 0 and time.monotonic() > end):
                return False
            _sleep_green(0.0005)
        return True

    def release(self):
        self._lock.release()

    def locked(self):
        return self._lock.locked()

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *error):
        self.release()


def _start_green(function, arguments, named=None):
    def run():
        _greenlets.add(_thread.get_ident())
        with _turn:
            function(*arguments, **(named or {}))

    return _start(run, ())


def patch():
    """The calling thread becomes a greenlet, and so does each thread that begins from now on."""
    for module in (_thread, threading):
        for name, new in (("start_new_thread", _start_green), ("_start_new_thread", _start_green),
                          ("allocate_lock", _GreenLock), ("_allocate_lock", _GreenLock),
                          ("Lock", _GreenLock)):
            if hasattr(module, name):
                setattr(module, name, new)
    time.sleep = _sleep_green
    _greenlets.add(_thread.get_ident())
    _turn.acquire()


def join(*functions):
    """Runs each in a greenlet of its own, and returns when all have ended."""
    ended = []

    def run(function):
        try:
            function()
        finally:
            ended.append(function)

    for function in functions:
        _thread.start_new_thread(run, (function,))
    while len(ended) < len(functions):
        time.sleep(0.001)
