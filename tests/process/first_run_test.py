"""What `mortise node` says about each likely mistake: one line with the cause and the next step.

    first_run_test.py MORTISE MAKE_CERTIFICATE

All cases run at the same time, each with nodes of its own.
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from program import (HOLDER, PROGRAM, Process, environment, free_ports, run,  # noqa: E402
                     tls_lines)

MAKE_CERTIFICATE = HOLDER
# The line comes within about two seconds; a busy machine takes longer.
SOON = 20
# How long a line must not be repeated.
QUIET = 2.5
NOT_READY = "mortise: not ready: "


class Case:
    """The nodes of one mistake."""

    def __init__(self, stack):
        self.stack = stack
        self.place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="first-run-")))
        self.ports = free_ports(3)
        self.processes = {}

    def text(self, node, peers=(1, 2, 3), top="", tables="", timing="", **changed):
        values = {"node_id": node, "data_dir": f'"{self.place}/data-{node}"',
                  "listen": f'"127.0.0.1:{self.ports[node - 1]}"'} | changed
        lines = [top, *(f"{key} = {value}" for key, value in values.items() if value is not None)]
        for peer in peers:
            lines += ["[[peer]]", f"id = {peer}", f'address = "127.0.0.1:{self.ports[peer - 1]}"']
        return "\n".join([*lines, tables, "[timing]", 'election_timeout = "300ms"',
                          'heartbeat = "30ms"', 'session_ttl = "2s"', timing]) + "\n"

    def start(self, name, text, wrapper=(), **variables):
        config = self.place / f"{name}.toml"
        config.write_text(text, encoding="utf-8")
        self.start_program(name, [*wrapper, PROGRAM, "node", "--config", config], **variables)

    def start_program(self, name, words, **variables):
        self.processes[name] = Process(words, env=environment(**variables),
                                       output=self.place / f"{name}.log")
        self.stack.callback(self.processes[name].end)

    def nodes(self, *texts):
        for node, text in enumerate(texts, 1):
            self.start(node, text)

    def lines(self, name, *words):
        return self.processes[name].lines_with(*words)

    def wait(self, condition, name):
        end = time.monotonic() + SOON
        while not condition():
            if time.monotonic() > end:
                raise AssertionError("\n".join(["not in time; it said:", *self.lines(name)]))
            time.sleep(0.05)

    def says(self, name, *words):
        """One line has all the words, and is not repeated."""
        self.wait(lambda: self.lines(name, *words), name)
        time.sleep(QUIET)
        times = len(self.lines(name, *words))
        assert times == 1, "\n".join([f"{times} times:", *self.lines(name)])

    def ready(self, *names):
        for name in names:
            self.wait(lambda n=name: self.lines(n, "is ready"), name)

    def ends(self, name, *words):
        """The process ends, with one line that has all the words."""
        code = self.processes[name].wait(SOON)
        lines = self.lines(name)
        assert code != 0 and len(lines) == 1, f"exit code {code}\n" + "\n".join(lines)
        assert lines[0].startswith("mortise: "), lines[0]
        assert all(word in lines[0] for word in words), lines[0]

    def listener(self, serve=None):
        other = self.stack.enter_context(socket.socket())
        other.bind(("127.0.0.1", 0))
        other.listen()
        if serve is not None:
            threading.Thread(target=self.serve, args=(other, serve), daemon=True).start()
        return other.getsockname()[1]

    @staticmethod
    def serve(other, serve):
        with contextlib.suppress(OSError):
            while True:
                serve(other.accept()[0])

    # --- certificates

    def authority(self, name, cluster="mortise"):
        folder = self.place / name
        run("cert", "init", "--cluster", cluster, "--dir", folder).check_returncode()
        return folder

    def issue(self, folder, node, start=-300, length=86400, cluster="mortise"):
        subprocess.run([MAKE_CERTIFICATE, folder, cluster, str(node), str(start), str(length)],
                       check=True)

    @staticmethod
    def tls(folder, node, key=None, authorities=None):
        text = "\n".join(tls_lines(folder, f"node-{node}", authorities))
        return text.replace(f"node-{node}.key", key or f"node-{node}.key")

    def two_with(self, first, second):
        """Nodes 1 and 2 of a cluster of two, with these lines of TLS."""
        self.start(1, self.text(1, (1, 2), tables=first))
        self.start(2, self.text(2, (1, 2), tables=second))


# --- peers

def a_peer_that_does_not_run(case):
    case.start(1, case.text(1))
    case.says(1, NOT_READY, f"2 (127.0.0.1:{case.ports[1]}: nothing listens there: start it")


def a_peer_that_is_another_program(case):
    case.ports[1] = case.listener()
    case.start(1, case.text(1, (1, 2)))
    case.says(1, NOT_READY, "takes connections and says nothing: check which program")


def a_peer_that_hangs_up(case):
    case.ports[1] = case.listener(lambda connection: connection.close())
    case.start(1, case.text(1, (1, 2)))
    case.says(1, NOT_READY, "ends the connection: check that a node of Mortise listens")


def a_name_that_does_not_resolve(case):
    text = case.text(1, (1, 2)).replace(f"127.0.0.1:{case.ports[1]}", "no-such-host.invalid:1")
    case.start(1, text)
    case.says(1, NOT_READY, "2 (no-such-host.invalid:1: its name does not resolve: correct")


def an_address_that_reaches_back_to_nobody(case):
    wrong, = free_ports(1)
    case.start(1, case.text(1, (1, 2)))
    case.start(2, case.text(2, (1, 2)).replace(
        f'id = 1\naddress = "127.0.0.1:{case.ports[0]}"', f'id = 1\naddress = "127.0.0.1:{wrong}"'))
    case.says(1, NOT_READY, "does not reach this node: check the address that it has")
    case.says(2, NOT_READY, f"1 (127.0.0.1:{wrong}: nothing listens there")


def the_address_of_another_peer(case):
    swapped = case.text(1)
    for one, other in ((1, 2), (2, 1)):
        swapped = swapped.replace(f'id = {one + 1}\naddress = "127.0.0.1:{case.ports[one]}"',
                                  f'id = {one + 1}\naddress = "127.0.0.1:{case.ports[other]}"')
    case.nodes(swapped, case.text(2), case.text(3))
    case.says(1, NOT_READY, "another node than expected is at this address")


def two_nodes_with_one_id(case):
    case.nodes(case.text(1), case.text(2), case.text(3))
    case.ready(1, 2, 3)
    case.ports[1], = free_ports(1)
    case.start("second", case.text(2, data_dir=f'"{case.place}/second"'))
    case.says("second", NOT_READY, "every node needs an id and a directory of its own")


def a_majority_that_is_gone(case):
    case.nodes(case.text(1), case.text(2), case.text(3))
    case.ready(1, 2, 3)
    for node in (2, 3):
        case.processes[node].end()
    case.says(1, NOT_READY, "no leader is known", f"2 (127.0.0.1:{case.ports[1]}, lost at ",
              " UTC: nothing listens there: start it", f"3 (127.0.0.1:{case.ports[2]}, lost at")


def names_of_clusters_that_differ(case):
    case.start(1, case.text(1, (1, 2), top='cluster = "orders"'))
    case.start(2, case.text(2, (1, 2), top='cluster = "payments"'))
    case.says(1, NOT_READY, "clusters of different names: correct cluster in one of their files")


def peers_that_one_node_lacks(case):
    case.nodes(case.text(1, (1, 2)), case.text(2), case.text(3))
    case.says(1, NOT_READY, "node 2 names the peers 1, 2, 3, and this node 1, 2: list the same")
    case.says(3, NOT_READY, "not a member, as far as is known here: list this node among its peers")


def times_that_differ(case):
    case.start(1, case.text(1, (1, 2)))
    case.start(2, case.text(2, (1, 2)).replace('"300ms"', '"200ms"'))
    case.says(1, "node 2 is configured with election_timeout 200ms (here 300ms)",
              "all members of a cluster should have the same")


def a_learner_that_nobody_added(case):
    case.nodes(case.text(1, (1, 2)), case.text(2, (1, 2)),
               case.text(3, (1, 2), top='role = "learner"'))
    case.says(3, NOT_READY, "a learner waits until it is added")


# --- the machine

def a_pause(case):
    case.start(1, case.text(1, (1,)))
    case.ready(1)
    case.processes[1].send_signal(signal.SIGSTOP)
    time.sleep(1.5)
    case.processes[1].send_signal(signal.SIGCONT)
    case.says(1, "did not run for ", "locks that it held may be lost. Check the load")


def a_port_in_use(case):
    other = case.listener()
    case.start(1, case.text(1, (1,), listen=f'"127.0.0.1:{other}"'))
    case.ends(1, f"cannot listen on 127.0.0.1:{other}", f"by process {os.getpid()} (python3",
              "give this node another port")


def an_address_that_others_reach_without_tls(case):
    case.start(1, case.text(1, (1,), listen='"0.0.0.0:0"'))
    case.ends(1, "1.toml:", "listen: ", "is not a loopback address: set tls.certificate")


def an_address_of_another_machine(case):
    case.start(1, case.text(1, (1,), listen='"192.0.2.7:7401"', top="", tables="[tls]\n"
                            "insecure = true"))
    case.ends(1, "cannot listen on 192.0.2.7:7401: Cannot assign requested address")


def a_full_disk(case):
    if os.geteuid() != 0:
        raise unittest.SkipTest("not root")
    disk = case.place / "disk"
    disk.mkdir()
    small = ["unshare", "--mount", "sh", "-c",
             f'mount -t tmpfs -o size=6m none {disk} && exec "$0" "$@"']
    case.start(1, case.text(1, (1,), data_dir=f'"{disk}/data"'), wrapper=small)
    case.ends(1, "No space left on device", "make room on the volume of data_dir")


# --- directories

def a_directory_of_another_node(case):
    case.start("first", case.text(2, (2,)))
    case.ready("first")
    case.processes["first"].end()
    case.start(1, case.text(1, (1,), data_dir=f'"{case.place}/data-2"'))
    case.ends(1, "belongs to node 2, this is node 1: every node needs a directory")


def a_directory_in_use(case):
    case.start("first", case.text(1, (1,)))
    case.ready("first")
    case.ports[0], = free_ports(1)
    case.start(1, case.text(1, (1,)))
    case.ends(1, f"is in use by process {case.processes['first'].pid}; end what uses it")


# --- the configuration

def a_misspelt_key(case):
    case.start(1, case.text(1, (1,), data_dri='"x"', data_dir=None))
    case.ends(1, "1.toml:", "data_dri: unknown key; did you mean data_dir?")


def a_misspelt_variable(case):
    case.start_program(1, [PROGRAM, "node"], MORTISE_DATA_DIR=str(case.place / "data"),
                       MORTISE_PEERLIST="1=127.0.0.1:7401,2=127.0.0.1:7402")
    case.ends(1, "MORTISE_PEERLIST: unknown variable; did you mean MORTISE_PEER_LIST?")


# --- certificates: this node's

def a_certificate_of_another_node(case):
    folder = case.authority("ca")
    case.issue(folder, 2)
    case.start(1, case.text(1, (1,), tables=case.tls(folder, 2)))
    case.ends(1, "node-2.pem is that of node 2", "not of node 1", "mortise cert issue")


def a_certificate_for_another_cluster(case):
    folder = case.authority("ca", "orders")
    case.issue(folder, 1, cluster="orders")
    case.start(1, case.text(1, (1,), tables=case.tls(folder, 1)))
    case.ends(1, "of cluster orders, not of node 1 of cluster mortise", "mortise cert issue")


def a_certificate_with_another_key(case):
    folder = case.authority("ca")
    case.issue(folder, 1)
    case.issue(folder, 2)
    case.start(1, case.text(1, (1,), tables=case.tls(folder, 1, key="node-2.key")))
    case.ends(1, "node-2.key is not that of the certificate", "name the one that was written")


def a_key_that_others_read(case):
    folder = case.authority("ca")
    case.issue(folder, 1)
    (folder / "node-1.key").chmod(0o644)
    case.start(1, case.text(1, (1,), tables=case.tls(folder, 1)))
    case.ends(1, "node-1.key can be read by others; run: chmod 600")


def a_certificate_that_is_missing(case):
    folder = case.authority("ca")
    case.start(1, case.text(1, (1,), tables=case.tls(folder, 1)))
    case.ends(1, "node-1.pem: No such file or directory; mortise cert issue makes the files")


def a_certificate_of_another_authority(case):
    folder, other = case.authority("ca"), case.authority("other")
    case.issue(other, 1)
    case.start(1, case.text(1, (1,), tables=case.tls(other, 1, authorities=folder)))
    case.ends(1, "is not signed by an authority in tls.ca: give both nodes certificates of one")


def a_certificate_that_is_not_valid_yet(case):
    folder = case.authority("ca")
    case.issue(folder, 1, start=7200)
    case.start(1, case.text(1, (1,), tables=case.tls(folder, 1)))
    case.ends(1, "is not valid yet: correct the time of day of this machine")


def a_certificate_that_expired(case):
    folder = case.authority("ca")
    case.issue(folder, 1, start=-7200, length=3600)
    case.start(1, case.text(1, (1,), tables=case.tls(folder, 1)))
    case.says(1, "has expired: new connections that rely on it are refused; issue another one")


# --- certificates: a peer's

def a_peer_whose_certificate_expired(case):
    folder = case.authority("ca")
    case.issue(folder, 1)
    case.issue(folder, 2, start=-7200, length=3600)
    case.two_with(case.tls(folder, 1), case.tls(folder, 2))
    case.says(1, NOT_READY, "its certificate has expired: issue another one")
    case.says(2, NOT_READY, "our certificate expired: issue another one for this node")


def a_peer_of_another_authority(case):
    one, other = case.authority("ca"), case.authority("other")
    case.issue(one, 1)
    case.issue(other, 2)
    case.two_with(case.tls(one, 1), case.tls(other, 2))
    case.says(1, NOT_READY, "is not signed by an authority in tls.ca: give both nodes")


def a_peer_without_tls(case):
    folder = case.authority("ca")
    case.issue(folder, 1)
    case.two_with(case.tls(folder, 1), "")
    case.says(1, NOT_READY, "speak TLS", "et its files below [tls] there, too")
    case.says(2, NOT_READY, "ends the connection", "both nodes use TLS, or neither")


CASES = [each for name, each in list(globals().items())
         if re.match(r"(a|an|the|two|names|peers|times)_", name) and callable(each)]


def run_case(case):
    with contextlib.ExitStack() as stack:
        case(Case(stack))


class FirstRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        pool = ThreadPoolExecutor(max_workers=10)
        cls.addClassCleanup(pool.shutdown)
        cls.running = {case: pool.submit(run_case, case) for case in CASES}


for one in CASES:
    setattr(FirstRun, f"test_{one.__name__}", lambda self, case=one: self.running[case].result())


if __name__ == "__main__":
    unittest.main(verbosity=2)
