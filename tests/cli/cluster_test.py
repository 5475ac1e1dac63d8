"""A cluster of three `mortise node`, as the other commands see it."""

import json
import os
import signal
import subprocess
import tempfile
import unittest
from unittest import mock

import program
from program import (CONFIG, FAILED, HOLDER, OK, TAKEN, UNAVAILABLE, USAGE, Case, Cluster,
                     config_text, free_ports, run, start, wait_until)


def without_ages(lock):
    """Of two listings, each at its own time."""
    def age_left_out(party):
        return {key: value for key, value in party.items() if key != "age_ms"}
    return lock | {who: [age_left_out(party) for party in lock[who]]
                   for who in ("holders", "waiters")}


class ThreeNodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.cluster.__enter__()
        cls.ready_lines = cls.cluster.wait_ready()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__()

    def json(self, *words):
        result = run(*words, "--json")
        self.assertEqual((result.returncode, result.stderr), (OK, ""), result.stderr)
        return json.loads(result.stdout)

    def test_each_node_says_that_it_is_ready(self):
        for node, (line, port) in enumerate(zip(self.ready_lines, self.cluster.ports), 1):
            self.assertEqual(line, f"mortise: node {node} of cluster mortise is ready, "
                                   f"listening on 127.0.0.1:{port}\n")

    def test_status_shows_one_cluster_with_one_leader(self):
        def agreed():
            reports = self.json("status", *self.cluster.peers())
            return len({report["status"]["leader"] for report in reports}) == 1
        wait_until(agreed)
        reports = self.json("status", *self.cluster.peers())
        self.assertEqual([report["status"]["id"] for report in reports], [1, 2, 3])
        self.assertEqual(len({report["status"]["cluster_id"] for report in reports}), 1)
        self.assertRegex(reports[0]["status"]["cluster_id"], r"\A[0-9a-f]{32}\Z")
        standings = sorted(report["status"]["standing"] for report in reports)
        self.assertEqual(standings, ["follower", "follower", "leader"])
        for report in reports:
            self.assertTrue(report["status"]["ready"])
            self.assertEqual([member["id"] for member in report["status"]["members"]], [1, 2, 3])

    def test_status_is_a_table_without_colour_in_a_pipe(self):
        result = run("status", *self.cluster.peers())
        lines = result.stdout.splitlines()
        self.assertEqual(result.returncode, OK)
        self.assertEqual(len(lines), 4)
        self.assertTrue(lines[0].startswith("PEER "))
        self.assertNotIn("\x1b", result.stdout)
        self.assertEqual(sum("leader" in line for line in lines[1:]), 1)

    def test_a_configuration_may_have_no_more_than_the_peers(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "peers.toml")
            with open(path, "w", encoding="utf-8") as file:
                for node, port in enumerate(self.cluster.ports, 1):
                    file.write(f'[[peer]]\nid = {node}\naddress = "127.0.0.1:{port}"\n')
            self.assertEqual(len(self.json("status", "--config", path)), 3)
            self.assertEqual(self.json("locks", "--config", path), [])
            ran = run("run", "--lock", "peers-only", "--config", path, "--", "echo", "ran")
            self.assertEqual((ran.returncode, ran.stdout), (OK, "ran\n"), ran.stderr)

    def test_the_members_may_come_from_a_configuration_or_the_environment(self):
        self.assertEqual(len(self.json("status", "--config", self.cluster.config(1))), 3)
        peers = ",".join(f"{node}=127.0.0.1:{port}"
                         for node, port in enumerate(self.cluster.ports, 1))
        # With blanks and line ends, as from a file: a node reads it the same way.
        for form in (peers, f" {peers.replace(',', ' , ')}\n"):
            result = run("status", MORTISE_PEER_LIST=form)
            self.assertEqual(len(result.stdout.splitlines()), 4, result.stderr)

    def test_health_of_members(self):
        self.assertEqual(run("status", "--ready", *self.cluster.peers()).returncode, OK)
        nobody, = free_ports(1)
        words = ("status", *self.cluster.peers(), "--peer", f"127.0.0.1:{nobody}")
        self.assertEqual(run(*words).returncode, OK)
        for more in ((), ("--json",)):
            self.assertEqual(run(*words, "--ready", *more).returncode, UNAVAILABLE)
        with Cluster() as alone:
            for process in alone.processes[1:]:
                process.kill()
            one = ("status", "--peer", f"127.0.0.1:{alone.ports[0]}")
            wait_until(lambda: "not ready" in run(*one).stdout)
            self.assertEqual(run(*one).returncode, UNAVAILABLE)
            self.assertEqual(run(*one, "--ready").returncode, UNAVAILABLE)

    def test_locks_of_an_idle_cluster(self):
        self.assertEqual(self.json("locks", *self.cluster.peers()), [])
        self.assertEqual(self.json("locks", "orders/", "--local", *self.cluster.peers()), [])
        table = run("locks", *self.cluster.peers()).stdout.splitlines()
        self.assertEqual(len(table), 1)

    def test_inspect_of_a_free_lock(self):
        lock = self.json("inspect", "orders/42", *self.cluster.peers())
        self.assertEqual((lock["name"], lock["holders"], lock["waiters"]), ("orders/42", [], []))
        shown = run("inspect", "or\x1bders", *self.cluster.peers()).stdout
        self.assertEqual(shown, "or\\x1bders is free\n")

    def test_a_member_that_is_not_there_is_passed_over(self):
        # Nothing listens on port 1 of loopback.
        peers = ["--peer", "127.0.0.1:1", *self.cluster.peers()]
        self.assertEqual(self.json("locks", *peers), [])
        reports = self.json("status", *peers)
        self.assertIn("problem", reports[0])
        self.assertEqual([report["status"]["id"] for report in reports[1:]], [1, 2, 3])


class AProgramThatHolds(unittest.TestCase):
    """Two of the nodes are `mortise node`, the third is a program with a lock of its own."""

    def json(self, *words):
        result = run(*words, "--json", *self.cluster.peers())
        self.assertEqual((result.returncode, result.stderr), (OK, ""), result.stderr)
        return json.loads(result.stdout)

    def test_its_lock_and_its_waiter_are_listed(self):
        with Cluster(last=HOLDER) as self.cluster:
            token = self.cluster.wait_ready()[2].split()[1]
            wait_until(lambda: self.json("locks")[0]["waiters"])
            lock, = self.json("locks")
            holder, = lock["holders"]
            waiter, = lock["waiters"]
            status = self.json("status")[2]["status"]
            self.assertEqual(status["cluster"], "mortise")
            self.assertEqual((lock["name"], lock["policy"]), ("orders/42", "phase_fair"))
            self.assertEqual((holder["node"], holder["session"]), (3, status["session"]))
            self.assertEqual((waiter["node"], waiter["session"]), (3, status["session"]))
            self.assertEqual((holder["label"], waiter["label"]), ("the holder", "the waiter"))
            self.assertEqual((holder["mode"], waiter["mode"]), ("exclusive", "shared"))
            self.assertEqual(str(holder["token"]), token)
            self.assertEqual(without_ages(self.json("inspect", "orders/42")), without_ages(lock))
            self.assertEqual(self.json("locks", "nothing/"), [])
            rows = [line.split() for line in
                    run("locks", *self.cluster.peers()).stdout.splitlines()[1:]]
            self.assertEqual([row[:4] for row in rows],
                             [["orders/42", "holds", "exclusive", "3"],
                              ["orders/42", "waits", "shared", "3"]])
            self.cluster.processes[2].stdin.close()
            self.assertEqual(self.cluster.processes[2].wait(60), OK)
            self.assertEqual(self.json("locks"), [])


    def break_it(self, *words):
        return run("break", "orders/42", "--reason", "it hangs", *words, *self.cluster.peers())

    def test_its_lock_can_be_taken_away(self):
        with Cluster(last=HOLDER) as self.cluster:
            token = self.cluster.wait_ready()[2].split()[1]
            wait_until(lambda: self.json("locks")[0]["waiters"])
            wrong = self.break_it("--token", int(token) + 1)
            line = f"mortise: orders/42 is not held under token {int(token) + 1}; " \
                "mortise inspect shows the present one\n"
            self.assertEqual((wrong.returncode, wrong.stdout, wrong.stderr), (FAILED, "", line))
            self.assertEqual(len(self.json("locks")[0]["holders"]), 1)
            broken = self.break_it("--token", token)
            self.assertEqual((broken.returncode, broken.stdout, broken.stderr),
                             (OK, "orders/42 is broken\n", ""))
            # Its node lives and confirms the break: the waiter gets the name, and releases it.
            wait_until(lambda: not self.json("locks"))

    def test_nobody_need_wait_for_a_holder_that_does_not_answer(self):
        with Cluster(last=HOLDER) as self.cluster:
            token = self.cluster.wait_ready()[2].split()[1]
            self.cluster.processes[2].send_signal(signal.SIGSTOP)
            broken = self.break_it("--token", token, "--now", "--json")
            self.assertEqual((broken.returncode, broken.stderr), (OK, ""))
            self.assertEqual(json.loads(broken.stdout),
                             {"done": "broken", "name": "orders/42", "token": token})
            self.assertEqual([lock["holders"] for lock in self.json("locks")
                              if any(holder["token"] == token for holder in lock["holders"])], [])
            self.cluster.processes[2].send_signal(signal.SIGCONT)


class Waiting(unittest.TestCase):
    def test_a_node_says_why_it_is_not_ready(self):
        with Cluster() as cluster:
            for process in cluster.processes[1:]:
                process.end()
            # The others may have run long enough to form the cluster, or not.
            self.assertRegex(cluster.processes[0].stderr.readline(), r"\Amortise: not ready: \w")

    def test_a_node_says_that_it_listens_where_nobody_calls(self):
        with Cluster(size=1) as cluster:
            cluster.wait_ready()
            self.assertEqual(cluster.processes[0].stop(), OK)
            config = cluster.config(1)
            listen = f"127.0.0.1:{cluster.ports[0]}"
            text = config.read_text(encoding="utf-8")
            config.write_text(text.replace(f'address = "{listen}"', 'address = "127.0.0.1:1"'),
                              encoding="utf-8")
            again = cluster.keep(start("node", "--config", config))
            self.assertEqual(again.stderr.readline(),
                             f"mortise: listening on {listen}, peers are told 127.0.0.1:1\n")


class Ending(unittest.TestCase):
    def test_both_signals_end_a_node_in_order(self):
        for how in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=how), Cluster() as cluster:
                cluster.wait_ready()
                self.assertEqual(cluster.end(how), [OK] * 3)

    def test_a_node_without_its_cluster_waits_and_can_be_ended(self):
        with Cluster() as cluster:
            cluster.wait_ready()
            for process in cluster.processes[1:]:
                process.end()
            peer = ["--peer", f"127.0.0.1:{cluster.ports[0]}"]
            result = run("locks", *peer, "--timeout", "1s")
            self.assertEqual(result.returncode, UNAVAILABLE, result.stdout)
            self.assertTrue(result.stderr.startswith("mortise: no majority"), result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            result = run("inspect", "orders/42", *peer, "--timeout", "1s")
            self.assertTrue(result.stderr.startswith("mortise: orders/42: no majority"),
                            result.stderr)
            self.assertEqual(run("locks", *peer, "--local").returncode, OK)
            self.assertEqual(cluster.processes[0].stop(), OK)

    def test_a_killed_node_comes_back(self):
        with Cluster() as cluster:
            cluster.wait_ready()
            cluster.processes[0].end()
            again = cluster.keep(start("node", "--config", cluster.config(1)))
            self.assertIn("ready", again.stdout.readline())
            self.assertEqual(again.stop(), OK)


class Evictions(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(last=HOLDER, does=["one"])
        self.cluster.__enter__()
        self.addCleanup(self.cluster.__exit__)
        self.cluster.wait_ready()

    def json(self, *words):
        result = run(*words, "--json", *self.cluster.peers())
        self.assertEqual((result.returncode, result.stderr), (OK, ""), result.stderr)
        return json.loads(result.stdout)

    def session_of(self, name):
        holder, = self.json("inspect", name)["holders"]
        return str(holder["session"])

    def evict(self, session, *words):
        return run("evict", session, "--reason", "host is dead", *words, *self.cluster.peers())

    def test_a_session_ends_when_its_node_has_heard_of_it(self):
        session = self.session_of("orders/42")
        done = self.evict(session)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (
            OK, f"session {session} ends now, or with its lease if its node is silent\n", ""))
        wait_until(lambda: not self.json("inspect", "orders/42")["holders"])
        wait_until(lambda: session not in [str(one["session"]) for one in self.json("sessions")])
        again = self.evict(session)
        self.assertEqual((again.returncode, again.stderr), (
            FAILED, f"mortise: there is no session {session}; mortise sessions lists them\n"))

    def test_at_once_its_command_is_killed_and_the_lock_is_free(self):
        job = start("run", "--lock", "jobs/a", "--ttl", "60s", *self.cluster.peers(), "--",
                    "sh", "-c", "echo runs; sleep 1000")
        self.addCleanup(job.end)
        job.stdout.readline()
        session = self.session_of("jobs/a")
        done = self.evict(session, "--immediate", "--json")
        self.assertEqual(json.loads(done.stdout), {"session": session, "done": "evicted"})
        result = run("run", "--lock", "jobs/a", "--wait", "5s", *self.cluster.peers(), "--", "true")
        self.assertEqual(result.returncode, OK, result.stderr)
        self.assertEqual(job.wait(30), 76)

    def test_what_makes_no_sense_is_usage(self):
        for words in (["0", "--reason", "r"], ["x", "--reason", "r"], ["1"],
                      ["1", "--reason", "r" * 257]):
            with self.subTest(words=words):
                self.assertEqual(run("evict", *words, *self.cluster.peers()).returncode, USAGE)


class TlsOfAConfiguration(unittest.TestCase):
    def setUp(self):
        for patch in (mock.patch.object(program, "WITH_TLS", True),
                      mock.patch.dict(program.CREDENTIALS)):
            patch.start()
            self.addCleanup(patch.stop)
        self.cluster = Cluster()
        self.cluster.__enter__()
        self.addCleanup(self.cluster.__exit__)
        self.cluster.wait_ready()

    def members(self, *words):
        result = run("members", "--json", *words)
        self.assertEqual(result.returncode, OK, result.stderr)
        return json.loads(result.stdout)

    def config(self, member):
        """Of a user, who knows this member only."""
        directory = self.cluster.place
        path = directory / "user.toml"
        path.write_text(f'''role = "client"
peer = [{{ id = {member["id"]}, address = "{member["address"]}" }}]
[tls]
certificate = "{directory}/user-tester.pem"
key = "{directory}/user-tester.key"
ca = "{directory}/ca.pem"
''', encoding="utf-8")
        return path

    def test_it_also_serves_to_ask_the_leader(self):
        follower = [each for each in self.members(*self.cluster.peers()) if not each["leads"]][0]
        config = self.config(follower)
        program.CREDENTIALS.clear()
        for member in self.members("--config", config):
            self.assertIsNotNone(member["matching"])
            self.assertIsNotNone(member["lag"])


class OneNode(Case):
    def setUp(self):
        super().setUp()
        self.port, = free_ports(1)
        self.config = self.directory / "mortise.toml"
        self.write()

    def write(self, more="", port=None):
        text = config_text(1, [port or self.port], self.directory) + more
        self.config.write_text(text, encoding="utf-8")

    def test_a_variable_wins_over_its_key_of_the_file(self):
        self.write('[log]\nlevel = "error"\n')
        node = self.keep(start("node", "--config", self.config, MORTISE_CLUSTER="bills",
                               MORTISE_LOG_LEVEL="info", log=self.directory / "log"))
        self.assertIn("cluster bills is ready", node.stdout.readline())
        self.assertIn(" info mortise node 1: ", node.logged())
        result = run("node", "--config", self.config, MORTISE_TIMING_HEARTBEAT="soon")
        self.assertEqual(result.returncode, CONFIG)
        self.assertTrue(result.stderr.startswith("mortise: MORTISE_TIMING_HEARTBEAT: "))
        # A command that asks: the certificate of the environment, the peers of the file.
        words = ("status", "--config", self.config)
        nobody = f"1=127.0.0.1:{free_ports(1)[0]}"
        self.assertEqual(run(*words, MORTISE_PEER_LIST=nobody).returncode, OK)
        result = run(*words, MORTISE_TLS_CERTIFICATE="a.pem")
        self.assertEqual(result.returncode, CONFIG, result.stderr)
        self.assertIn("tls.key: missing", result.stderr)

    def test_a_log_of_json_has_an_object_on_each_line(self):
        self.write('[log]\nlevel = "debug"\nformat = "json"\n')
        node = self.keep(start("node", "--config", self.config, log=self.directory / "log"))
        self.assertIn("is ready", node.stdout.readline())
        for number in (signal.SIGUSR1, signal.SIGHUP):
            node.send_signal(number)
        wait_until(lambda: "SIGUSR1 has no effect" in node.logged() and "SIGHUP: " in node.logged())
        second = run("node", "--config", self.config)
        self.assertEqual(node.stop(), OK)
        third = run("node", "--config", self.config, MORTISE_LOG_FORMAT="json",
                    MORTISE_LOG_LEVEL="loud")
        self.assertEqual((second.returncode, third.returncode), (TAKEN, CONFIG))
        lines = [json.loads(line) for text in (node.logged(), second.stderr, third.stderr)
                 for line in text.splitlines()]
        self.assertGreater(len(lines), 8)
        for line in lines:
            with self.subTest(line=line):
                self.assertEqual(sorted(line),
                                 ["fields", "key", "level", "message", "node", "time"])
                self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$")
                self.assertIn(line["level"], ("debug", "info", "warn", "error"))
        self.assertIn("ready", {line["key"] for line in lines})
        for text in (second.stderr, third.stderr):
            last = json.loads(text.splitlines()[-1])
            self.assertEqual((last["level"], last["key"]), ("error", "program_failed"))

    def test_a_node_at_the_usual_address_of_this_host_needs_no_peer(self):
        self.write(port=7401)
        script = """ip link set lo up && { "$0" node --config "$1" & } &&
            until "$0" status --ready; do sleep 0.2; done &&
            "$0" run --lock jobs/a -- echo runs; kill $!; wait"""
        within = ["unshare", "-rn", "sh", "-c", script, program.PROGRAM, self.config]
        result = subprocess.run(within, env=program.environment(), capture_output=True, text=True,
                                timeout=60, check=False)
        if "unshare: " in result.stderr:
            self.skipTest("this machine allows no network namespaces: " + result.stderr)
        self.assertIn("runs\n", result.stdout, result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
