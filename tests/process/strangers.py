"""Connections of strangers, who say nothing, too little, or go away in the middle.

Each function makes trouble at a port of this machine for so many seconds and says what it did.
"""

import contextlib
import resource
import socket
import struct
import time

# The first frame of a connection begins with these bytes: one segment of a few words.
BEGINNING = bytes([0, 0, 0, 0, 12, 0, 0, 0])
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


def connect(port):
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex(("127.0.0.1", port))
    return one


def is_closed(one):
    try:
        return one.recv(4096) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def keep_open(port, count, seconds, word):
    """So many connections all the time; each sends one more byte at intervals."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    count = min(count, most - 100)
    end = time.monotonic() + seconds
    opened = closed = 0
    said = {}
    while time.monotonic() < end:
        while len(said) < count and time.monotonic() < end:
            said[connect(port)] = 0
            opened += 1
        for one in list(said):
            if is_closed(one):
                one.close()
                del said[one]
                closed += 1
            elif word and said[one] < len(word):
                with contextlib.suppress(OSError):
                    said[one] += one.send(word[said[one]:said[one] + 1])
        time.sleep(0.05)
    for one in said:
        one.close()
    return f"{opened} connections, {len(said)} at the end, {closed} closed by the node"


def silent(port, count, seconds):
    return keep_open(port, count, seconds, b"")


def slow(port, count, seconds):
    return keep_open(port, count, seconds, BEGINNING + bytes(96))


def resets(port, count, seconds):
    """Connections that are reset in the middle of a frame, as fast as possible."""
    end = time.monotonic() + seconds
    done = 0
    while time.monotonic() < end:
        batch = [connect(port) for _ in range(count)]
        for one in batch:
            with contextlib.suppress(OSError):
                one.send(BEGINNING)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
            one.close()
            done += 1
    return f"{done} connections reset"


ATTACKS = {"silent": silent, "slow": slow, "resets": resets}
