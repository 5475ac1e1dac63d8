"""A Redis, a MariaDB and a PostgreSQL for the stories: processes with their files in a temporary
directory, on loopback or on a private socket. They end with the story, however it ends."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
SKIPPED = 77  # the exit code of a test that was skipped
PATIENCE = 60  # seconds, for a start


def program(name):
    """The path of a program. As packages, servers would start with the machine, so `./dev stories`
    only unpacks them."""
    unpacked = TREE / "build/peers/usr"
    servers = [found for root in (Path("/usr"), unpacked)
               for found in sorted(root.glob("lib/postgresql/*/bin"), reverse=True)]
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin",
                            *map(str, [unpacked / "bin", *servers])])
    if found := shutil.which(name, path=path):
        return found
    print(f"skipped: there is no {name}; ./dev stories brings it")
    sys.exit(SKIPPED)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def run(*words, timeout=None):
    """Runs a client to its end; what it prints, without the last line end. After the time, in
    seconds, it is killed, and subprocess.TimeoutExpired raised."""
    done = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False, cwd="/", timeout=timeout)
    return done.stdout.rstrip("\n") if done.returncode == 0 else done.stderr.rstrip("\n")


class Server:
    """A process that does not outlive this one."""

    def __init__(self, words, log, user=()):
        self.log = Path(log)
        self.command = [program("setpriv"), "--pdeathsig", "KILL", *user, "--", *map(str, words)]
        self.start()

    def start(self):
        with open(self.log, "ab") as output:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=output, cwd="/")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def await_answer(self, is_ready):
        end = time.monotonic() + PATIENCE
        while not is_ready():
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit(f"a server did not start:\n{self.log.read_text(errors='replace')}")
            time.sleep(0.05)


class Redis(Server):
    def __init__(self, folder, *settings):
        self.port = free_port()
        data = Path(folder) / f"redis-{self.port}"
        data.mkdir()
        super().__init__([program("redis-server"), "--bind", "127.0.0.1", "--port", self.port,
                          "--dir", data, *settings], data / "log")
        self.await_pong()

    def await_pong(self):
        self.await_answer(lambda: self.cli("PING") == "PONG")

    def restart(self):
        """As after a crash: with what is on disk, on the same port."""
        self.kill()
        self.start()
        self.await_pong()

    def words(self, *command):
        return [program("redis-cli"), "-p", str(self.port), *map(str, command)]

    def cli(self, *command):
        """What redis-cli prints for a command; an empty string for nil."""
        return run(*self.words(*command))


class MariaDb(Server):
    def __init__(self, folder):
        folder = Path(folder)
        self.socket = folder / "mariadb.sock"
        user = ["--user=root"] if os.geteuid() == 0 else []
        made = run(program("mariadb-install-db"), "--no-defaults", f"--datadir={folder}/mariadb",
                   "--auth-root-authentication-method=normal", "--skip-test-db", *user)
        if not (folder / "mariadb/mysql").is_dir():
            sys.exit(f"mariadb-install-db: {made}")
        super().__init__([program("mariadbd"), "--no-defaults", f"--datadir={folder}/mariadb",
                          "--skip-networking", f"--socket={self.socket}", *user],
                         folder / "mariadb.log")
        self.await_answer(lambda: self.sql("SELECT 1") == "1")
        self.sql("CREATE DATABASE story")

    def words(self, statement, database=""):
        return [program("mariadb"), "--no-defaults", f"--socket={self.socket}", "--user=root",
                "--batch", "--skip-column-names", f"--execute={statement}", database]

    def sql(self, statement, database=""):
        """What the client prints for a statement: the rows, or the error in one line."""
        return run(*filter(None, self.words(statement, database))).rpartition("\n\n")[2]


class Postgres(Server):
    """It does not run as root; for root it runs as nobody."""

    def __init__(self, folder):
        self.folder = Path(folder) / "postgres"  # of its socket
        self.folder.mkdir()
        data, user = self.folder / "data", []
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chmod(folder, 0o711)
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            user = ["--reuid", str(nobody.pw_uid), "--regid", str(nobody.pw_gid), "--clear-groups"]
        made = run(program("setpriv"), *user, "--", program("initdb"), f"--pgdata={data}",
                   "--username=story", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
        if not (data / "PG_VERSION").is_file():
            sys.exit(f"initdb: {made}")
        super().__init__([program("postgres"), "-D", data, "-c", "listen_addresses=",
                          "-c", f"unix_socket_directories={self.folder}"],
                         Path(folder) / "postgres.log", user)
        self.await_answer(lambda: self.sql("SELECT 1") == "1")
        self.sql("CREATE DATABASE story")

    def sql(self, statement):
        """What the client prints for a statement in the database of the server itself."""
        return run(program("psql"), "--no-psqlrc", "--tuples-only", "--no-align",
                   f"--host={self.folder}", "--username=story", "--dbname=postgres",
                   f"--command={statement}")

    def kill(self):
        """Without its files in order, but with the processes that it has started."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()


class Link:
    """A loopback port that leads to another one, until it is cut. What is sent after that stays on
    the way, as in a slow or broken network, and nobody is told."""

    def __init__(self, target, is_cut=False):
        self.target = target
        self.is_cut = is_cut
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            far = socket.create_connection(("127.0.0.1", self.target))
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(source, sink), daemon=True).start()

    def carry(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if not self.is_cut:
                    sink.sendall(data)
