"""Three processes, each with a node of one cluster, for side_by_side.py. A line to a process is a
call, and a line from it the answer."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from servers import PATIENCE, TREE, free_port

SESSION_TTL = 2  # seconds

CONFIG = """
node_id = {number}
listen = "127.0.0.1:{port}"
data_dir = "{folder}/node-{number}"
peer = [{peers}]
[timing]
session_ttl = "{ttl}s"
election_timeout = "300ms"
heartbeat = "50ms"
[log]
level = "off"
"""


class Member:
    """A process with a node. Kill, pause and start it again as you like."""

    def __init__(self, number, config):
        self.number = number
        self.config = config
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-B", __file__, self.config], text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def pause(self):
        """Returns when all of its threads stand still."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def read(self):
        return self.process.stdout.readline().strip()

    def await_ready(self):
        if self.read() != "ready":
            sys.exit(f"node {self.number} did not start")

    def call(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return self.read()


class Cluster:
    def __init__(self, folder):
        ports = [free_port() for _ in range(3)]
        peers = ", ".join(f'{{ id = {number}, address = "127.0.0.1:{port}" }}'
                          for number, port in enumerate(ports, 1))
        self.members = []
        for number, port in enumerate(ports, 1):
            config = Path(folder) / f"{number}.toml"
            config.write_text(CONFIG.format(number=number, port=port, folder=folder, peers=peers,
                                            ttl=SESSION_TTL))
            self.members.append(Member(number, config))
        for member in self.members:
            member.await_ready()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for member in self.members:
            member.kill()

    def leader_and_followers(self):
        leader = int(self.members[0].call("leader"))
        followers = [member for member in self.members if member.number != leader]
        return self.members[leader - 1], followers

    def restart(self, member):
        member.start()
        member.await_ready()


def retried(call):
    """Repeats a call while there is no leader."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return call()
        except mortise.LockError as error:
            if not error.is_retryable or time.monotonic() > end:
                raise
            time.sleep(0.05)


def serve(node, holds, what, name="", max_hold=None):
    """What a process answers to one line."""
    if what == "leader":
        while not (leader := node.status().leader_id):
            time.sleep(0.02)
        return leader
    if what == "acquire":
        holds[name] = retried(lambda: node.acquire(
            name, label=f"node {node.id}", max_hold=max_hold and float(max_hold)))
        return f"granted after {holds[name].previous().how.name.lower()}"
    if what == "try":
        holds[name] = retried(lambda: node.try_acquire(name))
        return "granted" if holds[name] else "taken"
    if what == "valid":
        return "valid" if holds[name].valid else "not valid"
    try:
        holds[name].release()
        return "released"
    except mortise.LockLost:
        return "lost"


def main(config):
    with mortise.Node(config) as node:
        node.wait_ready(PATIENCE)
        print("ready", flush=True)
        holds = {}
        for line in sys.stdin:
            print(serve(node, holds, *line.split()), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("MORTISE_LIBRARY", str(TREE / "build/dev/tests/lib/libmortise.so.0"))
    sys.path.insert(0, str(TREE / "python"))
    import mortise
    main(sys.argv[1])
