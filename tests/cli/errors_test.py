"""Each way to fail: the exit code, and one line on stderr."""

import ctypes
import os
import resource
import shutil
import socket
import subprocess
import time
import unittest

from program import (CONFIG, DATA_ERROR, DENIED, IO_ERROR, NO_INPUT, OK, PROGRAM, TAKEN,
                     UNAVAILABLE, USAGE, Case, config_text, environment, free_ports, run, start)


def obey_permissions():
    """Lets root be refused as any other user is: without CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH."""
    drop_from_bounding_set = 24
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0)


class Errors(Case):
    def expect(self, result, code, *texts):
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("mortise: "), result.stderr)
        for text in texts:
            self.assertIn(text, result.stderr)
        self.assertEqual(result.stdout, "")

    def config(self, text, name="mortise.toml"):
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        return path

    def alone(self, **keys):
        return config_text(1, free_ports(1), self.directory, **keys)

    # --- the command line

    def test_bad_words_are_usage(self):
        for words in ([], ["nonsense"], ["--nonsense"], ["status", "--nonsense"], ["inspect"],
                      ["node", "--config"], ["locks", "a", "b"], ["bench", "--seconds", "0"],
                      ["bench", "--seconds", "many"], ["demo", "extra"],
                      ["run", "--json", "x", "true"],
                      ["status", "--peer", "127.0.0.1:1", "--config", "x"]):
            with self.subTest(words=words):
                self.expect(run(*words), USAGE, "--help")

    def test_a_command_that_does_not_exist_is_named(self):
        for words in (["xyzzy"], ["help", "xyzzy"], ["man", "xyzzy"]):
            with self.subTest(words=words):
                self.expect(run(*words), USAGE, "no command 'xyzzy'; see mortise --help\n")

    def test_the_command_that_was_meant_is_told(self):
        for word, meant in (("stats", "status"), ("halp", "help"), ("Node", "node"),
                            ("transfer-leadr", "transfer-leader")):
            for words in ([word], ["help", word], ["man", word]):
                with self.subTest(words=words):
                    self.expect(run(*words), USAGE, f"no command '{word}' (did you mean {meant}?); "
                                                    "see mortise --help\n")
        self.expect(run("cert", "isue"), USAGE,
                    "isue (did you mean issue?); see mortise cert --help\n")
        self.expect(run("members", "ad"), USAGE, "not expected here: ad; see mortise members")
        self.expect(run("members", "remov", "3"), USAGE,
                    "not expected here: remov 3 (did you mean remove?); see mortise members "
                    "--help\n")

    def test_the_option_that_was_meant_is_told(self):
        for words, meant in ((["status", "--perr", "127.0.0.1:1"], "--peer"),
                             (["status", "--jsn"], "--json"), (["run", "--weit=0s"], "--wait")):
            with self.subTest(words=words):
                self.expect(run(*words), USAGE, f" (did you mean {meant}?); ",
                            f"; see mortise {words[0]} --help\n")
        self.expect(run("status", "--nonsense"), USAGE,
                    "not expected here: --nonsense; see mortise status --help\n")

    def test_no_cluster_named_is_usage(self):
        for words in (["status"], ["locks"], ["run", "--lock", "a", "--", "true"]):
            self.expect(run(*words), USAGE, "which cluster? cannot connect to 127.0.0.1:7401: ",
                        "--peer", "MORTISE_PEER_LIST")

    def test_a_malformed_address_is_usage(self):
        for address in ("localhost", "127.0.0.1:", "127.0.0.1:port", "127.0.0.1:99999", ":"):
            with self.subTest(address=address):
                why = "a port is at most 65535" if address.endswith(":99999") else \
                    "write host:port, or [::1]:port for IPv6"
                line = f'mortise: "{address}" is not an address: {why}\n'
                self.expect(run("status", "--peer", address), USAGE, line)

    def test_a_malformed_timeout_is_usage(self):
        for timeout, advice in (("soon", "5s or 250ms"), ("5", "5s"), ("0.5", "0.5s"),
                                ("0", "5s or 250ms"), ("-1s", "5s or 250ms")):
            with self.subTest(timeout=timeout):
                line = f'mortise: --timeout: "{timeout}" is not a duration: write {advice}\n'
                self.expect(run("status", "--peer", "127.0.0.1:1", f"--timeout={timeout}"), USAGE,
                            line)

    def test_a_timeout_that_cannot_be_counted_is_too_long(self):
        self.expect(run("status", "--peer", "127.0.0.1:1", "--timeout=99999999h"), USAGE,
                    'mortise: --timeout: "99999999h" is too long: at most 2562047h\n')

    def test_no_time_to_wait_is_usage(self):
        self.expect(run("status", "--peer", "127.0.0.1:1", "--timeout=0s"), USAGE,
                    '"0s" is no time at all: write 5s or 250ms\n')

    def test_what_is_not_expected_is_named_as_it_was_written(self):
        self.expect(run("node", "--confg", "mortise.toml"), USAGE,
                    "not expected here: --confg mortise.toml (did you mean --config?); "
                    "see mortise node --help\n")
        self.expect(run("members", "add", "4", "127.0.0.1:1", "now"), USAGE,
                    "not expected here: now; see mortise members add --help\n")

    def test_what_is_missing_is_explained_by_the_help_of_the_command(self):
        self.expect(run("inspect"), USAGE, "NAME is required; see mortise inspect --help\n")
        self.expect(run("members", "add"), USAGE, "see mortise members add --help\n")

    def test_a_lock_without_a_name_is_usage(self):
        self.expect(run("inspect", "", "--peer", "127.0.0.1:1"), USAGE,
                    "mortise: a name has 1 to 512 bytes: ")

    def test_a_break_that_makes_no_sense_is_usage(self):
        def expect(name, token, reason, line):
            words = ["--token", token, "--reason", reason, "--peer", "127.0.0.1:1"]
            self.expect(run("break", name, *words), USAGE, line)
        expect("", "1", "r", "a name has 1 to 512 bytes")
        expect("x", "0", "r", "a token is 1 or more: inspect() shows the holder's")
        expect("x", "7x", "r", "--token")
        expect("x", "1", "r" * 257, "a reason has at most 256 bytes")
        self.expect(run("break", "x", "--token", "1"), USAGE, "--reason is required")

    def test_a_number_is_what_it_looks_like(self):
        many = "9" * 20
        for text in (many, "010", "0x1", "1 ", " 1", "1e3", "-1", "+1", "", "1.0"):
            with self.subTest(text=text):
                words = [f"--token={text}", "--reason", "r", "--peer", "127.0.0.1:1"]
                self.expect(run("break", "x", *words), USAGE, "--token")
                self.expect(run("dump", self.directory, f"--at={text}"), USAGE, "--at")
                self.expect(run("bench", f"--seconds={text}"), USAGE, "--seconds")
                for change in (["members", "remove"], ["members", "promote"], ["transfer-leader"]):
                    self.expect(run(*change, "--peer", "127.0.0.1:1", "--", text), USAGE, "ID")
        self.expect(run("members", "remove", 2 ** 64 - 1, "--peer", "127.0.0.1:1"), UNAVAILABLE)

    def test_an_option_without_its_value_says_what_it_takes(self):
        self.expect(run("node", "--config"), USAGE,
                    "--config: 1 required FILE missing; see mortise node --help\n")
        self.expect(run("bench", "--seconds"), USAGE, "1 required SECONDS missing")

    def test_an_empty_value_is_not_left_out(self):
        """A variable that a script has not set."""
        self.expect(run("node", "--config", ""), NO_INPUT, "cannot be read")
        self.expect(run("dump", self.directory, "--at", ""), USAGE,
                    '--at: "" is not a whole number')
        for option in ("--wait", "--ttl", "--grace", "--max-hold", "--min-hold"):
            words = ["--lock", "x", option, "", "--peer", "127.0.0.1:1", "--", "true"]
            self.expect(run("run", *words), USAGE,
                        f'{option}: "" is not a duration: write 5s or 250ms')

    def test_the_hidden_command_is_not_for_people(self):
        self.expect(run("member", "demo"), USAGE)

    def test_help_and_version_are_no_errors(self):
        for words in (["--help"], ["-h"], ["status", "--help"], ["demo", "--help"]):
            with self.subTest(words=words):
                result = run(*words)
                self.assertEqual((result.returncode, result.stderr), (OK, ""))
                self.assertIn("--", result.stdout)
        for words in (["--version"], ["-V"], ["version"]):
            result = run(*words)
            self.assertEqual(result.returncode, OK)
            self.assertRegex(result.stdout, r"\Amortise \d+\.\d+\.\d+\n\Z")
        self.assertEqual(run("help").stdout, run("--help").stdout)
        self.assertEqual(run("help", "run").stdout, run("run", "--help").stdout)
        self.expect(run("help", "nonsense"), USAGE, "no command 'nonsense'")
        listed = run("--help").stdout.split("Commands:\n")[1].split("\n\n")[0].splitlines()
        commands = [line.split()[0] for line in listed]
        self.assertIn("members", commands)
        self.assertNotIn("member", commands)
        self.assertNotIn("complete", commands)

    def test_output_that_cannot_be_written_is_an_io_error(self):
        if not os.path.exists("/dev/full"):
            self.fail("this test needs /dev/full")
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([PROGRAM, "--help"], stdout=full, stderr=subprocess.PIPE,
                                    text=True, check=False)
        self.assertEqual(result.returncode, IO_ERROR)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    # --- the configuration

    def test_a_configuration_that_cannot_be_read(self):
        self.expect(run("node", "--config", self.directory / "none.toml"), NO_INPUT,
                    "none.toml: cannot be read: No such file or directory; name a file that ")
        self.expect(run("node", "--config", self.directory), NO_INPUT, str(self.directory))
        self.expect(run("status", "--config", self.directory / "none.toml"), NO_INPUT, "none.toml")

    def test_a_configuration_that_is_wrong(self):
        self.expect(run("node", "--config", self.config("nonsense")), CONFIG, "mortise.toml:1")
        wrong = self.alone(colour='"blue"')
        self.expect(run("node", "--config", self.config(wrong)), CONFIG, "mortise.toml:", "colour")
        short = self.alone().replace('session_ttl = "3s"', 'session_ttl = "1s"')
        self.expect(run("node", "--config", self.config(short)), CONFIG, "session_ttl")

    def test_an_environment_that_is_wrong(self):
        self.expect(run("node", MORTISE_NODE_ID="one"), CONFIG, "MORTISE_NODE_ID")
        self.expect(run("status", MORTISE_PEER_LIST="nonsense"), CONFIG, "MORTISE_PEER_LIST")
        self.expect(run("status", MORTISE_PEER_LIST='"1=127.0.0.1:1"'), CONFIG, "MORTISE_PEER_LIST")
        self.expect(run("node", MORTISE_DATA_DIR='"/var/lib/x"'), CONFIG,
                    "mortise: MORTISE_DATA_DIR: the value has quotes around it: leave them out\n")

    def test_files_as_editors_leave_them(self):
        text = self.alone()
        for change in (lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")):
            path = self.directory / "mortise.toml"
            path.write_bytes(change(text).encode())
            node = start("node", "--config", path)
            self.assertIn("is ready", node.stdout.readline())
            self.end(node)
        for wrong, line in ((text + "[limits]\nlog_bytes = '64MiB'\n", "limits.log_bytes"),
                            ("node_id = 1\nnode_id = 1\n", "mortise.toml:2: "),
                            (text + "\0", "mortise.toml:"),
                            (text.replace('"3s"', "3"), "session_ttl"),
                            (text.replace('"3s"', '"3 s"'), '"3 s" is not a duration')):
            self.expect(run("node", "--config", self.config(wrong)), CONFIG, line)
        (self.directory / "wide.toml").write_bytes(text.encode("utf-16"))
        self.expect(run("node", "--config", self.directory / "wide.toml"), CONFIG, "wide.toml:1")

    def test_no_configuration_at_all(self):
        self.expect(run("node"), CONFIG, "MORTISE_DATA_DIR", "; or give --config FILE\n")

    # --- the environment

    def test_a_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            config = self.config(config_text(1, [port], self.directory))
            self.expect(run("node", "--config", config), TAKEN, str(port))

    def test_a_node_outlives_a_limit_of_the_size_of_files(self):
        """Its standard error is a file, too, and it has a line to write."""
        node = self.keep(start("node", "--config", self.config(self.alone()),
                               log=self.directory / "errors"))
        self.assertIn("ready", node.stdout.readline())
        before = resource.prlimit(node.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(node.pid, resource.RLIMIT_FSIZE, (0, before[1]))
        time.sleep(4)
        self.assertIsNone(node.poll())
        resource.prlimit(node.pid, resource.RLIMIT_FSIZE, before)
        self.assertEqual(node.stop(), OK)

    def test_a_sole_node_that_has_lost_its_data_says_what_to_do(self):
        config = self.config(self.alone() + '[log]\nlevel = "info"\n')
        first = start("node", "--config", config)
        self.assertIn("ready", first.stdout.readline())
        self.end(first)
        (self.directory / "node-1" / "meta").write_bytes(b"")
        remedy = "remove the content of data_dir, and start it (docs/backup.md, Tokens)"
        result = run("doctor", "--config", config)
        self.assertIn("is damaged", result.stdout)
        self.assertIn(remedy, result.stdout)
        second = start("node", "--config", config)
        try:
            said = []
            while not said or "not ready: in no cluster" not in said[-1]:
                said.append(second.stderr.readline())
                self.assertNotEqual(said[-1], "", said)
            self.assertIn("is damaged or gone, and it waits for a member that has it", said[-1])
            self.assertIn(remedy, said[-1])
            self.assertIn(remedy, next(line for line in said if "moved aside within it" in line))
            self.assertIn(remedy, run("doctor", "--config", config).stdout)
        finally:
            self.end(second)
        self.assertIn("has lost the data of its cluster", run("doctor", "--config", config).stdout)
        # The remedy works.
        shutil.rmtree(self.directory / "node-1")
        third = start("node", "--config", config)
        self.assertIn("ready", third.stdout.readline())
        self.end(third)

    def end(self, node):
        self.assertEqual(node.stop(), OK)
        node.end()

    def test_a_directory_in_use(self):
        first = start("node", "--config", self.config(self.alone()))
        try:
            self.assertIn("ready", first.stdout.readline())
            second = self.config(self.alone(), "second.toml")
            self.expect(run("node", "--config", second), TAKEN, "in use", str(first.pid))
        finally:
            self.end(first)

    def test_a_directory_of_another_node(self):
        config = self.config(self.alone())
        first = start("node", "--config", config)
        self.assertIn("ready", first.stdout.readline())
        self.end(first)
        ports = free_ports(2)
        other = config_text(2, ports, self.directory).replace("node-2", "node-1")
        self.expect(run("node", "--config", self.config(other, "other.toml")), DATA_ERROR)

    def test_a_directory_that_cannot_be_made(self):
        (self.directory / "node-1").write_text("a file", encoding="utf-8")
        self.expect(run("node", "--config", self.config(self.alone())), CONFIG,
                    "node-1 is not a directory; name a directory")

    def test_a_directory_without_permission(self):
        (self.directory / "node-1").mkdir(mode=0o500)
        command = [PROGRAM, "node", "--config", self.config(self.alone())]
        result = subprocess.run(command, env=environment(), capture_output=True, text=True,
                                check=False, preexec_fn=obey_permissions)
        self.expect(result, DENIED, "Permission denied; name a data_dir that user", "chown")

    # --- certificates

    def tls_node(self, **files):
        """A node 1 with TLS; the keywords replace files of it."""
        for words in (("init", "--cluster", "mortise"), ("issue", "--node", 1),
                      ("issue", "--node", 2)):
            run("cert", *words, "--dir", self.directory).check_returncode()
        other = self.directory / "other"
        run("cert", "init", "--cluster", "mortise", "--dir", other).check_returncode()
        names = {"certificate": "node-1.pem", "key": "node-1.key", "ca": "ca.pem"}
        text = f'node_id = 1\ndata_dir = "{self.directory}/data"\nlisten = "127.0.0.1:0"\n[tls]\n'
        for key, name in (names | files).items():
            text += f'{key} = "{self.directory}/{name}"\n'
        return self.config(text)

    def test_wrong_certificates_are_data_errors(self):
        of_another = {"certificate": "node-2.pem", "key": "node-2.key"}
        for files, text in ((of_another, "that of node 2 of cluster mortise, not of node 1"),
                            ({"key": "node-2.key"}, "not that of the certificate"),
                            ({"ca": "other/ca.pem"}, "not signed by an authority in tls.ca"),
                            ({"ca": "node-1.pem"}, "not an authority's")):
            with self.subTest(files=files):
                result = run("node", "--config", self.tls_node(**files))
                self.expect(result, DATA_ERROR, "mortise: tls", text)
                for words in ("Bad message", "Invalid argument", "denied", "not permitted"):
                    self.assertNotIn(words, result.stderr)
            for name in ("ca", "node-1", "node-2", "other/ca"):
                for end in ("pem", "key"):
                    (self.directory / f"{name}.{end}").unlink()

    def test_certificates_that_cannot_be_read(self):
        config = self.tls_node()
        (self.directory / "node-1.pem").chmod(0)
        for words in (("node",), ("status",), ("locks",)):
            with self.subTest(words=words):
                command = [PROGRAM, *words, "--config", config]
                if words != ("node",):
                    tls = [word for key, name in (("--cert", "node-1.pem"), ("--key", "node-1.key"),
                                                  ("--ca", "ca.pem"))
                           for word in (key, self.directory / name)]
                    command = [PROGRAM, *words, "--peer", "127.0.0.1:1", *tls]
                result = subprocess.run(command, env=environment(), capture_output=True,
                                        text=True, check=False, preexec_fn=obey_permissions)
                self.expect(result, NO_INPUT, "node-1.pem: Permission denied; run as its owner")

    def test_nobody_there(self):
        port = free_ports(1)[0]
        peer = ["--peer", f"127.0.0.1:{port}", "--timeout", "500ms"]
        for words in (["status"], ["locks"], ["inspect", "orders/42"]):
            with self.subTest(words=words):
                self.expect(run(*words, *peer), UNAVAILABLE, "no member answered: ", str(port),
                            "Connection refused")
        # The longest possible duration; the call returns long before.
        self.expect(run("locks", "--peer", f"127.0.0.1:{port}", "--timeout", "2562047h"),
                    UNAVAILABLE, "Connection refused\n")

    def test_what_is_wrong_with_all_members_is_said_once(self):
        addresses = [f"127.0.0.1:{port}" for port in free_ports(3)]
        peers = [word for address in addresses for word in ("--peer", address)]
        why = f"cannot connect to {', '.join(addresses)}: Connection refused"
        advice = "; start the nodes, or run mortise doctor"
        self.assertEqual(run("watch", *peers).stderr, f"mortise: no member answered: {why}\n")
        for words, more in ((["status"], advice), (["locks"], ""), (["members"], ""),
                            (["members", "remove", 3], ""), (["status", *peers[:2]], advice)):
            with self.subTest(words=words):
                self.expect(run(*words, *peers), UNAVAILABLE,
                            f"mortise: no member answered: {why}{more}\n")
        self.expect(run("run", "--lock", "a", "--timeout", "500ms", *peers, "--", "true"),
                    UNAVAILABLE, f"mortise: the cluster cannot be reached: {why}\n")

    def test_somebody_there_who_says_nothing(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            port = str(silent.getsockname()[1])
            for words in (["status"], ["locks"], ["inspect", "orders/42"]):
                with self.subTest(words=words):
                    begin = time.monotonic()
                    result = run(*words, "--peer", f"127.0.0.1:{port}", "--timeout", "600ms")
                    # The whole time is for the one member that it waits for.
                    self.assertGreaterEqual(time.monotonic() - begin, 0.6)
                    self.expect(result, UNAVAILABLE, "no member answered: ", port)


if __name__ == "__main__":
    unittest.main(verbosity=2)
