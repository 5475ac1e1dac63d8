"""`mortise cert`, judged by the openssl program."""

import json
import os
import re
import shutil
import subprocess
import unittest

from program import (DATA_ERROR, DENIED, EXISTS, FAILED, IO_ERROR, NO_INPUT, OK, USAGE, Case,
                     run)

OPENSSL = shutil.which("openssl")
DAY = 24 * 3600


def openssl(*words, expect=0):
    result = subprocess.run([OPENSSL, *map(str, words)], capture_output=True, text=True,
                            check=False)
    if result.returncode != expect:
        raise AssertionError(f"openssl {words}: {result.stdout}{result.stderr}")
    return result.stdout


class Cert(Case):
    def setUp(self):
        super().setUp()
        self.directory = self.directory / "pki"
        if OPENSSL is None:
            self.fail("this test needs the openssl program")

    def at(self, name):
        return self.directory / name

    def init(self, *words):
        return run("cert", "init", "--cluster", "orders", "--dir", self.directory, *words)

    def issue(self, *words):
        return run("cert", "issue", "--dir", self.directory, *words)

    def show(self, *words):
        return run("cert", "show", *words)

    def made(self, result):
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        return result.stdout

    def expect(self, result, code, *texts):
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("mortise: "), result.stderr)
        for text in texts:
            self.assertIn(text, result.stderr)
        self.assertEqual(result.stdout, "")

    def files(self):
        return sorted(path.name for path in self.directory.iterdir())

    # --- creating

    def test_an_authority_is_one_for_openssl(self):
        self.assertIn("authority of cluster orders", self.made(self.init()))
        self.assertEqual(self.files(), ["ca.key", "ca.pem"])
        text = openssl("x509", "-in", self.at("ca.pem"), "-noout", "-text")
        self.assertIn("Subject: CN = orders authority", text)
        self.assertRegex(text, r"Basic Constraints: critical\s+CA:TRUE, pathlen:0")
        self.assertRegex(text, r"Key Usage: critical\s+Certificate Sign, CRL Sign")
        self.assertIn("Subject Key Identifier", text)
        self.assertIn("NIST CURVE: P-256", text)
        openssl("verify", "-x509_strict", "-CAfile", self.at("ca.pem"), self.at("ca.pem"))

    def test_a_node_is_verified_by_openssl(self):
        self.made(self.init())
        self.made(self.issue("--node", 1, "--host", "node-1.example.org", "--host", "10.0.0.1",
                             "--host", "::1"))
        verify = ["verify", "-x509_strict", "-CAfile", self.at("ca.pem")]
        for purpose in ("sslserver", "sslclient"):
            openssl(*verify, "-purpose", purpose, self.at("node-1.pem"))
        openssl(*verify, "-verify_hostname", "node-1.example.org", self.at("node-1.pem"))
        openssl(*verify, "-verify_ip", "10.0.0.1", self.at("node-1.pem"))
        text = openssl("x509", "-in", self.at("node-1.pem"), "-noout", "-text")
        self.assertIn("Subject: CN = node 1", text)
        self.assertIn("URI:mortise://orders/node/1, URI:mortise://orders/role/voter, "
                      "DNS:node-1.example.org, IP Address:10.0.0.1, IP Address:0:0:0:0:0:0:0:1",
                      text)
        self.assertRegex(text, r"Key Usage: critical\s+Digital Signature")
        self.assertIn("TLS Web Server Authentication, TLS Web Client Authentication", text)
        self.assertIn("Authority Key Identifier", text)

    def test_a_user_is_no_server(self):
        self.made(self.init())
        self.made(self.issue("--user", "alice", "--role", "admin", "--role", "observer",
                             "--may", "break:orders/", "--may", "members"))
        verify = ["verify", "-CAfile", self.at("ca.pem"), "-purpose"]
        openssl(*verify, "sslclient", self.at("user-alice.pem"))
        openssl(*verify, "sslserver", self.at("user-alice.pem"), expect=2)
        text = openssl("x509", "-in", self.at("user-alice.pem"), "-noout", "-ext", "subjectAltName")
        self.assertIn("URI:mortise://orders/user/alice, URI:mortise://orders/role/observer, "
                      "URI:mortise://orders/role/admin, URI:mortise://orders/may/break/orders/, "
                      "URI:mortise://orders/may/members", text)

    def test_keys_are_for_their_owner_and_belong_to_their_certificates(self):
        before = os.umask(0)
        try:
            self.made(self.init())
            self.made(self.issue("--node", 1))
        finally:
            os.umask(before)
        self.assertEqual(self.directory.stat().st_mode & 0o777, 0o700)
        for name in ("ca", "node-1"):
            self.assertEqual(self.at(name + ".key").stat().st_mode & 0o777, 0o600)
            self.assertEqual(self.at(name + ".pem").stat().st_mode & 0o777, 0o644)
            self.assertTrue(self.at(name + ".key").read_text().startswith(
                "-----BEGIN PRIVATE KEY-----\n"))
            self.assertEqual(openssl("pkey", "-in", self.at(name + ".key"), "-pubout"),
                             openssl("x509", "-in", self.at(name + ".pem"), "-noout", "-pubkey"))

    def test_the_lines_for_the_configuration_are_printed(self):
        self.made(self.init())
        output = self.made(self.issue("--node", 1))
        self.assertIn("[tls]\n"
                      f'certificate = "{self.at("node-1.pem")}"\n'
                      f'key         = "{self.at("node-1.key")}"\n'
                      f'ca          = "{self.at("ca.pem")}"\n', output)

    def test_the_working_directory_is_the_default(self):
        self.directory.mkdir()
        here = os.getcwd()
        os.chdir(self.directory)
        try:
            self.assertTrue(self.made(run("cert", "init", "--cluster", "orders")).startswith(
                "ca.pem and ca.key are those of the authority of cluster orders"))
            self.assertTrue(self.made(run("cert", "issue", "--node", "1")).startswith(
                "node-1.pem and node-1.key are those of node 1 of cluster orders"))
        finally:
            os.chdir(here)
        self.assertEqual(self.files(), ["ca.key", "ca.pem", "node-1.key", "node-1.pem"])

    def test_an_authority_made_elsewhere_can_sign(self):
        self.directory.mkdir()
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384", "-nodes",
                "-subj", "/O=Example/CN=Our CA", "-keyout", self.at("ca.key"),
                "-out", self.at("ca.pem"))
        self.expect(self.issue("--node", 1), USAGE,
                    "the authority does not name its cluster, so give --cluster")
        self.made(self.issue("--node", 1, "--cluster", "orders"))
        openssl("verify", "-CAfile", self.at("ca.pem"), self.at("node-1.pem"))

    # --- showing

    def test_what_is_in_a_certificate(self):
        self.made(self.init())
        self.made(self.issue("--user", "alice", "--role", "client", "--may", "acquire:orders/a b",
                             "--may", "observe:"))
        text = self.made(self.show(self.at("user-alice.pem"), self.at("ca.pem"), "--ca",
                                   self.at("ca.pem")))
        self.assertIn(f"{self.at('user-alice.pem')}: user alice of cluster orders\n"
                      "  roles    client\n"
                      "  may      only: acquire orders/a b*, observe every name\n"
                      "  valid    ", text)
        self.assertRegex(text, r": (89|90) days left\n")
        self.assertIn(f"  signed   by an authority in {self.at('ca.pem')}\n", text)
        self.assertIn(f"{self.at('ca.pem')}: authority of cluster orders\n", text)
        print_of = openssl("x509", "-in", self.at("user-alice.pem"), "-noout", "-fingerprint",
                           "-sha256", "-serial")
        for line in print_of.splitlines():
            self.assertIn(line.split("=")[1], text)

    def test_the_same_as_json(self):
        self.made(self.init())
        self.made(self.issue("--node", 7, "--role", "learner", "--host", "localhost"))
        read = json.loads(self.made(self.show("--json", self.at("node-7.pem"))))
        self.assertEqual(len(read), 1)
        one = read[0]
        self.assertEqual((one["cluster"], one["node"], one["user"], one["roles"], one["rules"]),
                         ("orders", 7, None, ["learner"], []))
        self.assertEqual((one["hosts"], one["state"], one["is_signed"], one["problem"]),
                         (["localhost"], "valid", None, None))
        self.assertGreater(one["seconds_left"], 90 * DAY - 60)
        self.assertRegex(one["not_after"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")

    def test_what_is_made_as_json(self):
        made = json.loads(self.made(self.init("--json")))
        self.assertEqual((made["file"], made["key"], made["is_authority"], made["cluster"]),
                         (str(self.at("ca.pem")), str(self.at("ca.key")), True, "orders"))
        made = json.loads(self.made(self.issue("--node", 7, "--json")))
        self.assertEqual(made.pop("key"), str(self.at("node-7.key")))
        shown = json.loads(self.made(self.show("--json", self.at("node-7.pem"))))[0]
        for each in (made, shown):
            each.pop("seconds_left")
        self.assertEqual(made, shown)

    def test_what_expires_soon_is_said(self):
        self.made(self.init())
        self.made(self.issue("--node", 1, "--days", 29))
        self.assertRegex(self.made(self.show(self.at("node-1.pem"))),
                         r": EXPIRES SOON, 2[89] days left\n")
        read = json.loads(self.made(self.show("--json", self.at("node-1.pem"))))
        self.assertEqual(read[0]["state"], "expires_soon")

    def expired(self, name):
        """A certificate that expired in 2020, made by openssl."""
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=old", "-keyout", self.at(name + ".key"), "-out", self.at(name + ".csr"))
        (self.at("index.txt")).write_text("")
        config = self.at("openssl.cnf")
        config.write_text(f"""[ca]
default_ca = old
[old]
database = {self.at("index.txt")}
new_certs_dir = {self.directory}
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = extensions
[any]
commonName = supplied
[extensions]
basicConstraints = critical,CA:TRUE
subjectAltName = URI:mortise://orders/authority
""", encoding="utf-8")
        openssl("ca", "-batch", "-config", config, "-selfsign", "-in", self.at(name + ".csr"),
                "-keyfile", self.at(name + ".key"), "-startdate", "20190101000000Z", "-enddate",
                "20200101000000Z", "-notext", "-out", self.at(name + ".pem"))

    def test_what_is_expired_is_said_and_signs_nothing(self):
        self.directory.mkdir()
        self.expired("ca")
        text = self.made(self.show(self.at("ca.pem")))
        self.assertRegex(text, r"2020-01-01 00:00:00 UTC: EXPIRED \d+ days ago\n")
        self.assertIn('"expired"', self.made(self.show("--json", self.at("ca.pem"))))
        self.expect(self.issue("--node", 1), DATA_ERROR,
                    f"mortise: {self.at('ca.pem')}: the authority expired at "
                    "2020-01-01 00:00:00 UTC\n")

    def test_a_certificate_of_another_authority_is_told_and_is_a_failure(self):
        self.made(self.init())
        self.made(self.issue("--node", 1))
        other = self.directory / "other"
        self.made(run("cert", "init", "--cluster", "orders", "--dir", other))
        result = self.show(self.at("node-1.pem"), "--ca", other / "ca.pem")
        self.assertEqual(result.returncode, FAILED)
        self.assertIn(f"  signed   by NO authority in {other / 'ca.pem'}\n", result.stdout)

    def test_a_stranger_is_said_to_be_one(self):
        self.directory.mkdir()
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-subj", "/CN=web", "-addext", "basicConstraints=CA:FALSE", "-keyout",
                self.at("web.key"), "-out", self.at("web.pem"))
        text = self.made(self.show(self.at("web.pem")))
        self.assertIn(": neither a node nor a user\n"
                      "  problem  it has no name of the form mortise://CLUSTER/...\n", text)

    def test_a_rule_that_no_role_supports_is_not_shown_as_a_right(self):
        """Another program has issued it: `cert issue` refuses it."""
        self.directory.mkdir()
        for role, may in (("admin", "only: break orders/*"),
                          ("observer", "nothing: its roles give none of the rights in its rules")):
            uris = ",".join(f"URI:mortise://orders/{path}" for path in (
                "user/alice", f"role/{role}", "may/acquire/orders/", "may/break/orders/"))
            openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-subj", "/CN=alice", "-addext", "basicConstraints=CA:FALSE",
                    "-addext", f"subjectAltName={uris}", "-keyout", self.at("alice.key"), "-out",
                    self.at("alice.pem"))
            text = self.made(self.show(self.at("alice.pem")))
            self.assertIn(f"  roles    {role}\n  may      {may}\n", text)

    # --- refusals

    def test_bad_words(self):
        self.made(self.init())
        def expect(words, *texts):
            with self.subTest(words=words):
                self.expect(self.issue(*words), USAGE, *texts)
        expect([], "give --node or --user\n")
        for number in ("0", "one", "-1", "+1", "1x", "01", "18446744073709551616"):
            expect([f"--node={number}"], f'--node: "{number}" is not a whole number from 1 to ')
        expect(["--node", "1", "--user", "alice"], "--node excludes --user")
        expect(["--user", "alice"], "--role: a user needs one: client, observer or admin\n")
        expect(["--user", "alice smith", "--role", "admin"], "a user's name is 1 to 56 letters")
        expect(["--user", "../alice", "--role", "admin"], "a user's name is 1 to 56 letters")
        expect(["--user", "", "--role", "admin"], "a user's name is 1 to 56 letters")
        expect(["--node", "1", "--role", "king"], 'there is no role "king"; a node is voter or')
        expect(["--node", "1", "--role", "admin"], "admin is a role of users; a node is voter")
        expect(["--user", "a", "--role", "voter"], "voter is a role of nodes; a user is client")
        expect(["--node", "1", "--may", "lock:a"],
               'there is no right "lock"; write acquire:PREFIX, break:PREFIX, observe:PREFIX or')
        expect(["--node", "1", "--may", "acquire"],
               "--may: write acquire:PREFIX; acquire: with no prefix means every name\n")
        expect(["--node", "1", "--may", "members:a"], "the right to change members has no prefix")
        expect(["--node", "1", "--may", "acquire:" + "a" * 513], "at most 512 bytes\n")
        expect(["--node", "1", *["--may", "acquire:a"] * 65], "at most 64 rules\n")
        expect(["--user", "a", "--role", "admin", "--may", "acquire:orders/"],
               "a rule allows acquire, which none of its roles gives: a rule only restricts what "
               "roles give, so add a role that gives it\n")
        expect(["--node", "1", "--host", "a:7401"], '"a:7401" is neither a host')
        for days in ("0", "010", "ten", "36501"):
            expect(["--node", "1", "--days", days],
                   f'--days: "{days}" is not a whole number from 1 to 36500; see ')
        expect(["--node", "1", "--cluster", "billing"],
               "the authority is that of cluster orders, not of billing\n")
        expect(["--node", "1", "--rol", "voter"], "not expected here: --rol voter")
        self.assertEqual(self.files(), ["ca.key", "ca.pem"])

    def test_bad_words_of_the_others(self):
        self.expect(run("cert"), USAGE, "see mortise cert --help\n")
        self.expect(run("cert", "revoke"), USAGE, "see mortise cert --help\n")
        self.expect(run("cert", "init"), USAGE, "--cluster is required")
        self.expect(run("cert", "show"), USAGE, "FILE is required")
        self.expect(run("cert", "init", "--cluster", "a b", "--dir", self.directory), USAGE,
                    "a cluster's name is 1 to 64 letters, digits")

    def test_files_are_never_written_over(self):
        self.made(self.init())
        before = self.at("ca.key").read_text()
        self.expect(self.init(), EXISTS, f"{self.at('ca.pem')} exists, and is not written over")
        self.at("ca.pem").unlink()
        self.expect(self.init(), EXISTS, f"{self.at('ca.key')} exists, and is not written over")
        self.assertEqual(self.at("ca.key").read_text(), before)
        self.assertEqual(self.files(), ["ca.key"])

    def test_a_missing_authority_is_explained(self):
        self.expect(self.issue("--node", 1), NO_INPUT, f"cannot open {self.at('ca.pem')}: No such "
                    "file or directory; mortise cert init makes an authority\n")
        self.made(self.init())
        self.at("ca.key").unlink()
        self.expect(self.issue("--node", 1), NO_INPUT, f"cannot open {self.at('ca.key')}: No such")

    def test_a_key_that_others_can_read_is_refused(self):
        self.made(self.init())
        self.at("ca.key").chmod(0o644)
        key = self.at("ca.key")
        self.expect(self.issue("--node", 1), DENIED,
                    f"mortise: {key} can be read by others; run: chmod 600 {key}\n")
        self.at("ca.key").chmod(0o600)
        self.made(self.issue("--node", 1))

    def test_a_key_of_another_authority_is_refused(self):
        self.made(self.init())
        other = self.directory / "other"
        self.made(run("cert", "init", "--cluster", "orders", "--dir", other))
        (other / "ca.key").replace(self.at("ca.key"))
        self.expect(self.issue("--node", 1), DATA_ERROR,
                    f"mortise: {self.at('ca.key')} does not belong to {self.at('ca.pem')}\n")

    # --- certificates of another authority, and a site's policy

    def sign_by_hand(self, *extensions):
        """The certificate of node 1, with the key that was issued."""
        self.made(self.init())
        self.made(self.issue("--node", "1"))
        lines = ["subjectAltName = URI:mortise://orders/node/1,URI:mortise://orders/role/voter",
                 *extensions]
        self.at("ext").write_text("\n".join(lines), encoding="utf-8")
        openssl("req", "-new", "-key", self.at("node-1.key"), "-subj", "/CN=by hand",
                "-out", self.at("csr"))
        openssl("x509", "-req", "-in", self.at("csr"), "-CA", self.at("ca.pem"),
                "-CAkey", self.at("ca.key"), "-extfile", self.at("ext"), "-days", "1",
                "-out", self.at("node-1.pem"))

    def node_and_doctor(self, **variables):
        """What both say of node 1; the node does not start."""
        config = self.at("mortise.toml")
        config.write_text("\n".join([
            'cluster = "orders"', "node_id = 1", f'data_dir = "{self.at("data")}"',
            'listen = "127.0.0.1:0"', "[tls]", f'certificate = "{self.at("node-1.pem")}"',
            f'key = "{self.at("node-1.key")}"', f'ca = "{self.at("ca.pem")}"']), encoding="utf-8")
        node = run("node", "--config", config, **variables)
        self.assertNotEqual(node.returncode, OK)
        doctor = run("doctor", "--config", config, **variables)
        self.assertEqual(doctor.returncode, FAILED, doctor.stdout)
        return node.stderr, doctor.stdout

    def test_a_certificate_for_one_direction_is_told_by_the_node_and_by_doctor(self):
        needed = "a node needs extendedKeyUsage = serverAuth, clientAuth and keyUsage = " \
                 "digitalSignature"
        for extension in ("extendedKeyUsage = serverAuth", "extendedKeyUsage = clientAuth",
                          "keyUsage = keyEncipherment", "keyUsage = keyAgreement"):
            with self.subTest(extension=extension):
                shutil.rmtree(self.directory, ignore_errors=True)
                self.sign_by_hand(extension)
                for said in self.node_and_doctor():
                    self.assertIn(needed, " ".join(said.split()))

    def test_a_policy_that_excludes_it_is_told_by_the_node_and_by_doctor(self):
        self.sign_by_hand("extendedKeyUsage = serverAuth, clientAuth")
        policy = self.at("openssl.cnf")
        for line in ("MaxProtocol = TLSv1.2", "CipherString = DEFAULT@SECLEVEL=5"):
            with self.subTest(line=line):
                policy.write_text(f"openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\n"
                                  f"system_default = policy\n[policy]\n{line}\n",
                                  encoding="utf-8")
                for said in self.node_and_doctor(OPENSSL_CONF=str(policy)):
                    self.assertIn("node-1.pem: ", said)

    def test_files_that_are_something_else(self):
        self.made(self.init())
        self.made(self.issue("--node", 1))
        self.expect(self.show(self.at("node-1.key")), DATA_ERROR,
                    f"{self.at('node-1.key')}: it has no certificate in it (PEM)\n")
        self.expect(self.show(self.at("node-1.pem"), "--ca", self.at("node-1.key")), DATA_ERROR,
                    "it has no certificate in it (PEM)\n")
        self.expect(self.show(self.directory), DATA_ERROR, "is not a regular file\n")
        self.expect(self.show(self.at("none.pem")), NO_INPUT, "none.pem: No such file")
        self.at("ca.key").write_text("hello")
        self.expect(self.issue("--node", 2), DATA_ERROR,
                    f"{self.at('ca.key')}: it has no private key in it (PEM)\n")
        openssl("pkey", "-in", self.at("node-1.key"), "-aes256", "-passout", "pass:word", "-out",
                self.at("ca.key"))
        self.expect(self.issue("--node", 2), DATA_ERROR, "protected by a passphrase")
        shutil.copy(self.at("node-1.pem"), self.at("ca.pem"))
        self.at("ca.key").unlink()
        shutil.copy(self.at("node-1.key"), self.at("ca.key"))
        self.expect(self.issue("--node", 2), DATA_ERROR,
                    f"{self.at('ca.pem')}: it is not that of an authority\n")

    def test_a_directory_that_cannot_be_made(self):
        result = run("cert", "init", "--cluster", "orders", "--dir", self.directory / "a" / "b")
        self.expect(result, IO_ERROR, "cannot create ", "No such file or directory\n")

    def test_output_is_fit_for_a_terminal(self):
        self.made(self.init())
        self.made(self.issue("--user", "a", "--role", "client", "--may", "acquire:\x1b[31m"))
        text = self.made(self.show(self.at("user-a.pem")))
        self.assertIn("acquire \\x1b[31m*", text)
        self.assertIsNone(re.search("\x1b", text))


if __name__ == "__main__":
    unittest.main(verbosity=2)
