"""Runs a test program and judges the histories that its processes wrote, as torture's are.

    judged.py HISTORY_CHECK PROGRAM [ARGUMENT ...]

The program finds in MORTISE_HISTORIES where to put them: a folder for each cluster, in it a file of
calls for each life of a process, and lives.jsonl with when those began and were killed.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "torture"))

import history  # noqa: E402


def read_lives(folder):
    """process -> what is known about it, in the order of their starts."""
    lives = {}
    for line in (folder / "lives.jsonl").read_text(encoding="utf-8").splitlines():
        part = json.loads(line)
        lives.setdefault(part["process"], {}).update(part)
    return lives


def read_calls(folder, lives):
    calls = []
    for process, life in lives.items():
        path = folder / f"{process}.jsonl"
        if path.exists():
            with open(path, encoding="utf-8") as lines:
                calls += history.join(lines, process, life["node"])
    return sorted(calls, key=lambda call: call["invoke"])


def following(lives):
    """process -> when the next one started on its directory."""
    found = {}
    newest = {}
    for process, life in lives.items():
        if life["node"] in newest:
            found[newest[life["node"]]] = life["began"]
        newest[life["node"]] = process
    return found


def judge(folder, program):
    """The number of calls, and everything that is wrong with them, in words."""
    lives = read_lives(folder)
    deaths = {process: life["killed"] for process, life in lives.items() if "killed" in life}
    calls = read_calls(folder, lives)
    return len(calls), [*history.judge(calls, deaths, []), *history.search(
        program, folder / "history.jsonl", calls, deaths, following(lives))]


def main(words):
    check, *command = words
    with tempfile.TemporaryDirectory(prefix="mortise-histories-") as place:
        variables = {**os.environ, "MORTISE_HISTORIES": place}
        code = subprocess.run(command, env=variables, check=False).returncode
        calls = 0
        wrong = []
        for folder in sorted(Path(place).iterdir()):
            found, complaints = judge(folder, check)
            calls += found
            wrong += [f"{folder.name}: {what}" for what in complaints]
    if calls == 0:
        wrong.append("nothing was recorded")
    for what in wrong:
        print(f"VIOLATION: {what}")
    print(f"judged: {calls} calls, {len(wrong)} violations")
    return code or int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
