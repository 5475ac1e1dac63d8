"""Ports for the programs of a test."""

import contextlib
import random
import socket

# Below the ports that the kernel gives to connections and to whoever binds port 0: none of those
# takes one between this call and the program that listens there.
FIRST, LAST = 10_000, 29_999


def free_ports(count):
    """Different ports of 127.0.0.1 that nobody uses now."""
    ports = []
    with contextlib.ExitStack() as stack:
        while len(ports) < count:
            one = stack.enter_context(socket.socket())
            port = random.randint(FIRST, LAST)
            with contextlib.suppress(OSError):
                one.bind(("127.0.0.1", port))
                ports.append(port)
    return ports
