"""Holds a lock with Python's standard library: hold.py URL NAME"""

import json
import sys
import threading
import time
import urllib.request


class Lock:
    """A lock that is held until the block ends. Use `token` for every write, and look at `valid`
    before."""

    def __init__(self, url, name):
        self.request = urllib.request.Request(f"{url}/v1/hold/{name}?label=hold.py",
                                              headers={"Mortise-Http": "1"})

    def __enter__(self):
        self.sent = time.monotonic()  # all times count from here
        self.stream = urllib.request.urlopen(self.request)
        granted = json.loads(self.stream.readline())
        self.token = granted["token"]
        self.until = self.sent + granted["valid_ms"] / 1000
        threading.Thread(target=self.listen, daemon=True).start()
        return self

    def listen(self):
        try:
            while (line := json.loads(self.stream.readline() or "{}")).get("event") == "alive":
                self.until = self.sent + line["valid_ms"] / 1000
        except (OSError, ValueError, AttributeError):
            pass
        self.until = 0  # lost, or closed: whatever ended the lines

    @property
    def valid(self):
        return time.monotonic() < self.until

    def __exit__(self, *_):
        self.stream.fp.raw._sock.shutdown(2)  # wakes listen(); it also releases the lock


if __name__ == "__main__":
    with Lock(*sys.argv[1:]) as lock:
        print("token", lock.token, flush=True)
        if lock.valid:
            print("work, with the token", flush=True)
    print("released", flush=True)
