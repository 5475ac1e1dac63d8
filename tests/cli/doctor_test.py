"""`mortise doctor` under real conditions.

    doctor_test.py MORTISE
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from program import (FAILED, OK, PROGRAM, USAGE, WITH_TLS, Case, Cluster, config_text,
                     environment, free_ports, run)


def doctor(config, *words):
    return run("doctor", "--config", config, *words)


class Examined:
    """The findings of one run."""

    def __init__(self, result):
        self.code = result.returncode
        self.findings = json.loads(result.stdout)["findings"]

    def has(self, severity, *texts, about=None):
        return any(finding["severity"] == severity and about in (None, finding["about"])
                   and all(text in finding["text"] for text in texts)
                   for finding in self.findings)

    def errors(self):
        return [finding for finding in self.findings if finding["severity"] == "error"]


def examine(config):
    return Examined(doctor(config, "--json"))


class Listener:
    """A socket that is not Mortise's."""

    def __init__(self, serve=None, backlog=8):
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen(backlog)
        self.port = self.socket.getsockname()[1]
        if serve is not None:
            threading.Thread(target=self.run, args=(serve,), daemon=True).start()

    def run(self, serve):
        with contextlib.suppress(OSError):
            while True:
                serve(self.socket.accept()[0])

    def close(self):
        self.socket.close()


def speak_http(connection):
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
    connection.close()


class Deaf(Listener):
    """Its queue is full, so that the kernel drops what arrives, as a firewall does."""

    def __init__(self):
        super().__init__(backlog=0)
        self.fillers = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                filler.connect(("127.0.0.1", self.port))
            self.fillers.append(filler)

    def close(self):
        for filler in self.fillers:
            filler.close()
        super().close()


class DoctorTest(Case):
    def setUp(self):
        super().setUp()
        self.place = self.directory
        self.ports = free_ports(3)

    def config(self, name="node-1", ports=None, more="", **changed):
        text = more + config_text(1, ports or self.ports, self.place)
        for old, new in changed.pop("replace", {}).items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        path = self.place / f"{name}.toml"
        path.write_text(text, encoding="utf-8")
        return path

    def keep(self, listener):
        self.addCleanup(listener.close)
        return listener


class Configurations(DoctorTest):
    def test_an_error_is_named_with_its_line_and_key(self):
        config = self.place / "bad.toml"
        config.write_text('node_id = 1\ndata_dri = "x"\n', encoding="utf-8")
        result = doctor(config)
        self.assertEqual(result.returncode, FAILED, result.stderr)
        self.assertIn(f"error    configuration: {config}:2: data_dri: unknown key", result.stdout)
        self.assertTrue(result.stdout.endswith("1 error, 0 warnings\n"), result.stdout)

    def test_a_file_that_cannot_be_read(self):
        found = examine(self.place / "missing.toml")
        self.assertTrue(found.has("error", "cannot be read"))

    def test_the_environment_is_a_configuration(self):
        plain = {f"MORTISE_TLS_{key}": "" for key in ("CERTIFICATE", "KEY", "CA")}
        result = run("doctor", MORTISE_DATA_DIR=str(self.place / "data"), **plain)
        self.assertEqual(result.returncode, OK, result.stdout)
        self.assertIn("ok       configuration: the environment is valid", result.stdout)
        self.assertEqual(list(self.place.iterdir()), [])  # it changes nothing
        self.assertEqual(run("doctor", **plain).returncode, FAILED)

    def test_each_finding_is_one_line(self):
        result = doctor(self.config())
        for line in result.stdout.splitlines()[:-1]:
            self.assertRegex(line, r"^(ok      |warning |error   ) \S.*: \S")
        self.assertEqual(run("doctor", "extra").returncode, USAGE)


class Peers(DoctorTest):
    def test_each_problem_has_its_own_words(self):
        silent, closing = self.keep(Listener()), self.keep(Listener(lambda each: each.close()))
        http, deaf = self.keep(Listener(speak_http)), self.keep(Deaf())
        first = self.config("first", [self.ports[0], self.ports[1], silent.port])
        second = self.config("second", [self.ports[0], closing.port, deaf.port])
        third = self.config("third", [self.ports[0], http.port, self.ports[2]], replace={
            f'"127.0.0.1:{self.ports[2]}"': '"no-such-host.invalid:7403"'})
        with ThreadPoolExecutor() as pool:
            one, two, three = pool.map(examine, (first, second, third))
        self.assertTrue(one.has("error", "refuses the connection", about="node 2"), one.findings)
        nothing = "does not speak TLS" if WITH_TLS else "is not Mortise"
        self.assertTrue(one.has("error", "says nothing", about="node 3"), one.findings)
        ends = "TLS" if WITH_TLS else "is not Mortise"
        self.assertTrue(two.has("error", ends, about="node 2"), two.findings)
        self.assertTrue(two.has("error", "a firewall drops the packets", about="node 3"),
                        two.findings)
        self.assertTrue(three.has("error", nothing, about="node 2"), three.findings)
        self.assertTrue(three.has("error", "no-such-host.invalid:7403", about="node 3"),
                        three.findings)
        for found in (one, two, three):
            self.assertEqual(found.code, FAILED)
            self.assertEqual([f for f in found.errors() if not f["advice"]], [])


class ClusterTest(unittest.TestCase):
    """Nodes 1 to 3 run; node 3 is ended and examined."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.cluster.wait_ready()
        cls.cluster.processes[2].stop()
        cls.place = cls.cluster.place

    def changed(self, name, replace):
        text = self.cluster.config(3).read_text(encoding="utf-8")
        for old, new in replace.items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        path = self.place / f"{name}.toml"
        path.write_text(text, encoding="utf-8")
        return path

    def test_a_node_that_runs_is_sound(self):
        found = examine(self.cluster.config(1))
        self.assertEqual([f for f in found.errors() if f["about"] != "node 3"], [])
        process = self.cluster.processes[0].pid
        self.assertTrue(found.has("ok", f"in use by process {process}", about="data_dir"))
        self.assertTrue(found.has("ok", f"in use by process {process} (mortise)", about="listen"),
                        found.findings)
        self.assertTrue(found.has("error", "refuses the connection", about="node 3"))

    def test_the_clocks_of_members_are_compared(self):
        """It takes calls that are short beside the time between them."""
        def compared():
            return examine(self.cluster.config(1)).has("ok", "as fast as the one here",
                                                       about="node 2")
        self.assertTrue(any(compared() for _ in range(5)))

    def test_a_node_that_is_stopped_is_sound(self):
        found = examine(self.cluster.config(3))
        self.assertEqual((found.code, found.errors()), (OK, []))
        self.assertTrue(found.has("ok", "is that of node 3 of the cluster", about="data_dir"))
        self.assertTrue(found.has("ok", "is free", about="listen"))
        self.assertTrue(any(f["about"] == "disk" for f in found.findings))

    def test_a_client_is_sound(self):
        """It has no directory and no port, and is not to be added."""
        lines = ['role = "client"']
        for number, port in enumerate(self.cluster.ports[:2], 1):
            lines += ["[[peer]]", f"id = {number}", f'address = "127.0.0.1:{port}"']
        if WITH_TLS:
            directory = self.place
            run("cert", "issue", "--dir", directory, "--user", "bob", "--role", "client")
            lines += ["[tls]", f'certificate = "{directory}/user-bob.pem"',
                      f'key = "{directory}/user-bob.key"', f'ca = "{directory}/ca.pem"']
        config = self.place / "client.toml"
        config.write_text("\n".join(lines) + "\n", encoding="utf-8")
        found = examine(config)
        self.assertEqual((found.code, found.errors()), (OK, []))
        self.assertTrue(found.has("ok", "is ready", about="node 1"), found.findings)
        self.assertFalse(any(f["about"] in ("data_dir", "listen", "disk")
                             for f in found.findings), found.findings)

    def test_what_the_members_report_is_compared(self):
        two_and_three = {"node_id = 3": "node_id = 2"}
        ports = self.cluster.ports
        cases = {
            "cluster": self.changed("cluster", {"node_id": 'cluster = "orders"\nnode_id'}),
            "timing": self.changed("timing", {'"50ms"': '"60ms"'}),
            "owner": self.changed("owner", two_and_three),
            "swapped": self.changed("swapped", {
                f'id = 1\naddress = "127.0.0.1:{ports[0]}"':
                f'id = 1\naddress = "127.0.0.1:{ports[1]}"',
                f'id = 2\naddress = "127.0.0.1:{ports[1]}"':
                f'id = 2\naddress = "127.0.0.1:{ports[0]}"'}),
        }
        with ThreadPoolExecutor() as pool:
            found = dict(zip(cases, pool.map(examine, cases.values())))
        if not WITH_TLS:  # with TLS the certificate is that of another cluster
            self.assertTrue(found["cluster"].has("error", 'of the cluster "mortise"',
                                                 about="node 1"), found["cluster"].findings)
        self.assertTrue(found["timing"].has("warning", "heartbeat 50ms (here 60ms)"))
        self.assertTrue(found["owner"].has("error", "belongs to node 3, and this is node 2"))
        self.assertTrue(found["swapped"].has("error", "node 2 answers at", about="node 1"))

    def test_an_id_that_another_node_uses_is_found(self):
        """Node 2 runs elsewhere, and this one would be a second node 2."""
        config = self.changed("second", {
            "node_id = 3": "node_id = 2", "/node-3\"": "/second\"",
            f'listen = "127.0.0.1:{self.cluster.ports[2]}"':
            f'listen = "127.0.0.1:{free_ports(1)[0]}"'})
        found = examine(config)
        self.assertTrue(found.has("error", "a node that has the id 2, and no node runs here",
                                  about="node 1"), found.findings)

    def test_a_port_in_use_has_an_owner(self):
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("127.0.0.1", self.cluster.ports[2]))
            other.listen()
            found = examine(self.cluster.config(3))
        self.assertTrue(found.has("error", f"process {os.getpid()} (", about="listen"),
                        found.findings)

    def test_a_directory_that_is_damaged_is_found(self):
        copy = self.place / "copy"
        shutil.copytree(self.place / "node-3", copy)
        self.addCleanup(shutil.rmtree, copy)
        (copy / "meta").write_bytes(b"")
        found = examine(self.changed("damaged", {"/node-3\"": "/copy\""}))
        self.assertTrue(found.has("error", "is damaged", about="data_dir")
                        or found.has("warning", "is damaged", about="data_dir"), found.findings)

    def test_it_writes_nothing_to_the_directory(self):
        place = self.place / "node-3"
        before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
        examine(self.cluster.config(3))
        self.assertEqual({path: path.stat().st_mtime_ns for path in place.rglob("*")}, before)


class Directories(DoctorTest):
    def place_of(self, data):
        return self.config(replace={f'"{self.place}/node-1"': f'"{data}"'})

    def test_in_memory_and_links_and_files(self):
        if Path("/dev/shm").is_dir():
            found = examine(self.place_of("/dev/shm/mortise-doctor-none"))
            self.assertTrue(found.has("warning", "tmpfs", about="file system"), found.findings)
        link = self.place / "link"
        link.symlink_to(self.place)
        self.assertTrue(examine(self.place_of(link)).has("error", "is a symbolic link"))
        inside = self.place_of(link / "inside")
        self.assertFalse(examine(inside).has("error", about="data_dir"))
        file = self.place / "file"
        file.write_text("", encoding="utf-8")
        self.assertTrue(examine(self.place_of(file)).has("error", "is not a directory"))

    def examined_as_nobody(self, directory):
        """As another user, since root may write everywhere."""
        if os.geteuid() != 0:
            self.skipTest("not root")
        self.place.chmod(0o755)
        config = self.place_of(directory)
        config.chmod(0o644)
        return Examined(subprocess.run(
            [PROGRAM, "doctor", "--json", "--config", config], env=environment(False),
            capture_output=True, text=True, check=False, user=65534, group=65534, timeout=60))

    def test_permissions(self):
        closed = self.place / "closed"
        closed.mkdir(mode=0o700)
        found = self.examined_as_nobody(closed)
        self.assertTrue(found.has("error", "may not read and write", "belongs to root"),
                        found.findings)

    def test_what_is_not_the_nodes_is_not_judged(self):
        """A volume that is mounted there has a lost+found of root."""
        directory = self.place / "volume"
        (directory / "lost+found").mkdir(parents=True, mode=0o700)
        (directory / "meta").write_text("", encoding="utf-8")
        for path in (directory, directory / "meta"):
            os.chown(path, 65534, 65534)
            path.chmod(0o700)
        found = self.examined_as_nobody(directory)
        self.assertFalse(found.has("error", "may not read and write"), found.findings)

    def test_permissions_of_what_is_inside(self):
        directory = self.place / "started-as-root-once"
        (directory / "state").mkdir(parents=True)
        (directory / "state" / "CURRENT").write_text("", encoding="utf-8")
        for path in (directory, directory / "state"):
            os.chown(path, 65534, 65534)
            path.chmod(0o700)
        found = self.examined_as_nobody(directory)
        self.assertTrue(found.has("error", "may not read and write", "state/CURRENT"),
                        found.findings)

    def test_limits(self):
        def limited():
            import resource
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        result = subprocess.run([PROGRAM, "doctor", "--json", "--config", self.config()],
                                env=environment(False), capture_output=True, text=True, check=False,
                                preexec_fn=limited, timeout=60)
        self.assertTrue(Examined(result).has("warning", "RLIMIT_NOFILE is 64",
                                             about="descriptors"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
