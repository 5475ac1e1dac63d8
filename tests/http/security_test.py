"""Whom the door answers, and what nobody can do to it: security_test.py PROGRAM."""

import json
import resource
import select
import ssl
import tempfile
import time
import unittest
from pathlib import Path

from door import Door, DoorCase, Raw
from program import Case, config_text, free_ports, run, tls_lines, wait_until

BODY = "Content-Type: application/json"


class Strangers(DoorCase):
    words = ("--http-host", "door.example")

    def status(self, line, *headers, host=None):
        raw = Raw(self.door)
        if host is not None:
            raw.own = host
        return raw.request(line, "Connection: close", *headers).status()

    def test_only_its_own_names_are_answered(self):
        for host, status in (("Host: localhost\r\n", 200), ("Host: 127.0.0.1:9\r\n", 200),
                             ("Host: evil.example\r\n", 403), ("Host: 127.0.0.1.evil\r\n", 403),
                             ("", 400), ("Host: localhost\r\nHost: evil.example\r\n", 400)):
            self.assertEqual(self.status("GET /v1/status", host=host), status, host)
        self.assertEqual(self.status("GET http://localhost/v1/status",
                                     host="Host: evil.example\r\n"), 403)

    def test_requests_of_web_sites_are_refused(self):
        own = f"Origin: http://{self.door.host}:{self.door.port}"
        self.assertEqual(self.status("GET /v1/status", own), 200)
        for header in ("Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site",
                       "Sec-Fetch-Site: same-site"):
            self.assertEqual(self.status(f"GET /v1/hold/{self.name}", header), 403, header)
            self.assertEqual(self.status("POST /v1/sessions", header), 403, header)
        self.assertEqual(self.status(f"GET /v1/hold/{self.name}", "Sec-Fetch-Site: cross-site",
                                     "Sec-Fetch-Mode: navigate"), 403)
        self.assertEqual(self.holders(), [])
        for body in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            raw = Raw(self.door).request("POST /v1/sessions", f"Content-Type: {body}",
                                         "Content-Length: 2").send("{}")
            self.assertEqual(raw.status(), 415, body)

    def test_browsers_that_say_nothing_of_their_site_are_refused(self):
        for page, status in (("http://evil.example/a", 403), ("null", 403),
                             (f"http://{self.door.host}:{self.door.port}.evil/", 403),
                             (f"http://{self.door.host}:{self.door.port}/a", 200)):
            self.assertEqual(self.status("GET /v1/status", f"Referer: {page}"), status, page)
        host = "Host: door.example\r\n"
        for path in (f"hold/{self.name}", f"lead/{self.name}", f"follow/{self.name}", "events"):
            self.assertEqual(self.status(f"GET /v1/{path}", host=host), 403, path)
        self.assertEqual(self.holders(), [])
        self.assertEqual(self.status("GET /v1/locks", host=host), 200)
        raw = Raw(self.door)
        raw.own = host
        raw.request(f"GET /v1/hold/{self.name}", "Mortise-Http: 1")
        wait_until(self.holders)
        raw.close()

    def test_a_request_cannot_hide_in_another(self):
        inner = f"GET /v1/hold/{self.name} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        length = f"Content-Length: {len(inner)}"
        for line, *headers in (
                ("GET /v1/status", length),
                ("GET /v1/status", "Transfer-Encoding: chunked"),
                ("POST /v1/sessions", BODY, "Content-Length: 2", length),
                ("POST /v1/sessions", BODY, "Transfer-Encoding: chunked", length),
                ("POST /v1/sessions", BODY, "Transfer-Encoding: chunked"),
                ("POST /v1/sessions", BODY, "Content-Length: +2"),
                ("POST /v1/sessions", BODY, "Content-Length: 0x2"),
                ("POST /v1/sessions", BODY, "Content-Length : 2"),
                ("DELETE /v1/sessions/none", length)):
            with self.subTest(line=line, headers=headers):
                answer = Raw(self.door).request(line, *headers).send(inner).rest()
                self.assertRegex(answer, r"\AHTTP/1.1 4\d\d ")
                self.assertEqual(answer.count("HTTP/1.1 "), 1, answer)
        self.assertEqual(self.holders(), [])

    def test_what_follows_a_stream_on_its_connection_is_not_read(self):
        raw = Raw(self.door).request(f"GET /v1/hold/{self.name}")
        raw.request(f"GET /v1/hold/{self.name}-2")
        wait_until(self.holders)
        self.assertEqual(self.holders(self.name + "-2"), [])
        raw.close()
        wait_until(lambda: not self.holders())

    def test_requests_in_a_pipe_are_answered_in_turn(self):
        raw = Raw(self.door).request("GET /v1/status").request("GET /v1/locks")
        answer = raw.request("GET /v1/status", "Connection: close").rest()
        self.assertEqual(answer.count("HTTP/1.1 200"), 3)

    def test_a_length_that_says_nothing_is_none(self):
        inner = "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for headers in (("Content-Length: ",), (BODY, "Content-Length: ")):
            answer = Raw(self.door).request("POST /v1/sessions", *headers).send(inner).rest()
            self.assertRegex(answer, r"\AHTTP/1.1 4\d\d ")
            self.assertEqual(answer.count("HTTP/1.1 "), 1, answer)

    def test_heads_with_other_ends_of_lines_are_refused(self):
        for line in ("GET /v1/hold/a%0d%0aX-Evil:%201", "GET /v1/locks/a%00b"):
            answer = Raw(self.door).request(line + "?wait=0s&x=1", "Connection: close").rest()
            self.assertNotIn("X-Evil", answer.split("\r\n\r\n")[0])
        for head in ("GET /v1/status HTTP/1.1\nHost: localhost\n\r\n\r\n",
                     "GET /v1/status HTTP/1.1\r\nHost: localhost\r\nA: b\rc\r\n\r\n",
                     "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n X: folded\r\n\r\n",
                     "GET /v1/sta\x00tus HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            self.assertEqual(Raw(self.door).send(head).status(), 400, head)


class Greed(DoorCase):
    def answers_soon(self):
        begin = time.monotonic()
        wait_until(lambda: self.door.ask("GET", "/v1/status")[0] == 200, 5)
        self.assertLess(time.monotonic() - begin, 5)

    def test_large_and_deep_requests_are_refused(self):
        raw = Raw(self.door).request("POST /v1/sessions", BODY, "Content-Length: 70000")
        self.assertEqual(raw.status(), 413)
        self.assertEqual(Raw(self.door).send("GET /" + "a" * 9000 + " HTTP/1.1\r\n").status(), 431)
        for deep in ("[" * 30000, '{"names":' * 7000, '{"a":' + "[" * 20000 + "]" * 20000 + "}",
                     '{"ttl":"\\"[[[[[[[[[[[["}'):
            status, told = self.raw_body("/v1/sessions", deep)
            self.assertEqual((status, told["error"]), (400, "bad_request"), deep[:20])
        many = json.dumps({"names": [str(i) + "n" * 500 for i in range(100)]})
        session = self.door.session()
        self.assertEqual(self.raw_body(session + "/holds", many)[0], 400)
        self.answers_soon()

    def raw_body(self, path, body):
        answer = Raw(self.door).request(f"POST {path}", BODY, "Connection: close",
                                        f"Content-Length: {len(body)}").send(body).rest()
        return int(answer.split()[1]), json.loads(answer.split("\r\n\r\n")[1])

    def test_slow_and_silent_clients_keep_nobody_out(self):
        held = self.door.stream(f"/v1/hold/{self.name}?ttl=2s")
        held.begin()
        crowd = []
        for number in range(300):
            raw = Raw(self.door)
            if number % 2:
                raw.send("GET /v1/status HTTP/1.1\r\nHost: ")
            crowd.append(raw)
        self.answers_soon()
        for _ in range(6):  # they do not disturb who holds
            self.assertEqual(held.line()["event"], "alive")
        held.close()
        for raw in crowd:
            raw.close()

    def test_a_head_has_five_seconds(self):
        raw = Raw(self.door)
        begin = time.monotonic()
        try:
            for byte in "GET /v1/status HTTP/1.1\r\nX: " + "y" * 100:
                raw.send(byte)
                select.select([raw.socket], [], [], 0.1)  # until the door says something
        except (BrokenPipeError, ConnectionResetError):
            pass
        self.assertLess(time.monotonic() - begin, 9)

    def test_who_does_not_read_its_events_disturbs_nobody(self):
        sessions = [self.door.session(ttl="1m") for _ in range(4)]
        for session in sessions:  # more than fits
            for group in range(40):
                names = [f"{self.name}/{session[-8:]}/{group}/{i}" for i in range(64)]
                self.assertEqual(self.door.acquire(session, names=names)[0], 201)
        silent = [Raw(self.door).request("GET /v1/events") for _ in range(20)]
        with self.door.stream(f"/v1/hold/{self.name}?ttl=1s") as stream:
            stream.begin()
            for _ in range(9):
                self.assertEqual(stream.line()["event"], "alive")
        self.answers_soon()
        events = self.door.stream(f"/v1/events?prefix={self.name}/")
        events.answer = events.connection.getresponse()
        states = 0
        while (line := events.answer.readline()) != b"event: state_complete\n":
            states += line == b"event: state\n"
        self.assertEqual(states, 4 * 40 * 64)
        events.close()
        for raw in silent:
            raw.close()
        for session in sessions:
            self.door.ask("DELETE", session)

    def test_streams_of_events_are_few(self):
        streams = [self.door.stream(f"/v1/follow/{self.name}") for _ in range(64)]
        for stream in streams:
            self.assertEqual(stream.begin(), {"leader": None})
        self.assertEqual(self.door.ask("GET", "/v1/events")[0], 503)
        for stream in streams:
            stream.close()
        wait_until(lambda: self.door.ask("GET", f"/v1/leader/{self.name}")[0] == 200)
        wait_until(lambda: self.follows_again(), 5)

    def follows_again(self):
        raw = Raw(self.door).request(f"GET /v1/follow/{self.name}")
        answer = raw.socket.recv(12)
        raw.close()
        return answer.endswith(b"200")


class Bounds(Case):
    def test_sessions_and_their_holds_are_bounded(self):
        door = Door(self.directory)
        self.keep(door.process)
        session = door.session()
        with door.stream("/v1/hold/busy") as stream:
            stream.begin()
            for _ in range(256):  # what is refused takes no room
                self.assertEqual(door.acquire(session, name="busy", wait="0s")[0], 409)
        for number in range(256):
            self.assertEqual(door.acquire(session, name=str(number))[0], 201)
        status, told = door.acquire(session, name="more")
        self.assertEqual((status, told["error"]), (503, "resource_exhausted"))
        statuses = {door.ask("POST", "/v1/sessions")[0] for _ in range(4200)}
        self.assertEqual(statuses, {201, 503})
        self.assertEqual(door.ask("POST", session + "/alive")[0], 200)


    def test_streams_and_connections_have_half_of_the_descriptors(self):
        door = Door(self.directory, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (300, 300)))
        self.keep(door.process)
        streams = []
        for number in range(114):  # 150 less two for each of 18 connections
            streams.append(door.stream(f"/v1/hold/{number}"))
            self.assertEqual(streams[-1].begin()["event"], "granted")
        for path in ("/v1/hold/more", "/v1/events", "/v1/follow/x"):
            status, told = door.ask("GET", path)
            self.assertEqual((status, told["error"]), (503, "resource_exhausted"), path)
        self.assertEqual(door.get("/v1/status")["streams"], 114)
        for stream in streams:
            stream.close()
        wait_until(lambda: door.get("/v1/status")["streams"] == 0)
        door.stream("/v1/hold/more").begin()


class Tokens(DoorCase):
    @classmethod
    def setUpClass(cls):
        place = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        tokens = place / "tokens"
        tokens.write_text("# who may do what\n\n"
                          "alice-0123456789 alice client\n"
                          "bob-0123456789ab bob client acquire:orders/ observe:orders/\n"
                          "carol-0123456789 carol observer\n"
                          "dave-01234567890 dave client\n", encoding="utf-8")
        tokens.chmod(0o600)
        cls.words = ("--http-tokens", tokens)
        super().setUpClass()

    def as_user(self, token, method, path, body=None):
        return self.door.ask(method, path, body, Authorization=f"Bearer {token}")

    def test_without_a_token_nothing_is_answered(self):
        for headers in ({}, {"Authorization": "Bearer wrong-0123456789"},
                        {"Authorization": "Basic alice-0123456789"},
                        {"Authorization": "Bearer alice-012345678"}):
            for method, path in (("GET", "/v1/status"), ("GET", "/v1/hold/x"),
                                 ("POST", "/v1/sessions"), ("GET", "/v1/openapi.json")):
                status, told = self.door.ask(method, path, **headers)
                self.assertEqual((status, told["error"]), (401, "unauthenticated"))

    def test_roles_and_rules_are_those_of_certificates(self):
        alice, bob, carol = "alice-0123456789", "bob-0123456789ab", "carol-0123456789"
        for token, path, status in (
                (alice, "/v1/locks", 200), (bob, "/v1/locks", 403),
                (bob, "/v1/locks?prefix=orders/", 200), (bob, "/v1/locks/orders/1", 200),
                (bob, "/v1/locks/x", 403), (carol, "/v1/locks", 200),
                (carol, "/v1/hold/x", 403), (bob, "/v1/hold/x", 403), (bob, "/v1/lead/x", 403),
                (bob, "/v1/leader/x", 403), (bob, "/v1/follow/x", 403),
                (bob, "/v1/events", 403), (carol, "/v1/status", 200)):
            self.assertEqual(self.as_user(token, "GET", path)[0], status, (token, path))
        session = "/v1/sessions/" + self.as_user(bob, "POST", "/v1/sessions")[1]["session"]
        for wish, status in (({"name": "orders/1"}, 201), ({"name": "x"}, 403),
                             ({"names": ["orders/2", "x"]}, 403),
                             ({"name": "x", "campaign": ""}, 403)):
            told = self.as_user(bob, "POST", session + "/holds", wish)
            self.assertEqual(told[0], status, (wish, told))

    def test_who_cannot_acquire_has_no_session(self):
        status, told = self.as_user("carol-0123456789", "POST", "/v1/sessions")
        self.assertEqual((status, told["error"]), (403, "permission_denied"))

    def test_one_user_leaves_places_for_others(self):
        alice, dave = "alice-0123456789", "dave-01234567890"
        opened = 0
        while self.as_user(dave, "POST", "/v1/sessions", {"ttl": "1m"})[0] == 201:
            opened += 1
        self.assertEqual(opened, 4096 - 4096 // 8)
        status, told = self.as_user(dave, "GET", f"/v1/hold/{self.name}")
        self.assertEqual((status, told["error"]), (503, "resource_exhausted"))
        self.assertEqual(self.as_user(alice, "POST", "/v1/sessions")[0], 201)

    def test_one_user_leaves_streams_for_others(self):
        config = Path(self.enterContext(tempfile.TemporaryDirectory())) / "mortise.toml"
        config.write_text(config_text(1, free_ports(1), config.parent), encoding="utf-8")
        door = Door(None, *self.words, config=config, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (300, 300)))
        self.addCleanup(door.process.end)
        streams, granted = [], True
        while granted:
            stream = door.stream(f"/v1/hold/{len(streams)}",
                                 Authorization="Bearer dave-01234567890")
            granted = stream.begin().get("event") == "granted"
            streams.append(stream)
        self.assertGreater(len(streams), 50)
        with door.stream("/v1/hold/x", Authorization="Bearer alice-0123456789") as stream:
            self.assertEqual(stream.begin()["event"], "granted")

    def test_a_session_is_that_of_its_user(self):
        alice, bob = "alice-0123456789", "bob-0123456789ab"
        session = "/v1/sessions/" + self.as_user(alice, "POST", "/v1/sessions")[1]["session"]
        for method, path in (("GET", session), ("POST", session + "/alive"), ("DELETE", session)):
            self.assertEqual(self.as_user(bob, method, path)[0], 404)
        self.assertEqual(self.as_user(alice, "GET", session)[0], 200)


class TokensThatChange(Case):
    def setUp(self):
        super().setUp()
        self.tokens = self.directory / "tokens"
        self.write("alice-0123456789 alice client\n")
        self.door = Door(self.directory, "--http-tokens", self.tokens)
        self.keep(self.door.process)

    def write(self, text, mode=0o600):
        new = self.directory / "tokens.new"
        new.write_text(text, encoding="utf-8")
        new.chmod(mode)
        new.rename(self.tokens)

    def as_user(self, token, method="GET", path="/v1/status"):
        return self.door.ask(method, path, {} if method == "POST" else None,
                             Authorization=f"Bearer {token}")[0]

    def told(self):
        """The next reason for which it keeps its tokens."""
        while "keeps its former tokens" not in (line := self.door.line()):
            pass
        return line

    def test_each_request_is_judged_by_the_present_file(self):
        alice, bob = "alice-0123456789", "bob-0123456789ab"
        self.assertEqual((self.as_user(alice), self.as_user(bob)), (200, 401))
        self.write(f"{bob} bob observer\n")
        self.assertEqual((self.as_user(alice), self.as_user(bob)), (401, 200))
        self.assertEqual(self.as_user(bob, "POST", "/v1/sessions"), 403)
        with self.tokens.open("a", encoding="utf-8") as file:
            file.write(f"{alice} alice client\n")
        self.assertEqual(self.as_user(alice, "POST", "/v1/sessions"), 201)

    def test_a_file_that_is_of_no_use_changes_nothing_and_is_told_once(self):
        alice = "alice-0123456789"
        for text, mode, why in ((f"{alice} alice king\n", 0o600, "tokens:1: a role"),
                                (f"{alice} alice client\n", 0o640, "chmod 600"),
                                ("", 0o600, "tokens:1: there is no token")):
            self.write(text, mode)
            for _ in range(3):
                self.assertEqual(self.as_user(alice), 200)
            self.assertIn(why, self.told())
        self.tokens.unlink()
        self.assertEqual(self.as_user(alice), 200)
        self.assertIn("No such file", self.told())
        self.write("bob-0123456789ab bob client\n")
        self.assertEqual(self.as_user(alice), 401)


class Https(Case):
    """A cluster with TLS: the door has the certificate of the node."""

    def setUp(self):
        super().setUp()
        pki = self.directory
        run("cert", "init", "--cluster", "mortise", "--dir", pki).check_returncode()
        run("cert", "init", "--cluster", "mortise", "--dir", pki / "other").check_returncode() \
            if (pki / "other").mkdir() is None else None
        issue = ("cert", "issue", "--dir")
        run(*issue, pki, "--node", "1", "--host", "127.0.0.1", "--host",
            "locks.example").check_returncode()
        run(*issue, pki, "--user", "alice", "--role", "client", "--may",
            "acquire:orders/").check_returncode()
        run(*issue, pki / "other", "--user", "alice", "--role", "client").check_returncode()
        config = pki / "mortise.toml"
        text = config_text(1, free_ports(1), pki)
        if "[tls]" not in text:
            text += "\n".join(tls_lines(pki, "node-1")) + "\n"
        self.revoked = pki / "revoked.txt"
        self.revoked.write_text("# nobody yet\n", encoding="utf-8")
        text = text.replace("[tls]\n", f'[tls]\nrevoked = "{self.revoked}"\n')
        config.write_text(text, encoding="utf-8")
        tokens = pki / "tokens"
        tokens.write_text("carol-0123456789 carol observer\n", encoding="utf-8")
        tokens.chmod(0o600)
        self.door = Door(pki, "--http-tokens", tokens, config=config)
        self.keep(self.door.process)

    def context(self, place=None):
        context = ssl.create_default_context(cafile=self.directory / "ca.pem")
        if place is not None:
            context.load_cert_chain(place / "user-alice.pem", place / "user-alice.key")
        return context

    def status(self, path, context, header=""):
        raw = Raw(self.door)
        raw.socket = context.wrap_socket(raw.socket, server_hostname="127.0.0.1")
        return raw.request("GET " + path, "Connection: close", header or "X: y").status()

    def test_a_client_shows_a_certificate_or_a_token(self):
        self.assertEqual(self.door.scheme, "https")
        alice = self.context(self.directory)
        self.assertEqual(self.status("/v1/status", alice), 200)
        self.assertEqual(self.status("/v1/hold/x", alice), 403)
        self.assertEqual(self.status("/v1/locks", alice), 403)
        nobody = self.context()
        self.assertEqual(self.status("/v1/status", nobody), 401)
        token = "Authorization: Bearer carol-0123456789"
        self.assertEqual(self.status("/v1/locks", nobody, token), 200)
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            if self.status("/v1/status", self.context(self.directory / "other")) == 0:
                raise ConnectionError
        old = self.context(self.directory)
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.status("/v1/status", old)
        self.assertEqual(Raw(self.door).request("GET /v1/status").status(), 0)

    def test_a_revoked_certificate_opens_nothing_any_more(self):
        alice = self.context(self.directory)
        self.assertEqual(self.status("/v1/status", alice), 200)
        shown = json.loads(run("cert", "show", "--json",
                               self.directory / "user-alice.pem").stdout)
        shown = shown[0] if isinstance(shown, list) else shown
        self.revoked.write_text(shown["serial"] + " # stolen\n", encoding="utf-8")
        self.assertEqual(self.status("/v1/status", alice), 401)
        self.assertIn("is revoked", self.reason(alice))

    def reason(self, context):
        raw = Raw(self.door)
        raw.socket = context.wrap_socket(raw.socket, server_hostname="127.0.0.1")
        return raw.request("GET /v1/status", "Connection: close").json()["reason"]

    def test_its_certificate_says_its_names(self):
        nobody = self.context()
        for host, status in (("127.0.0.1", 401), ("locks.example", 401), ("evil.example", 403)):
            raw = Raw(self.door)
            raw.socket = nobody.wrap_socket(raw.socket, server_hostname="127.0.0.1")
            raw.own = f"Host: {host}:7481\r\n"
            self.assertEqual(raw.request("GET /v1/status", "Connection: close").status(), status)

    def kept_alive(self, context):
        raw = Raw(self.door)
        raw.socket = context.wrap_socket(raw.socket, server_hostname="127.0.0.1")
        raw.request("GET /v1/status")
        self.assertEqual(raw.socket.recv(12)[9:], b"200")
        return raw

    def test_a_node_is_no_user(self):
        run("cert", "issue", "--dir", self.directory, "--node", "2").check_returncode()
        node = ssl.create_default_context(cafile=self.directory / "ca.pem")
        node.load_cert_chain(self.directory / "node-2.pem", self.directory / "node-2.key")
        self.assertEqual(self.status("/v1/status", node), 401)
        self.assertIn("that of a node", self.reason(node))

    def test_a_connection_does_not_outlive_its_authority(self):
        new = self.directory / "new"
        new.mkdir()
        run("cert", "init", "--cluster", "mortise", "--dir", new).check_returncode()
        run("cert", "issue", "--dir", new, "--node", "1", "--host",
            "127.0.0.1").check_returncode()
        raw = self.kept_alive(self.context(self.directory))
        for name in ("node-1.key", "node-1.pem", "ca.pem"):
            (new / name).rename(self.directory / name)
        raw.request("GET /v1/status", "Connection: close")
        self.assertRegex(raw.rest(), "HTTP/1.1 401 ")

    def test_a_stream_goes_on_in_it(self):
        raw = Raw(self.door)
        raw.socket = self.context(self.directory).wrap_socket(raw.socket,
                                                              server_hostname="127.0.0.1")
        raw.request("GET /v1/hold/orders/1?ttl=1s")
        lines = raw.socket.makefile("rb")
        while not (line := lines.readline()).startswith(b"{"):
            pass
        token = int(json.loads(line)["token"])
        for _ in range(4):
            self.assertEqual(json.loads(lines.readline())["event"], "alive")
        lines.close()
        raw.close()
        again = Raw(self.door)
        again.socket = self.context(self.directory).wrap_socket(again.socket,
                                                                server_hostname="127.0.0.1")
        lines = again.request("GET /v1/hold/orders/1").socket.makefile("rb")
        while not (line := lines.readline()).startswith(b"{"):
            pass
        self.assertGreater(int(json.loads(line)["token"]), token)
        lines.close()
        again.close()


if __name__ == "__main__":
    unittest.main()
