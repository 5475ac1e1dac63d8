"""Three nodes on three hosts (network namespaces) with TLS, as docs/tls.md says; who is kept out.

    hosts_test.py MORTISE WORKER
"""

import os
import socket
import subprocess
import sys
import threading
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
sys.path.insert(0, str(HERE.parent / "torture"))

from namespaces import Network, run_inside  # noqa: E402

run_inside()  # before the next import, which takes arguments away
from program import HOLDER, OK, Case, Talker, environment, harness, run, tls_lines  # noqa: E402

SECRET = "a-name-that-nobody-else-shall-read"
ETH_P_ALL = 3
INSECURE = ["[tls]", "insecure = true"]


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


class HostsTest(Case):
    """Workers (worker.cpp), each on its host."""

    network = None

    @classmethod
    def setUpClass(cls):
        cls.network = Network(4)

    def setUp(self):
        super().setUp()
        self.hosts = {}
        self.cert("init", "--cluster", "orders")
        for node in (1, 2, 3):
            self.issue(node)
        self.cert("issue", "--user", "alice", "--role", "admin")

    def cert(self, verb, *words, place=None):
        done = run("cert", verb, "--dir", place or self.directory, *words)
        self.assertEqual(done.returncode, OK, done.stderr)

    def issue(self, node, *words, place=None):
        self.cert("issue", "--node", str(node), *words, place=place)

    def tls(self, stem):
        return tls_lines(self.directory, stem)

    def start(self, node, tls, host=None):
        host = host or node
        text = harness.config_text(
            node, {peer: self.network.address(peer) for peer in (1, 2, 3)},
            self.directory / f"data-{host}", "0.0.0.0:7401", tls, cluster='"orders"')
        path = self.directory / f"host-{host}.toml"
        path.write_text(text + '[log]\nlevel = "info"\n', encoding="utf-8")
        self.hosts[host] = self.keep(Talker([*self.network.enter(host), HOLDER, path],
                                            env=environment(), stderr=subprocess.STDOUT))

    def expect(self, host, part):
        process = self.hosts[host]
        process.wait_for(lambda: any(part in line for line in list(process.lines)), part)

    def ask(self, host, *words):
        return run(*words, within=self.network.enter(host))

    def alice(self):
        return ["--cert", f"{self.directory}/user-alice.pem", "--key",
                f"{self.directory}/user-alice.key", "--ca", f"{self.directory}/ca.pem"]

    def start_all(self, tls_of):
        for node in (1, 2, 3):
            self.start(node, tls_of(node))
        for node in (1, 2, 3):
            self.expect(node, "ready")

    def captured(self):
        capture = Capture("v1")  # the traffic of the first host
        self.hosts[1].tell(f"acquire {SECRET}")
        self.expect(1, f"held {SECRET}")
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
        self.start_all(lambda _: INSECURE)
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
        self.expect(asked, f"refused a connection from {self.network.ip(4)}")
        self.assertTrue(any(reason in line for line in self.hosts[asked].lines),
                        self.hosts[asked].lines)
        self.assertFalse(any(line.startswith("ready") for line in self.hosts[4].lines))

    def test_a_node_without_a_certificate_is_kept_out(self):
        self.refused(3, INSECURE, "does not speak TLS")

    def test_a_certificate_of_another_authority_is_kept_out(self):
        place = self.directory / "other"
        place.mkdir()
        self.cert("init", "--cluster", "orders", place=place)
        self.issue(3, place=place)
        # The caller checks first, and does not trust the called node either.
        self.refused(3, tls_lines(place, "node-3"), "does not know the authority")

    def test_a_node_cannot_start_with_the_certificate_of_another(self):
        self.start(3, self.tls("node-2"), host=4)
        self.expect(4, "that of node 2 of cluster orders, not of node 3")

    def test_a_member_that_was_removed_stays_out(self):
        self.start_all(lambda node: self.tls(f"node-{node}"))
        removed = self.ask(1, "members", "remove", "3", "--peer", self.network.address(1),
                           *self.alice())
        self.assertEqual(removed.returncode, OK, removed.stderr)
        self.hosts[3].end()
        del self.hosts[3]
        self.start(3, self.tls("node-3"))
        self.expect(3, "not a member")
        listed = self.ask(1, "members", "--peer", self.network.address(2), *self.alice())
        self.assertNotIn(self.network.address(3), listed.stdout)


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("this takes root: it makes network namespaces")
    unittest.main()
