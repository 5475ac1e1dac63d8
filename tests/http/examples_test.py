"""The examples in other languages: examples_test.py PROGRAM NOTHING LANGUAGE...

Each holds a lock, has a token that is greater than the one before, and releases it."""

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from door import DoorCase
from program import PATIENCE, wait_until

LANGUAGES = sys.argv[1:]
del sys.argv[1:]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples/http"
TOOLS = {"shell": "curl", "python": sys.executable, "node": "node", "java": "java",
         "rust": "rustc", "go": "go"}


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

    def test_the_command_of_the_shell_ends_with_the_hold(self):
        if "shell" not in LANGUAGES:
            self.skipTest("it is tested with the others")
        words = self.command("shell")[:-1] + ["exec sleep 60"]
        process = subprocess.Popen(list(map(str, words)), stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        token = wait_until(self.holders)[0]["token"]
        self.assertGreater(int(token), 0)
        sessions = self.door.get(f"/v1/locks/{self.name}")["holders"]
        self.assertEqual(sessions[0]["label"], "hold.sh")
        self.door.process.terminate()
        self.assertNotEqual(process.wait(PATIENCE), 0)


if __name__ == "__main__":
    unittest.main()
