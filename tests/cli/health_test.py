"""`mortise status --ready`, as a health check of members in every state."""

import json
import socket
import threading
import time
import unittest

from program import (OK, UNAVAILABLE, USAGE, Cluster, config_text, free_ports, run, start,
                     wait_until)


class Health(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.cluster.wait_ready()

    def status(self, port, *words):
        return run("status", "--ready", "--peer", f"127.0.0.1:{port}", *words)

    def state(self, port):
        result = self.status(port, "--json")
        return result.returncode, json.loads(result.stdout)[0]["status"]

    def change(self, *words):
        result = run("members", *words, *self.cluster.peers())
        self.assertEqual(result.returncode, OK, result.stderr)

    def newcomer(self, number):
        """Starts a learner with an empty directory; returns its port."""
        port, = free_ports(1)
        config = self.cluster.write_config(
            config_text(number, [*self.cluster.ports, port], self.cluster.place, peers=(1, 2, 3),
                        role='"learner"'), f"node-{number}")
        self.begin(config)
        wait_until(lambda: run("status", "--peer", f"127.0.0.1:{port}").stdout)
        return port, config

    def begin(self, config):
        return self.cluster.keep(start("node", "--config", config))

    def test_a_learner_is_ready_once_it_is_added_and_until_it_is_removed(self):
        port, config = self.newcomer(4)
        code, status = self.state(port)
        self.assertEqual((code, status["ready"]), (UNAVAILABLE, False))
        self.assertIn("waits until it is added", status["why_not_ready"])
        self.change("add", 4, f"127.0.0.1:{port}")
        wait_until(lambda: self.state(port)[0] == OK)
        self.assertEqual(self.state(port)[1]["role"], "learner")
        self.change("remove", 4)
        removed = "not a member of the cluster: it was removed"
        wait_until(lambda: self.state(port)[1]["why_not_ready"] == removed)
        self.assertEqual(self.state(port)[0], UNAVAILABLE)
        self.assertIn("removed", self.status(port).stdout)
        # The next start behaves the same.
        process = self.cluster.processes[-1]
        self.assertEqual(process.stop(), OK)
        again = self.begin(config)
        said = [again.stderr.readline()]
        while said[-1] and not said[-1].startswith("mortise: "):
            said.append(again.stderr.readline())
        self.assertEqual(said[-1], f"mortise: not ready: {removed}\n")
        self.assertIn("this node is not a member of its cluster any more", "".join(said))
        self.assertEqual(self.state(port)[0], UNAVAILABLE)
        self.assertEqual(again.stop(), OK)

    def test_a_member_that_does_not_answer_takes_no_longer_than_the_time_out(self):
        process = self.cluster.processes[2]
        process.pause()
        began = time.monotonic()
        result = self.status(self.cluster.ports[2], "--timeout", "500ms")
        took = time.monotonic() - began
        process.resume()
        self.assertEqual((result.returncode, result.stdout), (UNAVAILABLE, ""))
        self.assertTrue(result.stderr.startswith("mortise: no member answered: 127.0.0.1:"))
        self.assertLess(took, 5)
        wait_until(lambda: self.status(self.cluster.ports[2]).returncode == OK)

    def test_a_port_of_something_else_is_not_ready(self):
        for answer in (b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x00" * 4096, None):
            with self.subTest(answer=answer), socket.create_server(("127.0.0.1", 0)) as server:
                thread = threading.Thread(target=serve, args=(server, answer))
                thread.start()
                result = self.status(server.getsockname()[1], "--timeout", "1s")
                thread.join()
                self.assertEqual((result.returncode, result.stdout), (UNAVAILABLE, ""))
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertTrue(result.stderr.startswith("mortise: no member answered: "))

    def test_a_port_that_nobody_listens_on_is_not_ready(self):
        for port, code in ((1, UNAVAILABLE), (0, UNAVAILABLE), (65536, USAGE)):
            self.assertEqual(self.status(port).returncode, code, port)

    def test_a_member_that_ends_is_not_ready_any_more(self):
        with Cluster() as ending:
            ending.wait_ready()
            self.assertEqual(ending.end(), [OK] * 3)
            for port in ending.ports:
                self.assertEqual(self.status(port).returncode, UNAVAILABLE)


def serve(server, answer):
    """Accepts one connection: sends that and closes, or sends nothing until the caller closes."""
    connection, _ = server.accept()
    with connection:
        if answer is None:
            while connection.recv(4096):
                pass
        else:
            connection.recv(4096)
            connection.sendall(answer)


if __name__ == "__main__":
    unittest.main(verbosity=2)
