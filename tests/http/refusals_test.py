"""What the door refuses, and what it says then: refusals_test.py PROGRAM"""

import json
import unittest

from door import Door, DoorCase, Raw
from program import Case, config_text, free_ports, run, wait_until

USAGE, NO_INPUT, DENIED = 64, 66, 77


class Refusals(DoorCase):
    def post(self, path, text):
        raw = Raw(self.door).request(f"POST {path}", "Content-Type: application/json",
                                     "Connection: close", f"Content-Length: {len(text)}")
        answer = raw.send(text).rest()
        return int(answer.split()[1]), json.loads(answer.split("\r\n\r\n")[1])

    def expect(self, status, words, told):
        self.assertEqual(told[0], status, told)
        self.assertIn(words, told[1]["reason"])

    def test_what_is_malformed(self):
        for path, words in (("/v1/hold/%zz", "percent sign"), ("/v1/locks/a%2", "percent sign"),
                            ("/v1/hold/x?confirm=yes", "`confirm` is 1 or 0")):
            self.expect(400, words, self.door.ask("GET", path))
        session = self.door.session()
        for wish, words in (({"names": ["a"], "any": "yes"}, "`any` is true or false"),
                            ({}, "`name` or `names`"), ({"wait": "1s"}, "`name` or `names`"),
                            ({"name": "a", "names": ["b"]}, "`name` or `names`"),
                            ({"name": "a", "permits": 1}, "`limit`")):
            self.expect(400, words, self.door.acquire(session, **wish))

    def test_a_campaign_has_what_counts_for_it(self):
        for more in ("mode=shared", "mode=exclusive", "permits=1&limit=2", "limit=2"):
            self.expect(400, "there is no", self.door.ask("GET", f"/v1/lead/{self.name}?{more}"))
        session = self.door.session()
        for more in ({"mode": "shared"}, {"permits": 1, "limit": 1}, {"names": ["a"]},
                     {"any": True}):
            told = self.door.acquire(session, name=self.name, campaign="me", **more)
            self.expect(400, "there is no", told)
        long = "x" * 4001
        self.expect(400, "4000", self.door.ask("GET", f"/v1/lead/{self.name}?value={long}"))
        self.expect(400, "4000", self.door.acquire(session, name=self.name, campaign=long))
        self.assertEqual(self.door.acquire(session, name=self.name, campaign=long[1:])[0], 201)

    def test_one_attempt_of_a_campaign_is_busy(self):
        with self.door.stream(f"/v1/lead/{self.name}") as leader:
            leader.begin()
            told = self.door.ask("GET", f"/v1/lead/{self.name}?wait=0s")
            self.assertEqual((told[0], told[1]["error"]), (409, "busy"))
            told = self.door.acquire(self.door.session(), name=self.name, campaign="", wait="0s")
            self.assertEqual((told[0], told[1]["error"]), (409, "busy"))
            told = self.door.ask("GET", f"/v1/lead/{self.name}?wait=50ms")
            self.assertEqual((told[0], told[1]["error"]), (409, "timed_out"))

    def test_a_key_that_an_object_has_twice(self):
        holds = self.door.session() + "/holds"
        for text in ('{"name":"a","name":"b"}', '{"name":"a","na\\u006de":"a"}',
                     '{"names":["a",{"name":"b","name":"c"}]}'):
            self.expect(400, "once", self.post(holds, text))
        self.assertEqual(
            self.post(holds, json.dumps({"names": [{"name": self.name + "/1"},
                                                   {"name": self.name + "/2"}]}))[0], 201)

    def test_a_method_that_the_path_does_not_have(self):
        for line, methods in (("PUT /v1/locks", "GET"), ("PUT /v1/status", "GET, HEAD"),
                              ("PUT /v1/sessions/x", "GET, DELETE"), ("HEAD /v1/hold/x", "GET")):
            answer = Raw(self.door).request(line).rest()
            self.assertRegex(answer, rf"\AHTTP/1.1 405 (.|\r\n)*\r\nAllow: {methods}\r\n")
            if not line.startswith("HEAD"):
                self.assertIn(f"has the methods {methods}", answer)
        answer = Raw(self.door).request("HEAD /v1/status", "Connection: close").rest()
        self.assertRegex(answer, r"\AHTTP/1.1 200 ")
        self.assertTrue(answer.endswith("\r\n\r\n"))

    def test_a_target_with_a_host_in_it(self):
        for line in (f"GET http://{self.door.host}:{self.door.port}/v1/status", "OPTIONS *"):
            raw = Raw(self.door).request(line, "Connection: close")
            answer = raw.rest()
            self.assertRegex(answer, r"\AHTTP/1.1 400 ")
            self.assertIn("a path alone", answer)


class Lost(DoorCase):
    """A hold that was lost, in a session that goes on."""

    def test_it_says_why_and_is_in_the_way(self):
        session = self.door.session()
        wish = {"name": self.name, "max_hold": "200ms"}
        _, hold = self.door.acquire(session, "k", **wish)
        path = f"{session}/holds/{hold['hold']}"
        wait_until(lambda: self.door.ask("GET", path)[0] != 200, 10)
        gone = (410, {"error": "lock_lost", "reason": "why: expired"})
        self.assertEqual(self.door.ask("GET", path), gone)
        self.assertEqual(self.door.acquire(session, "k", **wish), gone)
        self.assertEqual(self.door.get(session)["holds"][0]["why"], "expired")
        status, told = self.door.acquire(session, name=self.name)
        self.assertEqual((status, told["error"]), (410, "lock_lost"))
        self.assertIn("release that one", told["reason"])
        self.assertEqual(self.door.ask("DELETE", path), gone)
        self.assertEqual(self.door.acquire(session, name=self.name)[0], 201)

    def test_what_is_held_is_not_shared_with_several(self):
        session, one, other = self.door.session(), self.name + "/1", self.name + "/2"
        self.assertEqual(self.door.acquire(session, name=one)[0], 201)
        told = self.door.acquire(session, names=[one, other])
        self.assertEqual((told[0], told[1]["error"]), (409, "deadlock"))
        session = self.door.session()
        self.assertEqual(self.door.acquire(session, names=[other, self.name])[0], 201)
        told = self.door.acquire(session, name=other)
        self.assertEqual((told[0], told[1]["error"]), (409, "deadlock"))


class Command(Case):
    def refused(self, *words):
        result = run("node", "--config", self.config, *words)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        return result.returncode, result.stderr

    def setUp(self):
        super().setUp()
        self.config = self.directory / "mortise.toml"
        self.config.write_text(config_text(1, free_ports(1), self.directory), encoding="utf-8")
        self.tokens = self.directory / "tokens"

    def expect(self, code, text, *words):
        returned, said = self.refused(*words)
        self.assertEqual(returned, code, said)
        self.assertIn(text, said)

    def test_an_option_needs_its_door(self):
        self.expect(USAGE, "--http", "--http-host", "x")
        self.expect(USAGE, "--console", "--console-host", "x")
        self.expect(USAGE, "127.0.0.1:7481 or [::1]:7481", "--http", "nonsense")

    def test_a_file_of_tokens_is_a_secret(self):
        words = ("--http", "127.0.0.1:0", "--http-tokens", self.tokens)
        self.expect(NO_INPUT, "No such file", *words)
        line = "0123456789abcdef alice client\n"
        self.tokens.write_text(line, encoding="utf-8")
        self.tokens.chmod(0o644)
        self.expect(DENIED, "chmod 600", *words)
        self.tokens.chmod(0o600)
        self.tokens.write_text("# twice\n" + line + line.replace("client", "observer"),
                               encoding="utf-8")
        self.expect(USAGE, "tokens:3: line 2 has this token", *words)


class Unknown(Case):
    def test_a_token(self):
        tokens = self.directory / "tokens"
        tokens.write_text("0123456789abcdef alice client\n", encoding="utf-8")
        tokens.chmod(0o600)
        door = Door(self.directory, "--http-tokens", tokens)
        self.keep(door.process)
        for headers, words in (({}, "a request has a token"),
                               ({"Authorization": "Bearer 0123456789abcdeg"}, "is not known")):
            status, told = door.ask("GET", "/v1/status", **headers)
            self.assertEqual(status, 401)
            self.assertIn(words, told["reason"])


if __name__ == "__main__":
    unittest.main()
