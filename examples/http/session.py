"""Holds a lock in a session, also where answers get lost on the way: session.py URL NAME"""

import json
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid

TTL = 10


class Session:
    """Ends TTL seconds after its program, and with it all that it holds."""

    def __init__(self, url):
        self.url = url
        self.valid = {}  # until when each hold is, by its id
        self.path = "/v1/sessions/" + self.ask("POST", "/v1/sessions", ttl=f"{TTL}s")["session"]
        threading.Thread(target=self.keep, daemon=True).start()

    def ask(self, method, path, key=None, **wish):
        body = json.dumps(wish).encode() if method == "POST" else None
        headers = {"Content-Type": "application/json"} if body else {}
        if key is not None:
            headers["Idempotency-Key"] = key
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or "null")

    def repeat(self, method, path, **more):
        """Asks until there is an answer, for as long as the session may live without one."""
        end = time.monotonic() + 60 + TTL
        while True:
            try:
                return self.ask(method, path, **more)
            except urllib.error.HTTPError:  # an answer, although it refuses
                raise
            except OSError:
                if time.monotonic() > end:
                    raise

    def keep(self):
        while True:
            time.sleep(TTL / 3)
            sent = time.monotonic()
            try:
                holds = self.ask("POST", self.path + "/alive")["holds"]
            except urllib.error.HTTPError:
                return self.valid.clear()  # it has ended
            except OSError:
                continue
            for hold in holds:
                self.valid[hold["hold"]] = sent + hold["valid_ms"] / 1000

    def acquire(self, name):
        """Use the token for every write, and look at is_valid before."""
        key = str(uuid.uuid4())  # of this acquire alone, however often it is sent
        sent = time.monotonic()
        hold = self.repeat("POST", self.path + "/holds", key=key, name=name)
        self.valid[hold["hold"]] = sent + hold["valid_ms"] / 1000
        return hold

    def is_valid(self, hold):
        return time.monotonic() < self.valid.get(hold["hold"], 0)

    def release(self, hold):
        self.valid.pop(hold["hold"], None)
        try:
            self.repeat("DELETE", f"{self.path}/holds/{hold['hold']}")
        except urllib.error.HTTPError as error:
            if error.code != 410:  # it is not held any more: the answer before was lost
                raise


if __name__ == "__main__":
    session = Session(sys.argv[1])
    lock = session.acquire(sys.argv[2])
    print("token", lock["token"], flush=True)
    if session.is_valid(lock):
        print("work, with the token", flush=True)
    session.release(lock)
    print("released", flush=True)
