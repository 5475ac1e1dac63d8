"""What the door of `mortise node --http` answers: api_test.py PROGRAM."""

import json
import re
import time
import unittest
from pathlib import Path

from door import DoorCase, Raw
from program import USAGE, Case, config_text, free_ports, run, wait_until

ROOT = Path(__file__).resolve().parents[2]


class Streams(DoorCase):
    def test_a_connection_holds_until_it_is_closed(self):
        with self.door.stream(f"/v1/hold/{self.name}/42?ttl=1s&label=me") as stream:
            granted = stream.begin()
            self.assertEqual((granted["event"], granted["name"], granted["mode"]),
                             ("granted", f"{self.name}/42", "exclusive"))
            since = 1000 * (time.monotonic() - stream.sent)
            self.assertTrue(0 < granted["valid_ms"] <= 1000 + since, granted)
            alive = stream.line()
            self.assertEqual(alive["event"], "alive")
            self.assertGreater(alive["valid_ms"], granted["valid_ms"])
            self.assertEqual(self.holders(f"{self.name}/42")[0]["label"], "me")
            status, busy = self.door.ask("GET", f"/v1/hold/{self.name}/42?wait=0s")
            self.assertEqual((status, busy["error"]), (409, "busy"))
            status, late = self.door.ask("GET", f"/v1/hold/{self.name}/42?wait=50ms")
            self.assertEqual((status, late["error"]), (409, "timed_out"))
        with self.door.stream(f"/v1/hold/{self.name}/42") as stream:
            self.assertGreater(int(stream.begin()["token"]), int(granted["token"]))

    def test_the_next_one_waits_its_turn(self):
        first = self.door.stream(f"/v1/hold/{self.name}")
        token = int(first.begin()["token"])
        with self.door.stream(f"/v1/hold/{self.name}") as second:
            wait_until(lambda: self.door.get(f"/v1/locks/{self.name}")["waiters"])
            first.close()
            self.assertGreater(int(second.begin()["token"]), token)

    def test_who_stops_waiting_is_out_of_the_queue(self):
        with self.door.stream(f"/v1/hold/{self.name}") as holder:
            holder.begin()
            waiter = self.door.stream(f"/v1/hold/{self.name}")
            wait_until(lambda: self.door.get(f"/v1/locks/{self.name}")["waiters"])
            waiter.close()
            wait_until(lambda: not self.door.get(f"/v1/locks/{self.name}")["waiters"])

    def test_shared_holders_are_several(self):
        with self.door.stream(f"/v1/hold/{self.name}?mode=shared") as one, \
                self.door.stream(f"/v1/hold/{self.name}?mode=shared") as other:
            one.begin()
            other.begin()
            self.assertEqual(len(self.holders()), 2)

    def test_permits_have_numbers(self):
        with self.door.stream(f"/v1/hold/{self.name}?permits=2&limit=3") as stream:
            self.assertEqual(stream.begin()["slots"], [0, 1])
            status, _ = self.door.ask("GET", f"/v1/hold/{self.name}?permits=2&limit=3&wait=0s")
            self.assertEqual(status, 409)

    def test_a_loss_is_a_line_and_the_end(self):
        with self.door.stream(f"/v1/hold/{self.name}?max_hold=300ms") as stream:
            stream.begin()
            lost = stream.until("lost")
            self.assertEqual((lost["error"], lost["reason"]), ("lock_lost", "why: expired"))
            self.assertIsNone(stream.line())

    def test_a_client_that_has_to_confirm_and_does_not_is_out(self):
        with self.door.stream(f"/v1/hold/{self.name}?ttl=1s&confirm=1") as stream:
            session = "/v1/sessions/" + stream.begin()["session"]
            for _ in range(6):  # a line comes three times within the ttl
                self.assertEqual(stream.line()["event"], "alive")
                self.assertEqual(self.door.ask("POST", session + "/alive")[0], 200)
            self.assertEqual(len(self.holders()), 1)
            self.assertEqual(stream.until("lost")["error"], "session_expired")
        wait_until(lambda: not self.holders())

    def test_its_session_can_be_asked_and_ended(self):
        with self.door.stream(f"/v1/hold/{self.name}") as stream:
            granted = stream.begin()
            session = "/v1/sessions/" + granted["session"]
            hold = self.door.get(f"{session}/holds/{granted['hold']}")
            self.assertEqual((hold["token"], hold["state"]), (granted["token"], "held"))
            self.assertGreater(hold["valid_ms"], 0)
            self.assertEqual(self.door.ask("DELETE", session)[0], 204)
            self.assertEqual(stream.until("lost")["error"], "session_expired")
        wait_until(lambda: not self.holders())

    def test_a_leader_publishes_and_is_followed(self):
        follower = self.door.stream(f"/v1/follow/{self.name}")
        self.addCleanup(follower.close)
        self.assertEqual(follower.begin(), {"leader": None})
        with self.door.stream(f"/v1/lead/{self.name}?value=10.0.0.7%3A80") as leader:
            token = leader.begin()["token"]
            now = {"leader": {"value": "10.0.0.7:80", "token": token, "node": 1}}
            self.assertEqual(follower.line(), now)
            self.assertEqual(self.door.get(f"/v1/leader/{self.name}"), now)
            leader.close()
            self.assertEqual(follower.line(), {"leader": None})

    def test_events_are_told_in_order(self):
        events = self.door.stream(f"/v1/events?prefix={self.name}")
        events.answer = events.connection.getresponse()
        self.assertEqual(events.answer.getheader("Content-Type"), "text/event-stream")
        with self.door.stream(f"/v1/hold/{self.name}") as stream:
            token = stream.begin()["token"]
        kinds = []
        position = ""
        line = None
        while "released" not in kinds or line:
            line = events.answer.readline().decode().strip()
            if line.startswith("event: "):
                kinds.append(line[7:])
            if line.startswith("id: "):
                position = line[4:]
            if kinds[-1:] == ["granted"] and line.startswith("data: "):
                self.assertEqual(json.loads(line[6:])["holder"]["token"], token)
        self.assertEqual(kinds, ["gap", "state_complete", "granted", "released"])
        events.close()
        later = self.door.stream(f"/v1/events?prefix={self.name}",
                                 **{"Last-Event-ID": position})
        later.answer = later.connection.getresponse()
        with self.door.stream(f"/v1/hold/{self.name}") as stream:
            stream.begin()
            while not (line := later.answer.readline()).startswith(b"event:"):
                pass
            self.assertEqual(line, b"event: granted\n")
        later.close()


class Sessions(DoorCase):
    def test_a_session_has_holds_and_ends_with_its_time(self):
        session = self.door.session(ttl="1s", label="me")
        sent = time.monotonic()
        status, hold = self.door.acquire(session, name=self.name, wait="0s")
        self.assertEqual((status, hold["name"], hold["hold"]), (201, self.name, "1"))
        since = 1000 * (time.monotonic() - sent)
        self.assertTrue(0 < hold["valid_ms"] <= 1000 + since, hold)
        self.assertEqual(self.holders()[0]["label"], "me")
        while time.monotonic() < sent + 1.5:
            told = self.door.ask("POST", session + "/alive")[1]
            self.assertEqual(told["holds"][0]["state"], "held")
        self.assertEqual(len(self.holders()), 1)
        wait_until(lambda: not self.holders(), 5)
        status, told = self.door.ask("POST", session + "/alive")
        self.assertEqual((status, told["error"]), (404, "session_expired"))

    def test_several_names_are_taken_together_or_one_of_them(self):
        one, other = self.name + "/1", self.name + "/2"
        session = self.door.session()
        status, both = self.door.acquire(session, names=[one, {"name": other, "mode": "shared"}])
        self.assertEqual(status, 201)
        self.assertEqual([(each["name"], each["mode"]) for each in both["locks"]],
                         [(one, "exclusive"), (other, "shared")])
        free = self.door.session()
        status, _ = self.door.acquire(free, names=[one, other], wait="0s")
        self.assertEqual(status, 409)
        status, some = self.door.acquire(free, names=[one, self.name + "/3"], any=True)
        self.assertEqual((status, some["name"]), (201, self.name + "/3"))
        self.assertEqual(self.door.ask("DELETE", f"{session}/holds/{both['hold']}")[0], 204)
        self.assertEqual(self.door.acquire(free, names=[one, other], wait="0s")[0], 201)
        self.assertEqual(self.door.ask("DELETE", session)[0], 204)
        self.assertEqual(self.door.ask("DELETE", free)[0], 204)
        wait_until(lambda: not self.holders(other))

    def test_a_release_is_one(self):
        session = self.door.session()
        hold = f"{session}/holds/{self.door.acquire(session, name=self.name)[1]['hold']}"
        self.assertEqual(self.door.get(hold)["name"], self.name)
        self.assertEqual(self.door.ask("DELETE", hold), (204, None))
        for method in ("DELETE", "GET"):
            status, told = self.door.ask(method, hold)
            self.assertEqual((status, told["error"]), (410, "not_held"))
            for other in ("2", "0", "-1", "1x", "x"):
                status, told = self.door.ask(method, f"{session}/holds/{other}")
                self.assertEqual((status, told["error"]), (404, "not_found"), other)

    def test_what_a_session_holds_it_shares(self):
        session = self.door.session()
        first = self.door.acquire(session, name=self.name)[1]
        again = self.door.acquire(session, name=self.name)[1]
        self.assertEqual(first["token"], again["token"])
        self.assertEqual(self.door.ask("DELETE", f"{session}/holds/{first['hold']}")[0], 204)
        self.assertEqual(self.door.ask("GET", f"{session}/holds/{again['hold']}")[0], 200)
        self.assertEqual(self.door.ask("DELETE", f"{session}/holds/{again['hold']}")[0], 204)
        wait_until(lambda: not self.holders())

    def test_permits_and_campaigns(self):
        session = self.door.session()
        self.assertEqual(
            self.door.acquire(session, name=self.name, permits=2, limit=2)[1]["slots"], [0, 1])
        self.assertEqual(self.door.acquire(session, name=self.name + "/e", campaign="a")[0], 201)
        self.assertEqual(self.door.get(f"/v1/leader/{self.name}/e")["leader"]["value"], "a")
        status, told = self.door.acquire(self.door.session(), name=self.name, wait="0s")
        self.assertEqual((status, told["error"]), (409, "kind_mismatch"))

    def test_a_lost_hold_says_so(self):
        session = self.door.session()
        _, hold = self.door.acquire(session, name=self.name, max_hold="200ms")
        path = f"{session}/holds/{hold['hold']}"
        wait_until(lambda: self.door.ask("GET", path)[0] != 200, 10)
        status, told = self.door.ask("GET", path)
        self.assertEqual((status, told["error"]), (410, "lock_lost"))
        told = self.door.ask("POST", session + "/alive")[1]["holds"][0]
        self.assertEqual((told["state"], told["valid_ms"]), ("lost", 0))

    def test_a_wait_cycle_is_told(self):
        one, other = self.door.session(label="one"), self.door.session(label="other")
        self.door.acquire(one, name=self.name + "/1")
        self.door.acquire(other, name=self.name + "/2")
        raw = Raw(self.door).acquire(one, name=self.name + "/2")
        wait_until(lambda: self.door.get(f"/v1/locks/{self.name}/2")["waiters"])
        status, told = self.door.acquire(other, name=self.name + "/1")
        self.assertEqual((status, told["error"]), (409, "deadlock"))
        self.assertIn("one", told["reason"])
        self.door.ask("DELETE", other)
        self.assertEqual(raw.status(), 201)

    def test_a_request_that_waits_keeps_its_session(self):
        session = self.door.session(ttl="1s")
        with self.door.stream(f"/v1/hold/{self.name}?ttl=1s") as stream:
            stream.begin()
            raw = Raw(self.door).acquire(session, name=self.name)
            while time.monotonic() < stream.sent + 2.5:
                self.assertEqual(stream.line()["event"], "alive")
        self.assertEqual(raw.json()["name"], self.name)

    def test_a_request_whose_client_has_gone_holds_nothing(self):
        session = self.door.session()
        with self.door.stream(f"/v1/hold/{self.name}") as stream:
            stream.begin()
            raw = Raw(self.door).acquire(session, name=self.name)
            wait_until(lambda: self.door.get(f"/v1/locks/{self.name}")["waiters"])
            raw.close()
            wait_until(lambda: not self.door.get(f"/v1/locks/{self.name}")["waiters"])


class Repeated(DoorCase):
    """A request that is repeated with its key is the same one."""

    def waiting(self):
        return len(self.door.get(f"/v1/locks/{self.name}")["waiters"])

    def streams(self):
        return self.door.get("/v1/status")["streams"]

    def repeat(self, session, streams):
        """One more connection that waits; with it there are so many."""
        raw = Raw(self.door).acquire(session, "Idempotency-Key: k", name=self.name)
        wait_until(lambda: self.streams() == streams)
        return raw

    def test_it_has_the_same_hold(self):
        session = self.door.session()
        first = self.door.acquire(session, "k", name=self.name)
        again = self.door.acquire(session, "k", name=self.name)
        self.assertEqual([status for status, _ in (first, again)], [201, 201])
        self.assertEqual([again[1][part] for part in ("hold", "token")],
                         [first[1][part] for part in ("hold", "token")])
        self.assertGreater(again[1]["valid_ms"], 0)
        held = self.door.get(session)["holds"]
        self.assertEqual([(each["hold"], each["key"]) for each in held], [("1", "k")])
        other = self.door.acquire(session, "other", name=self.name)[1]
        self.assertNotEqual(other["hold"], first[1]["hold"])
        for hold in (first[1]["hold"], other["hold"]):
            self.assertEqual(self.door.ask("DELETE", f"{session}/holds/{hold}")[0], 204)
        self.assertEqual(self.holders(), [])
        status, later = self.door.acquire(session, "k", name=self.name)
        self.assertEqual(status, 201)
        self.assertGreater(int(later["token"]), int(first[1]["token"]))

    def test_it_keeps_its_session_alive(self):
        session = self.door.session(ttl="1s")
        begin = time.monotonic()
        while time.monotonic() < begin + 1.5:
            self.assertEqual(self.door.acquire(session, "k", name=self.name)[1]["hold"], "1")

    def test_a_key_is_of_its_session(self):
        one, other = self.door.session(), self.door.session()
        self.assertEqual(self.door.acquire(one, "k", name=self.name)[0], 201)
        self.assertEqual(self.door.acquire(other, "k", name=self.name, wait="0s")[1]["error"],
                         "busy")

    def test_it_waits_with_the_first_one_and_instead_of_it(self):
        session = self.door.session()
        with self.door.stream(f"/v1/hold/{self.name}") as holder:
            holder.begin()
            first = self.repeat(session, 2)
            wait_until(self.waiting)
            later = self.door.stream(f"/v1/hold/{self.name}")
            wait_until(lambda: self.waiting() == 2)
            others = [self.repeat(session, streams) for streams in (4, 5)]
            first.close()
            wait_until(lambda: self.streams() == 4)
            self.assertEqual(self.waiting(), 2)
        told = [raw.json() for raw in others]
        self.assertEqual([each["hold"] for each in told], ["1", "1"])
        self.assertEqual(told[0]["token"], self.holders()[0]["token"])
        self.assertEqual(len(self.door.get(session)["holds"]), 1)
        self.assertEqual(self.door.ask("DELETE", f"{session}/holds/1")[0], 204)
        self.assertGreater(int(later.begin()["token"]), int(told[0]["token"]))
        later.close()

    def test_when_all_have_left_nothing_waits_and_the_key_is_free(self):
        session = self.door.session()
        with self.door.stream(f"/v1/hold/{self.name}") as holder:
            holder.begin()
            both = [self.repeat(session, streams) for streams in (2, 3)]
            wait_until(self.waiting)
            for raw in both:
                raw.close()
            wait_until(lambda: not self.waiting() and self.streams() == 1)
            later = self.repeat(session, 2)
            wait_until(self.waiting)
        self.assertEqual(later.json()["token"], self.holders()[0]["token"])

    def test_its_end_is_told_to_all(self):
        session = self.door.session()
        with self.door.stream(f"/v1/hold/{self.name}") as holder:
            holder.begin()
            both = [self.repeat(session, streams) for streams in (2, 3)]
            self.door.ask("DELETE", session)
            self.assertEqual([raw.json()["error"] for raw in both], 2 * ["session_expired"])

    def test_another_request_has_another_key(self):
        session = self.door.session()
        self.assertEqual(self.door.acquire(session, "k", name=self.name)[0], 201)
        status, told = self.door.acquire(session, "k", name=self.name, mode="shared")
        self.assertEqual((status, told["error"]), (422, "key_reused"))
        other = self.door.session()
        waits = self.repeat(other, 1)
        wait_until(self.waiting)
        self.assertEqual(self.door.acquire(other, "k", name=self.name + "/2")[0], 422)
        self.assertEqual(self.waiting(), 1)
        self.door.ask("DELETE", session)
        self.assertEqual(waits.json()["hold"], "1")

    def test_what_was_refused_is_asked_again(self):
        session = self.door.session()
        with self.door.stream(f"/v1/hold/{self.name}") as holder:
            holder.begin()
            for _ in range(2):
                self.assertEqual(self.door.acquire(session, "k", name=self.name, wait="0s")[0], 409)
        wait_until(lambda: not self.holders())
        self.assertEqual(self.door.acquire(session, "k", name=self.name, wait="0s")[0], 201)

    def test_a_loss_is_told(self):
        session = self.door.session()
        wish = {"name": self.name, "max_hold": "200ms"}
        self.assertEqual(self.door.acquire(session, "k", **wish)[0], 201)
        wait_until(lambda: self.door.acquire(session, "k", **wish)[0] != 201, 10)
        status, told = self.door.acquire(session, "k", **wish)
        self.assertEqual((status, told["error"]), (410, "lock_lost"))

    def test_a_key_is_short_and_one(self):
        session = self.door.session()
        self.assertEqual(self.door.acquire(session, "k" * 64, name=self.name)[0], 201)
        for key in ("", "k" * 65):
            self.assertEqual(self.door.acquire(session, key, name=self.name)[0], 400, key)
        raw = Raw(self.door).acquire(session, "Idempotency-Key: a", "Idempotency-Key: b",
                                     "Connection: close", name=self.name)
        self.assertEqual(raw.status(), 400)


class Reads(DoorCase):
    def test_names_may_have_any_bytes(self):
        for encoded, shown in (("a%2Fb%20c/%3F", "a/b c/?"), ("%E2%82%AC", "€"),
                               ("%00%ff", {"hex": "00ff", "shown": "\\x00\\xff"}),
                               ("x%2e%2e/..y", "x../..y"), ("a+b", "a+b"), ("n" * 512, "n" * 512)):
            with self.subTest(name=encoded), self.door.stream("/v1/hold/" + encoded) as stream:
                self.assertEqual(stream.begin()["name"], shown)
                listed = [lock["name"] for lock in self.door.get("/v1/locks")["locks"]
                          if lock["holders"] and not str(lock["name"]).startswith("test")]
                self.assertEqual(listed, [shown])
                self.assertTrue(self.holders(encoded))
        session = self.door.session()
        self.assertEqual(self.door.acquire(session, name={"hex": "00ff"})[0], 201)

    def test_a_listing_has_pages(self):
        session = self.door.session()
        for number in range(5):
            self.door.acquire(session, name=f"{self.name}/{number}")
        page = self.door.get(f"/v1/locks?prefix={self.name}/&limit=3")
        self.assertEqual([lock["name"][-1] for lock in page["locks"]], ["0", "1", "2"])
        rest = self.door.get(f"/v1/locks?prefix={self.name}/&after={page['next']}&limit=3&local=1")
        self.assertEqual(([lock["name"][-1] for lock in rest["locks"]], rest["next"]),
                         (["3", "4"], None))

    def test_what_is_misspelt_is_refused(self):
        session = self.door.session()
        for method, path, body in (
                ("GET", "/v1/hold/x?mod=shared", None), ("GET", "/v1/hold/x?mode=write", None),
                ("GET", "/v1/hold/x?wait=5", None), ("GET", "/v1/hold/x?wait=-1s", None),
                ("GET", "/v1/hold/x?ttl=1ms", None), ("GET", "/v1/hold/x?ttl=2h", None),
                ("GET", "/v1/hold/x?wait=1s&wait=2s", None), ("GET", "/v1/hold/x?permits=2", None),
                ("GET", "/v1/hold/%zz", None), ("GET", "/v1/hold/x?label=%f", None),
                ("GET", "/v1/hold/" + "n" * 513, None), ("GET", "/v1/locks?limit=0", None),
                ("GET", "/v1/locks?limit=1001", None), ("GET", "/v1/events?from=x", None),
                ("POST", "/v1/sessions", {"TTL": "1s"}), ("POST", "/v1/sessions", [1]),
                ("POST", session + "/holds", {}), ("POST", session + "/holds", {"name": 7}),
                ("POST", session + "/holds", {"name": "a", "names": ["b"]}),
                ("POST", session + "/holds", {"names": [{"name": "a", "mode": "x"}]}),
                ("POST", session + "/holds", {"names": []}),
                ("POST", session + "/holds", {"names": [str(i) for i in range(65)]}),
                ("POST", session + "/holds", {"name": "a", "priority": 8}),
                ("POST", session + "/holds", {"name": "a", "any": "yes"})):
            with self.subTest(method=method, path=path, body=body):
                status, told = self.door.ask(method, path, body)
                self.assertIn(status, (400, 404), told)
                self.assertTrue(told["error"] and told["reason"])
        for method, path, status in (("PUT", "/v1/locks", 405), ("DELETE", "/v1/hold/x", 405),
                                     ("HEAD", "/v1/hold/x", 405), ("GET", "/v1/nothing", 404),
                                     ("GET", "/", 404), ("GET", "/v1/hold/", 404),
                                     ("GET", "/v1/sessions/none", 404)):
            self.assertEqual(self.door.ask(method, path)[0], status, (method, path))

    def test_status(self):
        status = self.door.get("/v1/status")
        self.assertEqual((status["node"], status["ready"]), (1, True))


class Description(DoorCase):
    """embed/door/openapi.json describes what the door answers, and nothing else."""

    def setUp(self):
        super().setUp()
        self.told = self.door.get("/v1/openapi.json")

    def test_it_has_every_path_with_its_method(self):
        described = {(method.upper(), path) for path, methods in self.told["paths"].items()
                     for method in methods}
        source = (ROOT / "embed/door/routes.hpp").read_text(encoding="utf-8")
        routes = set(re.findall(r'Route\{"([A-Z]+)", "([^"]+)"', source))
        self.assertGreater(len(routes), 10)
        self.assertEqual(described, routes)

    def test_every_path_is_answered_and_no_other_method(self):
        for path, methods in self.told["paths"].items():
            target = re.sub(r"\{\w+\}", "none", path)
            for method in ("GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"):
                raw = Raw(self.door)
                body = "Content-Length: 0" if method == "POST" else "X: y"
                raw.request(f"{method} {target}", body)
                raw.socket.settimeout(60)
                answer = raw.socket.recv(4096).decode()
                raw.close()
                is_known = method.lower() in methods
                self.assertEqual(" 405 " in answer.split("\r\n")[0], not is_known,
                                 (method, target, answer))

    def test_its_parameters_are_those_that_are_read(self):
        for path, methods in self.told["paths"].items():
            for described in methods.values():
                for each in described.get("parameters", []):
                    if each["in"] != "query":
                        continue
                    target = re.sub(r"\{\w+\}", self.name, path)
                    told = self.door.ask("GET", f"{target}?{each['name']}=%00")[1] \
                        if each["schema"].get("enum") or "pattern" in each["schema"] else {}
                    self.assertNotIn("there is no", (told or {}).get("reason", ""), (path, each))

    def test_references_lead_somewhere(self):
        for ref in set(re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(self.told))):
            found = self.told
            for part in ref.split("/"):
                found = found[part]

    def test_the_page_has_every_path_and_every_error(self):
        page = (ROOT / "docs/http.md").read_text(encoding="utf-8")
        for path in self.told["paths"]:
            self.assertIn(path.replace("{name}", "NAME").replace("{session}", "SESSION")
                          .replace("{hold}", "HOLD"), page)
        words = {word for folder in ("embed/door", "embed/http")
                 for file in (ROOT / folder).glob("*.cpp")
                 for word in re.findall(r'\{\s*(?:\d{3}|status), "([a-z_]+)"',
                                        file.read_text(encoding="utf-8"))}
        self.assertGreater(len(words), 8)
        self.assertEqual({word for word in words if f"`{word}`" not in page}, set())


class Command(Case):
    def test_mistakes_are_told_in_one_line(self):
        config = self.directory / "mortise.toml"
        config.write_text(config_text(1, free_ports(1), self.directory), encoding="utf-8")
        tokens = self.directory / "tokens"
        tokens.write_text("0123456789abcdef alice client\n", encoding="utf-8")
        tokens.chmod(0o644)
        bad = self.directory / "bad"
        bad.write_text("0123456789abcdef alice king\n", encoding="utf-8")
        bad.chmod(0o600)
        for words, text in ((["--http", "7481"], "ADDRESS:PORT"),
                            (["--http", "0.0.0.0:0"], "--http-remote"),
                            (["--http-remote"], "--http"),
                            (["--http", "127.0.0.1:0", "--http-host", "http://a"], "http://a"),
                            (["--http", "127.0.0.1:0", "--http-tokens", tokens], "chmod 600"),
                            (["--http", "127.0.0.1:0", "--http-tokens", bad], "bad:1: a role")):
            with self.subTest(words=words):
                result = run("node", "--config", config, *words)
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(text, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertFalse((self.directory / "node-1").exists(), "no node before that")
        self.assertEqual(run("node", "--config", config, "--http", "x").returncode, USAGE)


if __name__ == "__main__":
    unittest.main()
