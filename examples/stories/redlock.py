"""The algorithm of Redlock, for side_by_side.py: a lock is a key on a majority of servers that know
nothing of each other."""

import subprocess
import time

from servers import program, run

ANSWER = 2  # seconds for the answer of one server; far less than a key lives here
DRIFT = 0.01  # of the time to live, and 2 ms: what the clocks of the servers may differ by


class Redlock:
    """A client, with the ports by which it reaches the servers."""

    def __init__(self, owner, ports):
        self.owner = owner
        self.ports = ports
        self.valid_until = 0

    def ask(self, port, *command):
        """What a server answers, and nothing if that takes too long."""
        try:
            return run(program("redis-cli"), "-p", port, *command, timeout=ANSWER)
        except subprocess.TimeoutExpired:
            return ""

    def acquire(self, name, ttl):
        """Asks all servers, one after the other; how many of them accepted. The TTL is in
        seconds."""
        begin = time.monotonic()
        set_key = ("SET", name, self.owner, "NX", "PX", int(1000 * ttl))
        accepted = sum(self.ask(port, *set_key) == "OK" for port in self.ports)
        if accepted > len(self.ports) // 2:
            self.valid_until = begin + ttl - DRIFT * ttl - 0.002
        return accepted

    def is_holder(self):
        """By the rule of the algorithm: a majority accepted, and the keys live for longer still."""
        return time.monotonic() < self.valid_until
