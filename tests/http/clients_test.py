"""Clients of the door that are killed, paused or cut off, and nodes that end: the next one gets the
lock in time, with a greater token. clients_test.py PROGRAM"""

import json
import select
import signal
import sys
import time
import unittest

from door import Door, DoorCase, Raw, three_configs
from program import (PATIENCE, Case, Process, config_text, free_ports, start,
                     wait_until)

TTL = 2
# What the system may be late.
SLACK = 3

# Holds, keeps its session alive as long as it runs, and prints what it is told.
KEEPER = """
import json, sys, time, urllib.request
url, name = sys.argv[1:]
def ask(path, body):
    request = urllib.request.Request(url + path, json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))
session = "/v1/sessions/" + ask("/v1/sessions", {"ttl": "2s"})["session"]
print(ask(session + "/holds", {"name": name})["token"], flush=True)
try:
    while True:
        time.sleep(0.5)
        ask(session + "/alive", {})
except urllib.error.HTTPError as error:
    print(json.load(error)["error"], flush=True)
"""


# Holds as long as it runs, and prints the lines that it is told.
STREAMER = """
import sys, urllib.request
for line in urllib.request.urlopen(sys.argv[1]):
    print(line.decode(), end="", flush=True)
"""


def words(door, name, more=""):
    return [sys.executable, "-c", STREAMER,
            f"http://{door.host}:{door.port}/v1/hold/{name}{more}"]


class Clients(DoorCase):
    def start(self, command):
        process = Process(command)
        self.addCleanup(process.end)
        return process

    def next_token(self):
        """That of the next holder, and how long it waited."""
        begin = time.monotonic()
        with self.door.stream(f"/v1/hold/{self.name}") as stream:
            return int(stream.begin()["token"]), time.monotonic() - begin

    def expect_next(self, token, longest):
        next_token, waited = self.next_token()
        self.assertGreater(next_token, token)
        self.assertLess(waited, longest)

    def test_a_killed_stream(self):
        client = self.start(words(self.door, self.name, f"?ttl={TTL}s"))
        token = int(json.loads(client.stdout.readline())["token"])
        client.kill()
        self.expect_next(token, SLACK)

    def test_a_killed_session(self):
        client = self.start([sys.executable, "-c", KEEPER,
                             f"http://{self.door.host}:{self.door.port}", self.name])
        token = int(client.stdout.readline())
        client.kill()
        self.expect_next(token, TTL + SLACK)

    def test_a_paused_session_and_what_it_is_told_later(self):
        client = self.start([sys.executable, "-c", KEEPER,
                             f"http://{self.door.host}:{self.door.port}", self.name])
        token = int(client.stdout.readline())
        client.pause()
        self.expect_next(token, TTL + SLACK)
        client.resume()
        self.assertEqual(client.stdout.readline(), "session_expired\n")

    def test_a_paused_stream_that_has_to_confirm(self):
        client = self.start(words(self.door, self.name, f"?ttl={TTL}s&confirm=1"))
        token = int(json.loads(client.stdout.readline())["token"])
        client.pause()
        self.expect_next(token, TTL + SLACK)
        client.resume()
        said = [json.loads(line) for line in client.stdout]
        self.assertEqual((said[-1]["event"], said[-1]["error"]), ("lost", "session_expired"))

    def test_a_paused_stream_without_that_still_holds(self):
        client = self.start(words(self.door, self.name, "?ttl=1s"))
        client.stdout.readline()
        client.pause()
        self.assertEqual(self.door.ask("GET", f"/v1/hold/{self.name}?wait=3s")[0], 409)
        client.resume()

    def test_who_closes_with_unread_lines_releases_at_once(self):
        raw = Raw(self.door).request(f"GET /v1/hold/{self.name}?ttl=60s")
        token = int(wait_until(self.holders)[0]["token"])
        select.select([raw.socket], [], [])  # its system sends a reset instead of an end
        raw.close()
        self.expect_next(token, SLACK)

    def test_a_killed_waiter_is_passed_over(self):
        with self.door.stream(f"/v1/hold/{self.name}") as holder:
            token = int(holder.begin()["token"])
            waiter = self.start(words(self.door, self.name))
            wait_until(lambda: self.door.get(f"/v1/locks/{self.name}")["waiters"])
            waiter.kill()
        self.expect_next(token, SLACK)


class Nodes(Case):
    """Three nodes, each with a door."""

    def start_three(self):
        configs = three_configs(self.directory, session_ttl="3s")
        # None of them is ready alone.
        processes = [self.start(config) for config in configs]
        return processes, [self.door_of(process) for process in processes]

    def test_while_its_node_is_paused_a_promise_holds_and_then_it_is_over(self):
        processes, doors = self.start_three()
        stream = doors[0].stream("/v1/hold/x?ttl=1h")
        granted = stream.begin()
        session = doors[0].session(ttl="1h")
        sent = time.monotonic()
        hold = doors[0].acquire(session, name="y")[1]
        promised = sent + hold["valid_ms"] / 1000
        processes[0].pause()
        with doors[1].stream("/v1/hold/y") as later:
            self.assertGreater(int(later.begin()["token"]), int(hold["token"]))
            self.assertGreater(time.monotonic(), promised)
        processes[0].resume()
        lost = stream.until("lost")
        self.assertEqual(lost["error"], "lock_lost")
        with doors[1].stream("/v1/hold/x") as later:
            self.assertGreater(int(later.begin()["token"]), int(granted["token"]))

    def test_with_its_node_a_client_loses_its_holds(self):
        processes, doors = self.start_three()
        stream = doors[0].stream("/v1/hold/x")
        token = int(stream.begin()["token"])
        session = doors[0].session()
        self.assertEqual(doors[0].acquire(session, name="y")[0], 201)
        processes[0].kill()
        begin = time.monotonic()
        with doors[1].stream("/v1/hold/x") as later:
            self.assertGreater(int(later.begin()["token"]), token)
        self.assertLess(time.monotonic() - begin, 3 + 2 * SLACK)
        with self.assertRaises(OSError):
            while stream.line() is not None:
                pass
            raise ConnectionError
        status, told = doors[1].ask("POST", session + "/alive")
        self.assertEqual((status, told["error"]), (404, "session_expired"))

    def expect_after(self, door, name, promised, hold):
        """Another client gets the name, when nobody may rely on that hold any more."""
        with door.stream(f"/v1/hold/{name}") as later:
            self.assertGreater(int(later.begin()["token"]), int(hold["token"]))
            self.assertGreater(time.monotonic(), promised)

    def test_an_end_of_its_node_breaks_no_promise(self):
        processes, doors = self.start_three()
        session = doors[0].session(ttl="1h")
        sent = time.monotonic()
        hold = doors[0].acquire(session, name="y")[1]
        waiting = Raw(doors[0]).acquire(doors[0].session(), name="y")
        wait_until(lambda: doors[0].get("/v1/locks/y")["waiters"])
        processes[0].terminate()
        self.assertEqual(waiting.json()["error"], "node_stopped")
        self.assertEqual(doors[0].ask("POST", session + "/alive")[0], 404)
        self.expect_after(doors[1], "y", sent + hold["valid_ms"] / 1000, hold)
        self.assertEqual(processes[0].wait(PATIENCE), 0)

    def test_nor_does_a_crash_of_its_node_that_starts_again_at_once(self):
        processes, doors = self.start_three()
        session = doors[0].session(ttl="1h")
        sent = time.monotonic()
        hold = doors[0].acquire(session, name="y")[1]
        processes[0].kill()
        processes[0].wait()
        door = self.door_of(self.start(self.directory / "1.toml"))
        self.expect_after(door, "y", sent + hold["valid_ms"] / 1000, hold)

    def test_an_end_of_its_node_is_told_and_waits_for_nobody_who_knows(self):
        processes, doors = self.start_three()
        stream = doors[0].stream("/v1/hold/x?ttl=1h")
        token = int(stream.begin()["token"])
        session = doors[0].session(ttl="1h")
        hold = doors[0].acquire(session, name="y")[1]
        processes[0].terminate()
        self.assertEqual(stream.until("lost")["error"], "node_stopped")
        self.assertEqual(doors[0].ask("DELETE", f"{session}/holds/{hold['hold']}")[0], 204)
        begin = time.monotonic()
        self.assertEqual(processes[0].wait(PATIENCE), 0)
        self.assertLess(time.monotonic() - begin, 2)
        for name in ("x", "y"):
            with doors[1].stream(f"/v1/hold/{name}") as later:
                self.assertGreater(int(later.begin()["token"]), token)

    def test_waiters_that_left_have_no_sessions(self):
        door = Door(self.directory)
        self.keep(door.process)
        waiters = lambda: door.get("/v1/locks/x")["waiters"]
        with door.stream("/v1/hold/x") as holder:
            holder.begin()
            streams = [door.stream("/v1/hold/x") for _ in range(5)]
            wait_until(lambda: len(waiters()) == 5)
            for stream in streams:
                stream.close()
            wait_until(lambda: not waiters())
            wait_until(lambda: door.get("/v1/status")["sessions"] == 1)

    def test_a_stream_outlives_what_its_node_vouches_for(self):
        config = self.directory / "1.toml"
        config.write_text(config_text(1, free_ports(1), self.directory, session_ttl="3s"),
                          encoding="utf-8")
        door = Door(self.directory, config=config)
        self.keep(door.process)
        with door.stream("/v1/hold/x?ttl=1m") as stream:
            told = stream.begin()["valid_ms"]
            while told < 8_000:  # from its request on
                alive = stream.line()
                self.assertEqual(alive["event"], "alive")
                told = alive["valid_ms"]

    def start(self, config):
        return self.keep(start("node", "--config", config, "--http", "127.0.0.1:0"))

    def door_of(self, process):
        door = Door.__new__(Door)
        door.process, door.said = process, []
        door.find()
        return door

    def test_a_node_that_is_closed_tells_its_streams(self):
        door = Door(self.directory)
        self.keep(door.process)
        stream = door.stream("/v1/hold/x")
        stream.begin()
        door.process.send_signal(signal.SIGTERM)
        lost = stream.until("lost")
        self.assertTrue(lost is None or lost["error"] in ("node_stopped", "session_expired"), lost)
        self.assertEqual(door.process.wait(PATIENCE), 0)


if __name__ == "__main__":
    unittest.main()
