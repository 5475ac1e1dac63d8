"""A thousand streams at the door of one node, beside a program that locks at another: what they
cost. crowd_test.py MORTISE STEADY_LOAD COUNT

It prints the figures."""

import json
import resource
import socket
import sys
import time
import unittest
from pathlib import Path

from door import Door, three_configs
from program import HOLDER as LOAD, Case, Talker, environment, start, \
    wait_until

COUNT = int(sys.argv.pop(1))
SECONDS = 10
TTL = 6
# What the load may be held up, in milliseconds; a busy machine holds everything up.
GAP_MAX = 1500
KIB_PER_STREAM_MAX = 40


def process_figures(pid):
    """Memory in KiB, threads, and seconds of the processor."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    told = dict(line.split("\t", 1) for line in status.splitlines())
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    used = (int(stat[11]) + int(stat[12])) / 100
    return int(told["VmRSS:"].split()[0]), int(told["Threads:"]), used


class Crowd(Case):
    def setUp(self):
        super().setUp()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 3 * COUNT + 500)), hard))
        configs = three_configs(self.directory, session_ttl="10s")
        process = self.keep(start("node", "--config", configs[0], "--http", "127.0.0.1:0"))
        self.keep(start("node", "--config", configs[1]))
        self.load = self.keep(Talker([LOAD, configs[2], "a", "b", "c", "d"], env=environment()))
        self.door = Door.__new__(Door)
        self.door.process, self.door.said = process, []
        self.door.find()
        self.load.expect("ready")

    def figures(self, what):
        """Of the load and of the node with the door, over some seconds."""
        self.load.ask("report", "report")
        before = process_figures(self.door.process.pid)
        time.sleep(SECONDS)
        after = process_figures(self.door.process.pid)
        calls, failed, longest, lost = self.load.ask("report", "report")[:4]
        self.assertEqual((failed, lost), ("0", "0"))
        print(f"{what}: {int(calls) / SECONDS:.0f} acquires/s beside it, longest {longest} ms; the "
              f"node with the door: {after[0] / 1024:.1f} MiB, {after[1]} threads, "
              f"{100 * (after[2] - before[2]) / SECONDS:.1f} % of a processor", flush=True)
        return float(longest), after

    def open(self, name):
        stream = socket.create_connection((self.door.host, self.door.port), timeout=60)
        stream.sendall(f"GET /v1/hold/{name}?ttl={TTL}s HTTP/1.1\r\n"
                       f"Host: 127.0.0.1\r\n\r\n".encode())
        return stream

    def test_a_thousand_streams(self):
        _, alone = self.figures("without streams")
        begin = time.monotonic()
        streams = [self.open(f"crowd/{number}") for number in range(COUNT)]
        tokens = set()
        for stream in streams:
            lines = stream.makefile("rb")
            while not (line := lines.readline()).startswith(b"{"):
                self.assertTrue(line)
            tokens.add(json.loads(line)["token"])
            lines.close()
        self.assertEqual(len(tokens), COUNT)
        print(f"{COUNT} streams hold after {time.monotonic() - begin:.1f} s")
        longest, crowded = self.figures(f"with {COUNT} streams")
        per_stream = (crowded[0] - alone[0]) / COUNT
        print(f"{per_stream:.1f} KiB for a stream and its hold")
        self.assertEqual(self.door.get("/v1/status")["streams"], COUNT)
        begin = time.monotonic()
        for stream in streams:
            stream.close()
        wait_until(lambda: self.door.get("/v1/status")["streams"] == 0)
        wait_until(lambda: not any(lock["holders"] for lock in
                                   self.door.get("/v1/locks?prefix=crowd/")["locks"]))
        print(f"all released {time.monotonic() - begin:.1f} s after they were closed")
        self.assertLess(longest, GAP_MAX)
        self.assertLess(per_stream, KIB_PER_STREAM_MAX)


if __name__ == "__main__":
    unittest.main()
