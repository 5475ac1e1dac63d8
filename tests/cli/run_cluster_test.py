"""`mortise run` against a cluster of three processes."""

import contextlib
import json
import signal
import subprocess
import sys
import time
import unittest

from program import (DENIED, OK, TAKEN, UNAVAILABLE, USAGE, Case, Cluster, config_text, free_ports,
                     run, start, tls_lines, wait_until)

LOST = 76
NAME = "jobs/nightly"


def shell(script):
    return ["sh", "-c", script]


def is_gone(pid):
    """It has ended, though nobody may have waited for it yet."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] in ("Z", "X")
    except OSError:
        return True


class Run(Case):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(session_ttl="3s")
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.cluster.wait_ready()

    def words(self, command, *options):
        return ["run", "--lock", NAME, "--ttl", "3s", *options, *self.cluster.peers(), "--",
                *command]

    def run_command(self, command, *options):
        return run(*self.words(command, *options))

    def start(self, command, *options):
        return self.keep(start(*self.words(command, *options), stdin=subprocess.DEVNULL))

    def lock(self, name=NAME):
        return json.loads(run("inspect", name, "--json", *self.cluster.peers()).stdout)

    def is_free(self):
        lock = self.lock()
        return not lock["holders"] and not lock["waiters"]

    def tearDown(self):
        wait_until(self.is_free)

    def test_the_command_runs_with_the_lock_and_its_token(self):
        process = self.start(shell('echo "$MORTISE_LOCK $MORTISE_FENCING_TOKEN"; sleep 1'))
        name, token = process.stdout.readline().split()
        self.assertEqual((name, token), (NAME, self.lock()["holders"][0]["token"]))
        self.assertEqual(process.wait(60), OK)

    def test_a_member_may_be_named_twice(self):
        result = self.run_command(["echo", "runs"], *self.cluster.peers())
        self.assertEqual((result.returncode, result.stdout), (OK, "runs\n"), result.stderr)

    def test_who_has_the_lock_is_told(self):
        holder = self.start(shell("echo runs; sleep 1000"), "--label", "the job")
        holder.stdout.readline()
        lock = self.lock()
        self.assertEqual([(one["label"], one["mode"]) for one in lock["holders"]],
                         [("the job", "exclusive")])
        for wait in ("0s", "300ms"):
            result = self.run_command(shell("echo runs"), "--wait", wait)
            self.assertEqual((result.returncode, result.stdout), (TAKEN, ""))
            self.assertRegex(result.stderr, rf"^mortise: {NAME} is taken: a client \(the job\) "
                                            rf"has it, for \d[\d.]* s, from \S+@\S+:\d+\n$")
        holder.send_signal(signal.SIGTERM)
        self.assertEqual(holder.wait(60), 128 + signal.SIGTERM)

    def test_it_waits_for_its_turn(self):
        holder = self.start(shell("echo runs; sleep 1"))
        holder.stdout.readline()
        result = self.run_command(shell("echo now"), "--wait", "30s")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (OK, "now\n", ""))
        self.assertEqual(holder.wait(60), OK)

    def test_shared_holders_run_together(self):
        first = self.start(shell("echo runs; sleep 1000"), "--shared")
        first.stdout.readline()
        result = self.run_command(shell("echo too"), "--shared", "--wait", "0s")
        self.assertEqual((result.returncode, result.stdout), (OK, "too\n"))
        self.assertEqual(self.run_command(shell("true"), "--wait", "0s").returncode, TAKEN)
        first.send_signal(signal.SIGINT)
        self.assertEqual(first.wait(60), 128 + signal.SIGINT)

    def test_several_locks_are_held_together_and_told_in_their_order(self):
        holder = self.start(
            shell('echo "$MORTISE_LOCK $MORTISE_FENCING_TOKEN $MORTISE_LOCKS $MORTISE_LOCK_2 '
                  '$MORTISE_FENCING_TOKEN_1 $MORTISE_FENCING_TOKEN_2 [$MORTISE_SLOTS]"; '
                  'sleep 1000'), "--lock", "jobs/a")
        told = holder.stdout.readline().split()
        first, second = (self.lock(name)["holders"][0]["token"] for name in (NAME, "jobs/a"))
        self.assertEqual(told, [NAME, first, "2", "jobs/a", first, second, "[]"])
        for others in (["--lock", "jobs/b", "--lock", "jobs/a"], ["--lock", "jobs/a"]):
            result = run("run", *others, "--wait", "0s", *self.cluster.peers(), "--", "echo", "x")
            self.assertEqual((result.returncode, result.stdout), (TAKEN, ""))
            self.assertRegex(result.stderr, r"^mortise: jobs/a is taken: a client \(.*\) has it, ")
            self.assertFalse(self.lock("jobs/b")["holders"])
        holder.send_signal(signal.SIGTERM)
        holder.wait(60)
        wait_until(lambda: not self.lock("jobs/a")["holders"])

    def test_as_many_run_as_there_are_permits(self):
        words = ["run", "--lock", "jobs/pool", *self.cluster.peers()]
        show = ["--", *shell('echo "$MORTISE_LOCK $MORTISE_SLOTS"; sleep 1000')]
        first = self.keep(start(*words, "--permits", "2/3", *show))
        self.assertEqual(first.stdout.readline(), "jobs/pool 0 1\n")
        result = run(*words, "--permits", "2", "--wait", "0s", *show)
        self.assertEqual((result.returncode, result.stdout), (TAKEN, ""))
        self.assertRegex(result.stderr, "jobs/pool is taken: a client .* has permits of it, ")
        # The limit is that of the first.
        second = self.keep(start(*words, "--permits", "1", *show))
        self.assertEqual(second.stdout.readline(), "jobs/pool 2\n")
        for process in (first, second):
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(60), 128 + signal.SIGTERM)

    def test_a_candidate_runs_while_it_leads_and_its_value_is_told(self):
        words = ["run", "--lock", "jobs/leader", "--ttl", "3s", *self.cluster.peers()]
        leader = self.keep(start(*words, "--elect", "10.0.0.7:8080", "--",
                                 *shell("echo leads $MORTISE_FENCING_TOKEN; sleep 1000")))
        token = self.lock("jobs/leader")["holders"][0]["token"] if leader.stdout.readline() else 0
        self.assertIn("10.0.0.7:8080", json.dumps(self.lock("jobs/leader")["value"]))
        listed = run("locks", "jobs/leader", *self.cluster.peers()).stdout
        self.assertRegex(listed, r"jobs/leader +holds .* election ")
        self.assertIn("the leader's value: \"10.0.0.7:8080\"", listed)
        other = self.keep(start(*words, "--elect", "10.0.0.8:8080", "--",
                                *shell("echo leads $MORTISE_FENCING_TOKEN")))
        wait_until(lambda: self.lock("jobs/leader")["waiters"])
        leader.send_signal(signal.SIGTERM)
        self.assertEqual(leader.wait(60), 128 + signal.SIGTERM)
        self.assertGreater(int(other.stdout.readline().split()[1]), int(token))
        self.assertEqual(other.wait(60), OK)
        self.assertNotIn("value", self.lock("jobs/leader"))

    def test_exit_codes_are_passed_on(self):
        for command, code in ((shell("exit 3"), 3), (shell("kill -9 $$"), 137),
                              (["/does/not/exist"], 127), (["/etc/passwd"], 126)):
            self.assertEqual(self.run_command(command).returncode, code)

    def test_a_killed_supervisor_takes_its_command_along(self):
        process = self.start(shell("echo $$; sleep 1000 & echo $!; wait"))
        children = [int(process.stdout.readline()) for _ in range(2)]
        process.kill()
        wait_until(lambda: all(is_gone(pid) for pid in children))

    def test_max_hold_ends_the_command(self):
        began = time.monotonic()
        result = self.run_command(shell('trap "" TERM; while :; do sleep 0.05; done'),
                                  "--max-hold", "2s", "--grace", "500ms")
        self.assertEqual(result.returncode, LOST)
        self.assertLess(time.monotonic() - began, 15)

    def test_min_hold_keeps_the_name_closed(self):
        self.assertEqual(self.run_command(shell("true"), "--min-hold", "2s").returncode, OK)
        result = self.run_command(shell("true"), "--wait", "0s")
        self.assertEqual(result.returncode, TAKEN)
        self.assertEqual(self.run_command(shell("true"), "--wait", "30s").returncode, OK)

    def test_without_a_grace_it_runs_for_longer_than_a_lease(self):
        result = self.run_command(shell("sleep 4; echo done"), "--grace", "0s")
        self.assertEqual((result.returncode, result.stdout), (OK, "done\n"), result.stderr)

    def test_a_short_max_hold_has_a_shorter_grace(self):
        result = run("run", "--lock", NAME, "--max-hold", "2s", *self.cluster.peers(), "--",
                     *shell("sleep 0.5; echo done"))
        self.assertEqual((result.returncode, result.stdout), (OK, "done\n"), result.stderr)

    def test_a_waiter_that_was_stopped_waits_anew(self):
        holder = self.start(shell("echo runs; sleep 1000"))
        holder.stdout.readline()
        waiter = self.keep(start("run", "--lock", NAME, "--ttl", "1s", *self.cluster.peers(), "--",
                                 "echo", "now", stdin=subprocess.DEVNULL))
        wait_until(lambda: self.lock()["waiters"])
        waiter.pause()
        wait_until(lambda: not self.lock()["waiters"])
        waiter.resume()
        wait_until(lambda: self.lock()["waiters"])
        holder.send_signal(signal.SIGTERM)
        self.assertEqual(waiter.wait(60), OK, waiter.stderr.read())
        self.assertEqual(waiter.stdout.read(), "now\n")

    @contextlib.contextmanager
    def frozen(self):
        for member in self.cluster.processes:
            member.pause()
        try:
            yield
        finally:
            for member in self.cluster.processes:
                member.resume()

    def test_a_cluster_that_is_away_is_not_a_lock_that_others_have(self):
        holder = self.start(shell("echo runs; sleep 1000"))
        holder.stdout.readline()
        for asked_to_end, code in ((False, UNAVAILABLE), (True, 128 + signal.SIGINT)):
            with self.subTest(code=code):
                waiter = self.start(shell("echo runs"), "--wait", "3s")
                wait_until(lambda: self.lock()["waiters"])
                with self.frozen():
                    time.sleep(2.9 if asked_to_end else 0)
                    began = time.monotonic()
                    if asked_to_end:
                        waiter.send_signal(signal.SIGINT)
                    self.assertEqual(waiter.wait(60), code, waiter.stderr.read())
                    self.assertLess(time.monotonic() - began, 3 if asked_to_end else 6)
        holder.send_signal(signal.SIGTERM)

    def test_it_ends_after_its_command_although_the_cluster_is_away(self):
        process = self.start(shell("echo runs; sleep 0.5; exit 3"))
        process.stdout.readline()
        with self.frozen():
            began = time.monotonic()
            self.assertEqual(process.wait(60), 3)
            self.assertLess(time.monotonic() - began, 5)

    # The commands do not compare the name of the cluster.
    def test_a_cluster_may_have_any_name(self):
        ports = free_ports(1)
        config = self.directory / "node.toml"
        config.write_text(config_text(1, ports, self.directory, cluster='"orders"'),
                          encoding="utf-8")
        self.keep(start("node", "--config", config)).stdout.readline()
        words = ["run", "--lock", NAME, "--timeout", "2s"]
        peer = ["--peer", f"127.0.0.1:{ports[0]}"]
        for words, variables, code in (
                ([*words, *peer], {}, OK),
                (words, {"MORTISE_PEER_LIST": f"1=127.0.0.1:{ports[0]}"}, OK),
                ([*words, "--config", config], {}, OK),
                ([*words, *peer], {"MORTISE_CLUSTER": "orders"}, OK),
                ([*words, *peer], {"MORTISE_CLUSTER": "bills"}, UNAVAILABLE)):
            with self.subTest(words=words, variables=variables):
                result = run(*words, "--", "true", **variables)
                self.assertEqual(result.returncode, code, result.stderr)

    # Nobody can renew, and nobody can grant the lock to others either.
    def test_without_the_cluster_the_command_ends_before_the_lock_is_free(self):
        process = self.start(
            shell('trap "date +%s.%N" TERM; echo $$; while :; do sleep 0.02; done'))
        command = int(process.stdout.readline())
        with self.frozen():
            stopped = time.time()
            wait_until(lambda: is_gone(command))
            ended = time.time()
            self.assertEqual(process.wait(30), LOST)
        asked = float(process.stdout.readline())
        # The shell tells that its own command was terminated.
        said = [line for line in process.stderr if line.startswith("mortise: ")]
        self.assertEqual(said, [
            "mortise: sh: the lock is about to be lost: the command is asked to end\n",
            "mortise: sh: the lock is lost: the command is killed\n"])
        # The lease ends 3 s after its last renewal at the latest, the grace is a quarter of that.
        self.assertLess(ended - stopped, 3.5)
        self.assertGreater(ended - asked, 0.4)
        self.assertLess(ended - asked, 1.2)

    def test_without_a_cluster_nothing_runs(self):
        peer = f"127.0.0.1:{free_ports(1)[0]}"
        result = run("run", "--lock", NAME, "--timeout", "1s", "--peer", peer, "--", "echo", "runs")
        self.assertEqual((result.returncode, result.stdout), (UNAVAILABLE, ""))
        self.assertEqual(result.stderr.count("\n"), 1)

    def test_bad_words_are_usage(self):
        for words, text in (
                (["--lock", NAME], "which command?"),
                (["--lock", NAME, "make"], "write -- before the command"),
                (["--", "make"], "--lock is required"),
                (["--lock", "", "--", "make"], "a name has 1 to 512 bytes"),
                (["--lock", NAME, "--wait", "10", "--", "make"], '--wait: "10" is not a duration'),
                *((["--lock", NAME, option, "", "--", "make"],
                   f'{option}: "" is not a duration: write 5s or 250ms')
                  for option in ("--wait", "--max-hold", "--min-hold", "--grace", "--ttl",
                                 "--timeout")),
                (["--lock", NAME, "--timeout", "0s", "--", "make"],
                 '--timeout: "0s" is no time at all'),
                (["--lock", NAME, "--ttl", "0s", "--", "make"], '--ttl: "0s" is no time at all'),
                (["--lock", NAME, "--wait", "99999999h", "--", "make"],
                 '--wait: "99999999h" is too long'),
                (["--lock", NAME, "--ttl", "1ns", "--", "make"],
                 "mortise: --ttl: must be from 200ms to 24h, not 1ns\n"),
                (["--lock", NAME, "--ttl", "25h", "--", "make"],
                 "mortise: --ttl: must be from 200ms to 24h, not 25h\n"),
                *((["--lock", NAME, "--permits", text, "--", "make"],
                   f'--permits: "{text}" is not N or N/LIMIT')
                  for text in ("0", "", "x", "1/", "/3", "1/0", "1025/2000", "1/65537", "1/2/3")),
                (["--lock", NAME, "--permits", "3/2", "--", "make"], "more permits than the limit"),
                (["--lock", NAME, "--lock", "b", "--permits", "1", "--", "make"],
                 "--permits: name one --lock"),
                (["--lock", NAME, "--lock", "b", "--elect", "v", "--", "make"],
                 "--elect: name one --lock"),
                (["--lock", NAME, "--elect", "v", "--permits", "1", "--", "make"],
                 "--permits and --elect exclude each other"),
                (["--lock", NAME, "--elect", "v", "--shared", "--", "make"], "--shared"),
                (["--lock", NAME, "--lock", "", "--", "make"], "a name has 1 to 512 bytes"),
                (["--lock", NAME, "--grace", "5s", "--", "make"],
                 "--grace: 5s is not less than half of the session TTL, which is 10s"),
                (["--lock", NAME, "--max-hold", "2s", "--grace", "2s", "--", "make"],
                 "--grace: 2s is not less than --max-hold, which is 2s")):
            with self.subTest(words=words):
                result = run("run", "--peer", "127.0.0.1:1", *words)
                self.assertEqual(result.returncode, USAGE, result.stderr)
                self.assertIn(text, result.stderr)


class Rights(Case):
    def issue(self, *who):
        done = run("cert", "issue", "--dir", self.directory, *who)
        self.assertEqual(done.returncode, OK, done.stderr)

    def test_without_the_right_to_acquire_nothing_runs(self):
        run("cert", "init", "--cluster", "mortise", "--dir", self.directory).check_returncode()
        self.issue("--node", "1")
        self.issue("--user", "alice", "--role", "client", "--may", "acquire:jobs/")
        ports = free_ports(1)
        config = self.directory / "node.toml"
        lines = tls_lines(self.directory, "node-1")
        config.write_text(config_text(1, ports, self.directory) + "\n".join(lines) + "\n",
                          encoding="utf-8")
        self.keep(start("node", "--config", config)).stdout.readline()
        access = ["--peer", f"127.0.0.1:{ports[0]}", "--cert", self.directory / "user-alice.pem",
                  "--key", self.directory / "user-alice.key", "--ca", self.directory / "ca.pem"]
        for words, code in ((["--lock", NAME], OK), (["--lock", "bills/1"], DENIED),
                            (["--lock", NAME, "--lock", "bills/1"], DENIED),
                            (["--lock", "jobs/pool", "--permits", "1/2"], OK),
                            (["--lock", "bills/1", "--permits", "1/2"], DENIED),
                            (["--lock", "jobs/leader", "--elect", "me"], OK),
                            (["--lock", "bills/1", "--elect", "me"], DENIED)):
            with self.subTest(words=words):
                result = run("run", *words, *access, "--", "echo", "runs")
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertEqual(result.stdout, "" if code else "runs\n")
                self.assertEqual(result.stderr.count("\n"), 1 if code else 0, result.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
