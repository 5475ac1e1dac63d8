"""`mortise watch` and `mortise sessions` against a cluster."""

import json
import os
import signal
import socket
import time
import unittest

from program import (HOLDER, OK, PROGRAM, READER_GONE, UNAVAILABLE, USAGE, Case, Cluster, Talker,
                     environment, free_ports, full_pipe, run, start, wait_until)


class Watch(Case):
    def start_cluster(self):
        # The holder has the lock orders/42, and waits for it a second time.
        self.cluster = Cluster(last=HOLDER, does=["one"], session_ttl="20s")
        self.cluster.__enter__()
        self.addCleanup(self.cluster.__exit__)
        self.cluster.wait_ready()

    def watch(self, *words):
        return self.keep(Talker([PROGRAM, "watch", *words, *self.cluster.peers()],
                                env=environment(), log=self.directory / "errors"))

    def token(self):
        shown = json.loads(run("inspect", "orders/42", "--json", *self.cluster.peers()).stdout)
        return shown["holders"][0]["token"]

    def events(self, process, count):
        wait_until(lambda: len(process.lines) >= count)
        return [json.loads(line) for line in process.lines]

    # Under ThreadSanitizer even _exit() waits for a write to stdout.
    @unittest.skipIf("TSAN_OPTIONS" in os.environ, "ThreadSanitizer hangs")
    def test_a_signal_ends_it_although_nobody_reads(self):
        self.start_cluster()
        reader, writer = full_pipe()
        self.addCleanup(os.close, reader)
        process = self.keep(start("watch", *self.cluster.peers(), stdout=writer))
        os.close(writer)
        time.sleep(1)
        self.assertEqual(process.stop(5), OK)

    def test_it_shows_the_state_and_then_each_change(self):
        self.start_cluster()
        process = self.watch("orders/", "--json")
        events = self.events(process, 3)
        self.assertEqual([event["event"] for event in events], ["gap", "state", "state_complete"])
        token = self.token()
        self.assertEqual(events[1]["name"], "orders/42")
        self.assertEqual(events[1]["holders"][0]["token"], token)
        self.assertEqual(events[1]["holders"][0]["label"], "the holder")
        run("break", "orders/42", "--token", token, "--reason", "r", *self.cluster.peers())
        events = self.events(process, 6)  # the waiter releases it at once
        self.assertEqual([event["event"] for event in events[3:]],
                         ["released", "granted", "released"])
        self.assertEqual((events[3]["how"], events[3]["holder"]["token"]), ("broken", token))
        self.assertEqual(events[4]["holder"]["label"], "the waiter")
        self.assertNotEqual(events[3]["position"], events[4]["position"])
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), OK)
        self.assertEqual(process.logged(), "")
        # It continues after a position.
        process = self.watch("orders/", "--json", "--from", events[3]["position"])
        self.assertEqual(self.events(process, 2), events[4:])

    def test_it_is_a_table_without_json(self):
        self.start_cluster()
        process = self.watch()
        wait_until(lambda: len(process.lines) >= 4)
        titles, gap, state, complete = process.lines
        self.assertEqual(titles.split()[:3], ["POSITION", "EVENT", "NAME"])
        self.assertEqual(gap.split()[:2], ["-", "gap"])
        self.assertEqual(state.split()[1:3], ["holds", "orders/42"])
        self.assertRegex(complete, r"^\d+\.0\.\d+ +state_complete$")

    def test_it_goes_on_at_another_member(self):
        self.start_cluster()
        process = self.watch("--json")
        self.events(process, 3)
        self.cluster.processes[0].end()
        token = self.token()
        run("break", "orders/42", "--token", token, "--reason", "r", *self.cluster.peers())
        events = self.events(process, 6)
        self.assertEqual([event["event"] for event in events],
                         ["gap", "state", "state_complete", "released", "granted", "released"])
        self.assertEqual(process.stop(), OK)
        self.assertRegex(process.logged(),
                         r"^mortise: [^\n]*127\.0\.0\.1:\d+[^\n]*; trying the next member\n")

    def test_it_ends_when_nobody_reads(self):
        self.start_cluster()
        process = self.keep(start("watch", *self.cluster.peers()))
        process.stdout.readline()
        process.stdout.close()  # and then nothing happens
        self.assertEqual(process.wait(60), READER_GONE)
        self.assertEqual(process.stderr.read(), "")

    def test_it_ends_when_nobody_reads_although_no_member_answers(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            process = self.keep(start("watch", "--peer", f"127.0.0.1:{silent.getsockname()[1]}"))
            process.stdout.readline()  # the titles; nothing is written after them
            process.stdout.close()
            self.assertEqual(process.wait(60), READER_GONE)

    def test_what_it_cannot_do_is_told(self):
        peer = f"127.0.0.1:{free_ports(1)[0]}"
        result = run("watch", "--peer", peer)
        self.assertEqual(result.returncode, UNAVAILABLE)
        self.assertIn("mortise: no member answered: ", result.stderr)
        result = run("watch", "--from", "yesterday", "--peer", peer)
        self.assertEqual(result.returncode, USAGE)
        self.assertEqual(result.stderr, 'mortise: --from: "yesterday" is not a position: write one '
                                        'that mortise watch printed, for example 4711.2\n')

    # --- sessions

    def test_sessions_are_listed(self):
        self.start_cluster()
        def has_waiter():
            sessions = json.loads(run("sessions", "--json", *self.cluster.peers()).stdout)
            return any(session["waits"] for session in sessions)
        wait_until(has_waiter)
        sessions = json.loads(run("sessions", "--json", *self.cluster.peers()).stdout)
        self.assertEqual(sorted(session["node"] for session in sessions), [1, 2, 3])
        for session in sessions:
            self.assertEqual(session["ttl_ms"], 20_000)
            self.assertLessEqual(session["left_ms"], 20_300)
            self.assertGreater(session["left_ms"], 5_000)
            self.assertGreater(session["age_ms"], 0)
            holder = session["node"] == 3
            self.assertEqual((session["holds"], session["waits"], session["label"]),
                             (1, 1, "the holder") if holder else (0, 0, ""))
        table = run("sessions", "--local", *self.cluster.peers()).stdout.splitlines()
        self.assertEqual(table[0].split(),
                         ["SESSION", "NODE", "FOR", "LEFT", "TTL", "HOLDS", "WAITS", "FROM",
                          "LABEL"])
        self.assertEqual(len(table), 4)

    def test_the_lease_of_a_stopped_process_runs_down(self):
        self.start_cluster()
        self.cluster.processes[2].pause()
        def left():
            sessions = json.loads(run("sessions", "--json", *self.cluster.peers()).stdout)
            return next(one["left_ms"] for one in sessions if one["node"] == 3)
        time.sleep(1)
        first = left()
        time.sleep(1.5)
        self.assertLess(left(), first - 1_000)
        self.cluster.processes[2].resume()


if __name__ == "__main__":
    unittest.main(verbosity=2)
