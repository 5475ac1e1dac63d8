"""`mortise node --http` under test, and a client with nothing but sockets."""

import contextlib
import http.client
import json
import os
import re
import socket
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
from program import config_text, free_ports, start  # noqa: E402

JSON = {"Content-Type": "application/json"}


def three_configs(directory, **more):
    """The configuration files of the nodes 1 to 3 of a cluster."""
    ports = free_ports(3)
    files = [directory / f"{node}.toml" for node in (1, 2, 3)]
    for node, file in enumerate(files, 1):
        file.write_text(config_text(node, ports, directory, **more), encoding="utf-8")
    return files


class Door:
    """One node with a door, ready."""

    def __init__(self, directory, *words, config=None, listen="127.0.0.1:0", **options):
        if config is None:
            config = Path(directory) / "mortise.toml"
            config.write_text(config_text(1, free_ports(1), directory), encoding="utf-8")
        self.process = start("node", "--config", config, "--http", listen, *words,
                             **options)
        self.said = []
        self.find()

    def find(self):
        """Where it is reached, once it says so."""
        while not (found := re.search(r"http at (https?)://([\d.]+):(\d+)", self.line())):
            pass
        self.scheme, self.host, self.port = found[1], found[2], int(found[3])
        self.process.stdout.readline()  # it is ready

    def line(self):
        line = self.process.stderr.readline()
        if not line:
            raise AssertionError("it ended: " + "".join(self.said))
        self.said.append(line)
        return line

    def ask(self, method, path, body=None, **headers):
        """The status and the JSON of an answer."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        with contextlib.closing(connection):
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, (JSON if body is not None else {}) | given)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None

    def get(self, path):
        status, told = self.ask("GET", path)
        assert status == 200, (status, told)
        return told

    def session(self, **options):
        status, told = self.ask("POST", "/v1/sessions", options)
        assert status == 201, (status, told)
        return "/v1/sessions/" + told["session"]

    def acquire(self, session, key=None, **wish):
        named = {} if key is None else {"Idempotency-Key": key}
        return self.ask("POST", session + "/holds", wish, **named)

    def stream(self, path, **headers):
        return Stream(self, path, headers)

    def stop(self):
        return self.process.stop(30)


class Raw:
    """A connection on which anything is sent."""

    def __init__(self, door):
        self.socket = socket.create_connection((door.host, door.port), timeout=60)
        self.own = f"Host: {door.host}:{door.port}\r\n"

    def send(self, text):
        self.socket.sendall(text.encode("latin-1") if isinstance(text, str) else text)
        return self

    def request(self, line, *headers):
        return self.send(f"{line} HTTP/1.1\r\n{self.own}"
                         + "".join(f"{each}\r\n" for each in headers) + "\r\n")

    def acquire(self, session, *headers, **wish):
        body = json.dumps(wish)
        return self.request(f"POST {session}/holds", "Content-Type: application/json",
                            f"Content-Length: {len(body)}", *headers).send(body)

    def rest(self):
        """What comes until the other side closes."""
        got = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := self.socket.recv(65536):
                got += piece
        self.close()
        return got.decode("latin-1")

    def status(self):
        answer = self.rest()
        return int(answer.split()[1]) if answer.startswith("HTTP/1.1 ") else 0

    def json(self):
        return json.loads(self.rest().split("\r\n\r\n")[1])

    def close(self):
        self.socket.close()


class Stream:
    """An answer that goes on."""

    def __init__(self, door, path, headers=()):
        self.connection = http.client.HTTPConnection(door.host, door.port, timeout=60)
        self.connection.request("GET", path, headers=dict(headers))
        self.sent = time.monotonic()
        self.answer = None

    def begin(self):
        """The first line, when it comes."""
        self.answer = self.connection.getresponse()
        return json.loads(self.answer.readline())

    def line(self):
        """None at the end."""
        line = self.answer.readline()
        return json.loads(line) if line else None

    def until(self, event):
        while (line := self.line()) is not None:
            if line["event"] == event:
                return line
        return None

    def close(self):
        if self.answer is not None:
            self.answer.close()
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class DoorCase(unittest.TestCase):
    """All tests of a class have one door; each has names of its own."""

    words = ()

    @classmethod
    def setUpClass(cls):
        cls.place = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.door = Door(cls.place, *cls.words)
        cls.addClassCleanup(cls.door.process.end)

    def setUp(self):
        self.name = self.id().rsplit(".", 1)[1]

    def holders(self, name=None):
        return self.door.get(f"/v1/locks/{name or self.name}")["holders"]
