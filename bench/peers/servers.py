"""The servers of other lock services: each a process on free loopback ports, with its files in a
directory of the run. Only settings that are named here differ from the defaults."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

from processes import Failed, Process, Started, free_ports

PATIENCE = 60  # seconds, for a start


def program(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin")
    if not path:
        raise Failed(f"{name} is not installed")
    return path


def clean_environment():
    """Variables of the user may configure a server: etcd reads ETCD_*, a JVM JAVA_TOOL_OPTIONS."""
    return {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR") if key in os.environ}


class Server(Process):
    """It is in a session of its own, so that a ^C reaches the script alone, and dies with the
    script, however that ends."""

    def __init__(self, words, folder, log):
        super().__init__([program("setpriv"), "--pdeathsig", "KILL", "--", *words],
                         output=folder / log, stdin=subprocess.DEVNULL, cwd=folder,
                         env=clean_environment(), start_new_session=True)

    def kill(self):
        """Also what it started."""
        os.killpg(self.pid, signal.SIGKILL)


class Servers(Started):
    """As many servers of one kind as `count` says. A kind has command(number) and
    is_ready(number)."""

    ports_each = 1

    def __init__(self, programs, count=1):
        super().__init__(programs)
        self.count = count
        self.folder = Path(self.directory.name).resolve()  # where the servers run
        self.ports = {}
        self.processes = {}

    def start_all(self):
        found = free_ports(self.count * self.ports_each)
        for number in range(1, self.count + 1):
            self.ports[number] = [found.pop() for _ in range(self.ports_each)]
            (self.folder / str(number)).mkdir()
        self.prepare()
        for number in self.ports:
            self.start(number)
        self.await_ready()

    def end_all(self):
        for process in self.processes.values():
            process.end()

    def prepare(self):
        """What is done once, before the first start."""

    def data(self, number):
        return self.folder / str(number)

    def start(self, number):
        self.processes[number] = Server(self.command(number), self.folder, f"{number}.log")

    def kill(self, number):
        self.processes[number].end()

    def await_ready(self):
        end = time.monotonic() + PATIENCE
        for number, process in self.processes.items():
            while not self.answers(number):
                if process.poll() is not None:
                    raise Failed(f"a server ended: {process.last_line()}")
                if time.monotonic() > end:
                    raise Failed(f"a server was not ready within {PATIENCE} s: "
                                 f"{process.last_line()}")
                time.sleep(0.05)

    def answers(self, number):
        try:
            return self.is_ready(number)
        except (OSError, ValueError):
            return False

    def address(self, number):
        return f"127.0.0.1:{self.ports[number][0]}"

    def leader(self):
        return 1

    def addresses(self):
        """Of all servers; the first is the leader's, or the only one."""
        leader = self.leader()
        return [self.address(number) for number in sorted(self.ports, key=lambda it: it != leader)]

    def pids(self):
        return [process.pid for process in self.processes.values()]


def say(port, words):
    """What a server answers to one line on a new connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
        connection.settimeout(2)
        connection.sendall(words)
        return connection.recv(1 << 16)


class Redis(Servers):
    def __init__(self, programs, always):
        super().__init__(programs)
        self.settings = ["--appendonly", "yes", "--appendfsync", "always"] if always else []

    def command(self, number):
        return [program("redis-server"), "--bind", "127.0.0.1", "--port", self.ports[number][0],
                "--dir", self.data(number), *self.settings]

    def is_ready(self, number):
        return say(self.ports[number][0], b"PING\r\n").startswith(b"+PONG")


class MariaDb(Servers):
    def as_user(self):
        return ["--user=root"] if os.geteuid() == 0 else []

    def prepare(self):
        install = Server(
            [program("mariadb-install-db"), "--no-defaults", f"--datadir={self.data(1)}",
             "--auth-root-authentication-method=normal", "--skip-test-db", *self.as_user()],
            self.folder, "install.log")
        self.processes[0] = install
        if install.wait(PATIENCE) != 0:
            raise Failed(f"mariadb-install-db: {install.last_line()}")
        del self.processes[0]

    def command(self, number):
        # The path of a socket is limited to 107 bytes: it is relative to the directory of the data.
        return [program("mariadbd"), "--no-defaults", f"--datadir={self.data(number)}",
                "--bind-address=127.0.0.1", f"--port={self.ports[number][0]}",
                "--socket=mariadb.sock", "--innodb-flush-log-at-trx-commit=1", *self.as_user()]

    def is_ready(self, number):
        """It greets whoever connects, with its version."""
        return b"MariaDB" in say(self.ports[number][0], b"")


class Etcd(Servers):
    ports_each = 2

    def command(self, number):
        def url(number, which):
            return f"http://127.0.0.1:{self.ports[number][which]}"
        members = ",".join(f"{each}={url(each, 1)}" for each in self.ports)
        return [program("etcd"), "--name", number, "--data-dir", self.data(number),
                "--listen-client-urls", url(number, 0), "--advertise-client-urls", url(number, 0),
                "--listen-peer-urls", url(number, 1),
                "--initial-advertise-peer-urls", url(number, 1), "--initial-cluster", members]

    def ask(self, number, path, body=None):
        with urllib.request.urlopen(f"http://{self.address(number)}{path}", body, 2) as answer:
            return json.load(answer)

    def is_ready(self, number):
        return self.ask(number, "/health")["health"] == "true"

    def leader(self):
        for number in self.ports:
            try:
                status = self.ask(number, "/v3/maintenance/status", b"{}")
            except OSError:
                continue  # it was killed
            if status.get("leader") == status["header"]["member_id"]:
                return number
        raise Failed("etcd has no leader")


class ZooKeeper(Servers):
    """64 callers are more than the 60 connections that one address may have by default. There is no
    administration by HTTP, which would take port 8080."""

    ports_each = 3

    def prepare(self):
        members = [f"server.{number}=127.0.0.1:{ports[1]}:{ports[2]}"
                   for number, ports in self.ports.items()]
        for number, ports in self.ports.items():
            (self.data(number) / "myid").write_text(f"{number}\n")
            settings = ["tickTime=2000", "initLimit=10", "syncLimit=5", "maxClientCnxns=0",
                        "admin.enableServer=false", "4lw.commands.whitelist=srvr",
                        f"dataDir={self.data(number)}", "clientPortAddress=127.0.0.1",
                        f"clientPort={ports[0]}", *(members if self.count > 1 else [])]
            (self.folder / f"{number}.cfg").write_text("\n".join(settings) + "\n")

    def command(self, number):
        return [program("java"), "-cp", "/usr/share/java/zookeeper.jar",
                "org.apache.zookeeper.server.quorum.QuorumPeerMain", self.folder / f"{number}.cfg"]

    def mode(self, number):
        for line in say(self.ports[number][0], b"srvr").decode().splitlines():
            if line.startswith("Mode: "):
                return line[6:]
        return None

    def is_ready(self, number):
        return self.mode(number) is not None

    def leader(self):
        if self.count == 1:
            return 1
        for number, process in self.processes.items():
            if process.poll() is None and self.mode(number) == "leader":
                return number
        raise Failed("ZooKeeper has no leader")
