"""Three nodes on three hosts (network namespaces) with TLS, as docs/tls.md says; who is kept out.

    hosts_test.py MORTISE WORKER
"""

import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
sys.path.insert(0, str(HERE.parent / "torture"))

from namespaces import Network, run_inside  # noqa: E402

run_inside()  # before the next import, which takes arguments away
from program import HOLDER, OK, PROGRAM, environment, wait_until  # noqa: E402

SECRET = "a-name-that-nobody-else-shall-read"
ETH_P_ALL = 3


class Capture:
    """All traffic of a device: the bytes of every packet."""

    def __init__(self, device):
        self.seen = bytearray()
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.bind((device, 0))
        self.socket.settimeout(0.2)
        self.is_over = False
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def listen(self):
        while not self.is_over:
            try:
                self.seen += self.socket.recv(65536)
            except TimeoutError:
                pass

    def end(self):
        self.is_over = True
        self.thread.join()
        self.socket.close()
        return bytes(self.seen)


class Host:
    """A worker process (worker.cpp) on a host, and its output so far."""

    def __init__(self, words):
        self.lines = []
        self.process = subprocess.Popen(words, env=environment(), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        with self.process.stdout as stream:
            for line in stream:
                self.lines.append(line.rstrip("\n"))

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def expect(self, part):
        wait_until(lambda: any(part in line for line in list(self.lines)))

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()


class HostsTest(unittest.TestCase):
    network = None

    @classmethod
    def setUpClass(cls):
        cls.network = Network(4)

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="mortise-hosts-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.hosts = {}
        self.addCleanup(lambda: [host.end() for host in self.hosts.values()])
        self.cert("init", "--cluster", "orders")
        for node in (1, 2, 3):
            self.issue(node)
        self.cert("issue", "--user", "alice", "--role", "admin")

    def cert(self, verb, *words, place=None):
        command = [PROGRAM, "cert", verb, "--dir", str(place or self.directory), *words]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, OK, done.stderr)

    def issue(self, node, *words, place=None):
        self.cert("issue", "--node", str(node), *words, place=place)

    def tls(self, stem, place=None):
        place = place or self.directory
        return (f'[tls]\ncertificate = "{place}/{stem}.pem"\nkey = "{place}/{stem}.key"\n'
                f'ca = "{self.directory}/ca.pem"\n')

    def start(self, node, tls, host=None):
        text = (f'cluster = "orders"\nnode_id = {node}\n'
                f'data_dir = "{self.directory}/data-{host or node}"\nlisten = "0.0.0.0:7401"\n')
        for peer in (1, 2, 3):
            text += f'[[peer]]\nid = {peer}\naddress = "{self.network.address(peer)}"\n'
        path = self.directory / f"host-{host or node}.toml"
        path.write_text(text + tls + '[log]\nlevel = "info"\n', encoding="utf-8")
        self.hosts[host or node] = Host([*self.network.enter(host or node), HOLDER, str(path)])

    def ask(self, host, *words):
        return subprocess.run([*self.network.enter(host), PROGRAM, *words], env=environment(),
                              capture_output=True, text=True, timeout=60, check=False)

    def alice(self):
        return ["--cert", f"{self.directory}/user-alice.pem", "--key",
                f"{self.directory}/user-alice.key", "--ca", f"{self.directory}/ca.pem"]

    def start_all(self, tls_of):
        for node in (1, 2, 3):
            self.start(node, tls_of(node))
        for node in (1, 2, 3):
            self.hosts[node].expect("ready")

    def captured(self):
        capture = Capture("v1")  # the traffic of the first host
        self.hosts[1].tell(f"acquire {SECRET}")
        self.hosts[1].expect(f"held {SECRET}")
        return capture.end()

    def test_three_hosts_share_locks_and_nobody_reads_them(self):
        self.start_all(lambda node: self.tls(f"node-{node}"))
        seen = self.captured()
        self.assertGreater(len(seen), 1000)
        for secret in (SECRET, "orders", "mortise"):
            self.assertNotIn(secret.encode(), seen)
        listed = self.ask(2, "locks", "--peer", self.network.address(3), *self.alice())
        self.assertIn(SECRET, listed.stdout, listed.stderr)
        nobody = self.ask(2, "locks", "--peer", self.network.address(3))
        self.assertNotEqual(nobody.returncode, OK)
        self.assertIn("TLS", nobody.stderr)

    def test_without_tls_everybody_reads_them_and_is_told_so(self):
        self.start_all(lambda _: "[tls]\ninsecure = true\n")
        self.assertIn(SECRET.encode(), self.captured())
        status = self.ask(2, "status", "--peer", self.network.address(1))
        self.assertIn("INSECURE", status.stdout, status.stderr)

    def refused(self, node, tls, reason):
        """A fourth host impersonates a node of the cluster, which is down."""
        self.start_all(lambda each: self.tls(f"node-{each}"))
        self.hosts[node].end()
        del self.hosts[node]
        self.start(node, tls, host=4)
        asked = next(each for each in (1, 2, 3) if each != node)
        self.hosts[asked].expect(f"refused a connection from {self.network.ip(4)}")
        self.assertTrue(any(reason in line for line in self.hosts[asked].lines),
                        self.hosts[asked].lines)
        self.assertFalse(any(line.startswith("ready") for line in self.hosts[4].lines))

    def test_a_node_without_a_certificate_is_kept_out(self):
        self.refused(3, "[tls]\ninsecure = true\n", "does not speak TLS")

    def test_a_certificate_of_another_authority_is_kept_out(self):
        place = self.directory / "other"
        place.mkdir()
        self.cert("init", "--cluster", "orders", place=place)
        self.issue(3, place=place)
        tls = self.tls("node-3", place).replace(f"{self.directory}/ca.pem", f"{place}/ca.pem")
        # The caller checks first, and does not trust the called node either.
        self.refused(3, tls, "does not know the authority")

    def test_a_node_cannot_start_with_the_certificate_of_another(self):
        self.start(3, self.tls("node-2"), host=4)
        self.hosts[4].expect("that of node 2 of cluster orders, not of node 3")

    def test_a_member_that_was_removed_stays_out(self):
        self.start_all(lambda node: self.tls(f"node-{node}"))
        removed = self.ask(1, "members", "remove", "3", "--peer", self.network.address(1),
                           *self.alice())
        self.assertEqual(removed.returncode, OK, removed.stderr)
        self.hosts[3].end()
        del self.hosts[3]
        self.start(3, self.tls("node-3"))
        self.hosts[3].expect("not a member")
        listed = self.ask(1, "members", "--peer", self.network.address(2), *self.alice())
        self.assertNotIn(self.network.address(3), listed.stdout)


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("this takes root: it makes network namespaces")
    unittest.main()
