"""The output of `mortise locks` and `mortise inspect` for unusual names."""

import json
import os
import re
import socket
import subprocess
import unittest

from program import (HOLDER, IO_ERROR, OK, PROGRAM, READER_GONE, USAGE, Cluster, environment, run,
                     start, wait_until)


class Locks(unittest.TestCase):
    # Long enough for a busy machine not to lose its holds.
    def start(self, does, session_ttl="30s"):
        self.cluster = Cluster(last=HOLDER, does=[does], session_ttl=session_ttl)
        self.cluster.__enter__()
        self.addCleanup(self.cluster.__exit__)
        self.cluster.wait_ready()

    def text(self, *words):
        result = run(*words, *self.cluster.peers())
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        return result.stdout

    def json(self, *words):
        return json.loads(self.text(*words, "--json"))

    def test_a_name_that_nobody_may_have_is_told_with_its_reason_and_token(self):
        self.start("closed")
        listed = self.json("locks", "closed/")
        self.assertEqual([lock["name"] for lock in listed],
                         ["closed/lock_delay", "closed/min_hold"])
        table = self.text("locks").splitlines()
        self.assertEqual(len(table), 3)
        for row, lock, reason in zip(table[1:], listed, ("lock_delay", "min_hold")):
            name = lock["name"]
            closure, = lock["closures"]
            self.assertEqual((lock["closed"], closure["by"]), (True, reason))
            self.assertGreater(closure["left_ms"], 500_000)
            self.assertLessEqual(closure["left_ms"], 660_000)
            self.assertEqual(row.split()[:2], [name, "closed"])
            self.assertEqual(row.split()[5], closure["token"])
            self.assertRegex(row, rf"{reason}, for at most \d+ (s|min)")
            shown = self.text("inspect", name)
            self.assertRegex(shown, rf"closed: the {reason} of its last holder runs, "
                                    rf"for at most \d+ (s|min); mortise break {name} --token "
                                    rf"{closure['token']} --reason REASON opens it\n")
            self.assertNotIn("broken", shown)
            seen = self.json("inspect", name)["closures"]
            self.assertEqual([(one["by"], one["token"]) for one in seen],
                             [(reason, closure["token"])])
            self.text("break", name, "--token", closure["token"], "--reason", "needed now")
            self.assertEqual(self.text("inspect", name), f"{name} is free\n")

    def test_who_holds_it_since_when_and_from_where(self):
        self.start("one")
        def parties():
            lock = self.json("inspect", "orders/42")
            return lock["holders"] + lock["waiters"]
        wait_until(lambda: len(parties()) == 2 and parties()[0].get("age_ms", 0) >= 2_000)
        program = self.cluster.processes[2]
        for party in parties():
            self.assertEqual(party["origin"]["pid"], program.pid)
            self.assertEqual(party["origin"]["host"], socket.gethostname())
            self.assertTrue(os.path.basename(HOLDER).startswith(party["origin"]["program"][:15]))
            self.assertLess(party["age_ms"], 60_000)
        whence = rf"\S+@{re.escape(socket.gethostname())}:{program.pid}"
        self.assertRegex(self.text("locks"), rf"orders/42 +holds .* \d[\d.]* s +{whence} +lock ")
        self.assertRegex(self.text("inspect", "orders/42"), rf"{whence} \(127\.0\.0\.1:\d+\) ")
        self.assertRegex(self.text("sessions"), rf"{whence} \(127\.0\.0\.1:\d+\) ")

    def test_a_broken_hold_that_is_not_confirmed_looks_otherwise(self):
        self.start("one", session_ttl="20s")
        lock = self.json("inspect", "orders/42")
        token = lock["holders"][0]["token"]
        self.assertEqual((lock["closed"], lock["closures"]), (False, []))
        self.cluster.processes[2].pause()
        self.text("break", "orders/42", "--token", token, "--reason", "it hangs")
        lock = self.json("inspect", "orders/42")
        closure, = lock["closures"]
        self.assertEqual((closure["by"], closure["token"], lock["holders"]), ("broken", token, []))
        self.assertLess(closure["left_ms"], 21_000)
        shown = self.text("inspect", "orders/42")
        self.assertRegex(shown, r"closed: it was broken, and its holder may not know yet, for at "
                                r"most [\d.]+ s; mortise break orders/42 --token \d+ --reason "
                                r"REASON --now opens it, and two programs may hold it\n")
        self.text("break", "orders/42", "--token", token, "--reason", "at once", "--now")
        wait_until(lambda: not self.json("inspect", "orders/42")["closed"])
        self.cluster.processes[2].resume()

    def test_a_list_that_is_cut_says_so(self):
        self.start("crowd")
        for lock in (self.json("inspect", "crowd"), self.json("locks")[0],
                     self.json("inspect", "crowd", "--local")):
            self.assertEqual((len(lock["holders"]), len(lock["waiters"])), (1024, 1024))
            self.assertEqual((lock["holders_total"], lock["waiters_total"]), (1100, 2000))
            self.assertTrue(lock["truncated"])
        shown = self.text("inspect", "crowd")
        self.assertIn("... and 76 more\n", shown)
        self.assertIn("... and 976 more\n", shown)
        self.assertIn("in all: 1100 holders, 2000 waiters\n", shown)
        self.assertIn("... and 976 more\n", self.text("locks"))
        self.end_early("locks")

    # More than a pipe holds: the rest has no reader.
    def end_early(self, *words):
        for more in ((), ("--json",)):
            child = start(*words, *more, *self.cluster.peers())
            child.stdout.read(1)
            child.stdout.close()
            said = child.stderr.read()
            self.assertEqual((child.wait(60), said), (READER_GONE, ""))
            child.end()
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([PROGRAM, *words, *self.cluster.peers()], env=environment(),
                                    stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(result.returncode, IO_ERROR)
        self.assertEqual(result.stderr, "mortise: cannot write to standard output\n")

    def test_names_and_labels_may_be_any_bytes(self):
        self.start("names")
        def bytes_of(text):
            return bytes.fromhex(text["hex"]) if isinstance(text, dict) else text.encode()
        names = sorted([b"tab\there", b"\xff\xfe", b"nul\0nul", b"\xed\xa0\x80", b"\"\\'",
                        b"\x7f\x1b[2J", b"a\x1b", b"a\\x1b", b"\xc3" * 512])
        listed = self.json("locks")
        self.assertEqual([bytes_of(lock["name"]) for lock in listed], names)
        self.assertEqual([bytes_of(lock["holders"][0]["label"]) for lock in listed],
                         [name[:256] for name in names])
        table = self.text("locks")
        self.assertNotRegex(table, r"[\x00-\x09\x0b-\x1f\x7f]")
        rows = table.splitlines()[1:]
        shown = [re.split(" {2,}", row)[0] for row in rows]
        self.assertEqual(len(set(shown)), len(names), "two names look alike")
        # Each can be named as the listing shows it, also what no word can contain.
        for name, text in zip(names, shown):
            seen = self.json("inspect", "--escaped", text)
            self.assertEqual((bytes_of(seen["name"]), len(seen["holders"])), (name, 1))
        self.assertEqual([bytes_of(lock["name"]) for lock in
                          self.json("locks", "--escaped", r"nul\x00")], [b"nul\0nul"])
        # What may be meant in two ways is refused.
        for words in (["inspect", r"nul\x00nul"], ["locks", "a\\\\"], ["watch", r"a\x1b"],
                      ["break", r"a\x1b", "--token", "1", "--reason", "r"]):
            self.refuses(words, "add --escaped")
        self.refuses(["inspect", "--escaped", r"a\n"], "not written as listings show a name")
        for name, text in zip(names, shown):
            word = ["--escaped", text] if b"\0" in name or b"\\x" in name else [os.fsdecode(name)]
            token = self.json("inspect", *word)["holders"][0]["token"]
            done = self.json("break", *word, "--token", token, "--reason", "r")
            self.assertEqual((bytes_of(done["name"]), done["done"]), (name, "broken"))

    def refuses(self, words, why):
        result = run(*words, *self.cluster.peers())
        self.assertEqual((result.returncode, result.stdout), (USAGE, ""))
        self.assertIn(why, result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
