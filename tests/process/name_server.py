"""A name server for tests, in namespaces of their own: its answers change at any time.

It answers questions for A records of the names it knows, in UDP on 127.0.0.1, and says that there
is nothing else."""

import fcntl
import socket
import struct
import tempfile
import threading
from pathlib import Path

from namespaces import run

A, IN = 1, 1
OK, SERVER_FAILED, NO_SUCH_NAME = 0, 2, 3
ANSWER, AUTHORITATIVE = 0x8000, 0x0400
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40


def bring_up_loopback():
    """As `ip link set lo up`, which is a package more."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP | IFF_RUNNING))


def name_and_type(query):
    """Of the only question, which begins behind the header."""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode())
        at += 1 + query[at]
    kind, = struct.unpack_from("!H", query, at + 1)
    return ".".join(labels).lower(), kind, query[12:at + 5]


class NameServer:
    def __init__(self):
        self.addresses = {}  # name -> addresses; of an unknown name there are none
        self.is_broken = False  # it answers every question with a failure
        self.is_silent = False
        self.questions = 0
        bring_up_loopback()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 53))
        threading.Thread(target=self.serve, daemon=True).start()
        self.files = tempfile.TemporaryDirectory(prefix="mortise-names-")
        self.use("resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        self.use("nsswitch.conf", "hosts: files dns\n")

    def use(self, file, text):
        """For every process of this mount namespace."""
        path = Path(self.files.name) / file
        path.write_text(text, encoding="ascii")
        target = Path("/etc") / file
        if not target.exists():  # in the namespace of the test there is nothing to bind it over
            raise RuntimeError(f"{target} is missing")
        run("mount", "--bind", str(path), str(target.resolve()))

    def serve(self):
        while True:
            query, client = self.socket.recvfrom(512)
            self.questions += 1
            if not self.is_silent:
                self.socket.sendto(self.answer(query), client)

    def answer(self, query):
        name, kind, question = name_and_type(query)
        listed = self.addresses.get(name)
        code = SERVER_FAILED if self.is_broken else NO_SUCH_NAME if listed is None else OK
        found = (listed or []) if code == OK and kind == A else []
        header = struct.pack("!2sHHHHH", query[:2], ANSWER | AUTHORITATIVE | code, 1, len(found), 0,
                             0)
        records = b"".join(
            b"\xc0\x0c" + struct.pack("!HHIH", A, IN, 0, 4) + socket.inet_aton(address)
            for address in found)
        return header + question + records
