"""Clients of the door whose host is cut off, so that nothing says that they are gone.

    cut_off_test.py PROGRAM

They are out within their ttl, and not before what they were told is over."""

import json
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
sys.path.insert(0, str(HERE.parent / "torture"))

from namespaces import Network, run_inside  # noqa: E402

run_inside()  # before the next import, which takes arguments away
from program import PATIENCE, PROGRAM, Case, Process, environment, wait_until  # noqa: E402

TTL = 3
SLACK = 2
PORT = 7481


class CutOff(Case):
    """The door is on host 1, and clients are on hosts 2 and 3."""

    @classmethod
    def setUpClass(cls):
        cls.network = Network(3)

    def setUp(self):
        super().setUp()
        self.node = self.keep(Process(
            [*self.network.enter(1), PROGRAM, "node", "--http", f"10.77.0.1:{PORT}",
             "--http-remote"],
            env=environment(MORTISE_DATA_DIR=str(self.directory / "node"))))
        self.node.stdout.readline()

    def curl(self, host, path):
        return self.keep(Process([*self.network.enter(host), "curl", "-sNH", "Mortise-Http: 1",
                                  f"http://10.77.0.1:{PORT}{path}"], env=environment()))

    def ask(self, path):
        return json.loads(self.curl(1, path).communicate(timeout=PATIENCE)[0])

    def cut(self, host):
        undo = [self.network.drop_from(1, [host]), self.network.drop_from(host, [1])]
        for each in undo:
            self.addCleanup(each)

    def test_a_holder_is_out_when_its_last_promise_is_over(self):
        client = self.curl(2, f"/v1/hold/orders/42?ttl={TTL}s")
        begin = time.monotonic()
        granted = json.loads(client.stdout.readline())
        told = json.loads(client.stdout.readline())
        self.cut(2)
        later = self.curl(3, "/v1/hold/orders/42")
        granted_later = json.loads(later.stdout.readline())
        token = int(granted_later["token"])
        self.assertEqual(granted_later["previous"], "expired")
        now = time.monotonic()
        self.assertGreater(token, int(granted["token"]))
        self.assertGreater(now, begin + told["valid_ms"] / 1000)
        self.assertLess(now, begin + TTL / 3 + TTL + TTL / 3 + SLACK)

    def test_a_waiter_is_passed_over(self):
        holder = self.curl(3, "/v1/hold/orders/42")
        holder.stdout.readline()
        self.curl(2, "/v1/hold/orders/42")
        wait_until(lambda: self.ask("/v1/locks/orders/42")["waiters"])
        self.cut(2)
        # TCP has asked it three times, 5 s apart.
        wait_until(lambda: not self.ask("/v1/locks/orders/42")["waiters"], 30)


if __name__ == "__main__":
    unittest.main()
