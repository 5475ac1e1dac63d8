"""What `mortise node` tells the service manager that started it: sd_notify(3), Type=notify."""

import os
import signal
import socket
import subprocess
import time
import unittest

from program import OK, Case, config_text, free_ports, start, wait_until


class Manager:
    """The side of systemd: a socket for datagrams."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.settimeout(60)
        self.told = []

    def next(self):
        lines = self.socket.recv(4096).decode().splitlines()
        message = dict(line.split("=", 1) for line in lines)
        assert len(message) == len(lines), lines
        self.told.append(message)
        return message

    def until(self, **wanted):
        while True:
            message = self.next()
            if wanted.items() <= message.items():
                return message


class Service(Case):
    def setUp(self):
        super().setUp()
        self.ports = free_ports(2)

    def manager(self, address=None):
        manager = Manager(address or str(self.directory / "notify"))
        self.addCleanup(manager.socket.close)
        return manager

    def start(self, notify, ports=None):
        config = self.directory / "mortise.toml"
        config.write_text(config_text(1, ports or self.ports[:1], self.directory),
                          encoding="utf-8")
        return self.keep(start("node", "--config", config, NOTIFY_SOCKET=notify,
                               log=self.directory / "errors", stdout=subprocess.DEVNULL))

    def end(self, node):
        self.assertEqual(node.stop(), OK, node.logged())

    def test_a_life(self):
        manager = self.manager()
        node = self.start(str(self.directory / "notify"))
        self.assertEqual(manager.next().get("READY"), "1")
        manager.until(STATUS="ready")
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        node.send_signal(signal.SIGHUP)
        message = manager.next()
        self.assertEqual(message["RELOADING"], "1")
        self.assertGreaterEqual(int(message["MONOTONIC_USEC"]), before)
        self.assertLess(int(message["MONOTONIC_USEC"]), before + 60_000_000)
        self.assertEqual(manager.next(), {"READY": "1"})
        self.end(node)
        self.assertEqual(manager.next()["STOPPING"], "1")

    def test_a_name_in_the_abstract_namespace(self):
        name = f"mortise-test-{os.getpid()}"
        manager = self.manager(f"\0{name}")
        node = self.start(f"@{name}")
        self.assertEqual(manager.next().get("READY"), "1")
        self.end(node)
        manager.until(STOPPING="1")

    def test_a_node_that_waits_for_others_has_started(self):
        """Otherwise the start of the first machine would wait for that of the second."""
        manager = self.manager()
        node = self.start(str(self.directory / "notify"), self.ports)
        self.assertEqual(manager.next().get("READY"), "1")
        while "there is no connection with 2" not in (status := manager.next()["STATUS"]):
            self.assertTrue(status.startswith("not ready: "), status)
        self.assertNotIn("ready", [message.get("STATUS") for message in manager.told])
        self.end(node)

    def test_a_manager_that_is_not_there_is_told_about_once_and_changes_nothing(self):
        for notify in (str(self.directory / "nobody"), "not an address", "@" + 200 * "x"):
            with self.subTest(notify=notify):
                node = self.start(notify)
                said = "mortise: cannot tell the service manager at NOTIFY_SOCKET="
                wait_until(lambda node=node: said in node.logged())
                node.send_signal(signal.SIGHUP)
                wait_until(lambda node=node: "SIGHUP" in node.logged())
                self.end(node)
                self.assertEqual(node.logged().count(said), 1)

    def test_a_manager_that_was_away_for_a_while_is_told_the_rest(self):
        node = self.start(str(self.directory / "notify"))
        said = "mortise: cannot tell the service manager at NOTIFY_SOCKET="
        wait_until(lambda: said in node.logged())
        manager = self.manager()
        self.end(node)
        manager.until(STOPPING="1")

    def test_a_manager_that_reads_nothing_delays_the_end_by_seconds_at_most(self):
        manager = self.manager()
        node = self.start(str(self.directory / "notify"))
        manager.until(STATUS="ready")
        sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(sender.close)
        sender.setblocking(False)
        with self.assertRaises(BlockingIOError):
            while True:
                sender.sendto(b"X=1", str(self.directory / "notify"))
        began = time.monotonic()
        self.end(node)
        self.assertLess(time.monotonic() - began, 20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
