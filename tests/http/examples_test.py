"""The examples in other languages: examples_test.py PROGRAM NOTHING LANGUAGE...

Each holds a lock, has a token that is greater than the one before, and releases it."""

import contextlib
import shutil
import socket
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

from door import DoorCase
from program import PATIENCE, wait_until

LANGUAGES = sys.argv[1:]
del sys.argv[1:]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples/http"
TOOLS = {"shell": "curl", "python": sys.executable, "node": "node", "java": "java",
         "rust": "rustc", "go": "go"}


class LossyProxy:
    """Passes requests on, one on each connection, and loses the first answer to each kind."""

    def __init__(self, door):
        self.door = (door.host, door.port)
        self.lost = set()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        with contextlib.suppress(OSError):  # closed
            while True:
                client, _ = self.listening.accept()
                threading.Thread(target=self.serve, args=[client], daemon=True).start()

    def serve(self, client):
        with client, socket.create_connection(self.door) as door, contextlib.suppress(OSError):
            request = client.recv(65536)
            door.sendall(request)
            threading.Thread(target=self.pass_rest, args=[client, door], daemon=True).start()
            answer = b"".join(iter(lambda: door.recv(65536), b""))
            kind = request.split(b" ")[0] if b"/holds" in request.split(b"\r\n")[0] else None
            if kind is None or kind in self.lost:
                client.sendall(answer)
            else:
                self.lost.add(kind)
            client.shutdown(socket.SHUT_RDWR)

    def pass_rest(self, client, door):
        with contextlib.suppress(OSError):
            while piece := client.recv(65536):
                door.sendall(piece)


class Examples(DoorCase):
    def command(self, language):
        url = f"http://{self.door.host}:{self.door.port}"
        if language == "shell":
            return ["sh", EXAMPLES / "hold.sh", url, self.name, "sh", "-c",
                    'echo "token $MORTISE_TOKEN"; echo work, with the token']
        if language == "rust":
            program = Path(self.place) / "hold"
            subprocess.run(["rustc", "--edition=2021", "-o", program, EXAMPLES / "hold.rs"],
                           check=True, timeout=PATIENCE * 3)
            return [program, url.removeprefix("http://"), self.name]
        file = {"python": "hold.py", "node": "hold.mjs", "java": "Hold.java",
                "go": "hold.go"}[language]
        return [TOOLS[language], *(["run"] if language == "go" else []), EXAMPLES / file, url,
                self.name]

    def test_each_holds_and_releases(self):
        token = 0
        for language in LANGUAGES:
            with self.subTest(language=language):
                if shutil.which(TOOLS[language]) is None:
                    self.skipTest(f"there is no {TOOLS[language]}")
                done = subprocess.run(list(map(str, self.command(language))), capture_output=True,
                                      text=True, timeout=PATIENCE, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                lines = done.stdout.splitlines()
                self.assertEqual(lines[1:2], ["work, with the token"], done.stderr)
                self.assertGreater(int(lines[0].removeprefix("token ")), token)
                token = int(lines[0].removeprefix("token "))
                wait_until(lambda: not self.holders(), 5)

    def test_a_session_goes_on_where_answers_are_lost(self):
        if "python" not in LANGUAGES:
            self.skipTest("it is tested with the others")
        proxy = LossyProxy(self.door)
        self.addCleanup(proxy.listening.close)
        done = subprocess.run([sys.executable, str(EXAMPLES / "session.py"), proxy.url, self.name],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[1:], ["work, with the token", "released"])
        self.assertEqual(proxy.lost, {b"POST", b"DELETE"})
        self.assertEqual(self.holders(), [])  # although its session has not ended yet



class Shell(Examples):
    """The command of hold.sh ends with the hold, and the hold with it, whatever ends first."""

    test_each_holds_and_releases = test_a_session_goes_on_where_answers_are_lost = None

    def setUp(self):
        super().setUp()
        if "shell" not in LANGUAGES:
            self.skipTest("it is tested with the others")

    def start(self):
        """The script, and the process of its command."""
        words = self.command("shell")[:-1] + ["echo $$; exec sleep 60"]
        script = subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(script.stdout.close)
        self.addCleanup(script.kill)
        return script, Path("/proc") / script.stdout.readline().strip()

    def expect_end(self, script, work):
        self.assertNotEqual(script.wait(PATIENCE), 0)
        wait_until(lambda: not work.exists(), 5)
        wait_until(lambda: not self.holders(), 5)

    def test_it_is_ended(self):
        script, work = self.start()
        self.assertEqual(self.holders()[0]["label"], "hold.sh")
        script.terminate()
        self.expect_end(script, work)

    def test_it_is_killed(self):
        script, work = self.start()
        script.kill()
        self.expect_end(script, work)

    def test_it_is_ended_while_it_waits(self):
        with self.door.stream(f"/v1/hold/{self.name}") as stream:
            stream.begin()
            script = subprocess.Popen(list(map(str, self.command("shell"))),
                                      stderr=subprocess.DEVNULL)
            self.addCleanup(script.kill)
            wait_until(lambda: self.door.get(f"/v1/locks/{self.name}")["waiters"])
            script.terminate()
            self.assertEqual(script.wait(PATIENCE), 143)
            wait_until(lambda: not self.door.get(f"/v1/locks/{self.name}")["waiters"])

    def test_nothing_is_heard_for_as_long_as_it_is_valid(self):
        begin = time.monotonic()
        script, work = self.start()
        self.door.process.pause()
        self.addCleanup(self.door.process.resume)
        self.assertNotEqual(script.wait(PATIENCE), 0)
        self.assertFalse(work.exists())
        self.assertLess(time.monotonic(), begin + 10)  # the ttl
        self.door.process.resume()
        wait_until(lambda: not self.holders(), 5)

    def test_the_node_ends(self):  # the last one: it is that of all
        script, work = self.start()
        self.door.process.terminate()
        self.assertNotEqual(script.wait(PATIENCE), 0)
        wait_until(lambda: not work.exists(), 5)


if __name__ == "__main__":
    unittest.main()
