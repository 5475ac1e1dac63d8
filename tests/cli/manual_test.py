"""Help, manual pages and the completion of shells are made from the same commands."""

import os
import re
import shutil
import subprocess
import unittest

from program import HOLDER, OK, PROGRAM, USAGE, Case, Cluster, environment, run


def help_of(*words):
    result = run(*words, "--help")
    assert (result.returncode, result.stderr) == (OK, ""), result
    return result.stdout


def section(text, title):
    """The lines below a title, without their indent."""
    found = re.search(rf"^{title}:\n((?:  .*\n)+)", text, re.MULTILINE)
    return found[1].splitlines() if found else []


def commands():
    """Every command, as its words: (), ("node",), ("members", "add") and so on."""
    every = [()]
    for words in every:
        for line in section(help_of(*words), "Commands"):
            if re.match(r"  \S", line):
                every.append((*words, line.split()[0]))
    return every


def options_of(*words):
    return [word for line in section(help_of(*words), "Options") if re.match(r"  -", line)
            for word in re.findall(r"--[\w-]+", line.split("  ")[1])]


COMMANDS = commands()


class Help(unittest.TestCase):
    def test_every_command_is_known(self):
        for words in (("run",), ("watch",), ("sessions",), ("members", "move"), ("cert", "issue"),
                      ("completion",), ("man",), ("transfer-leader",)):
            self.assertIn(words, COMMANDS)
        self.assertNotIn(("member",), COMMANDS)
        self.assertNotIn(("complete",), COMMANDS)

    def test_every_command_has_two_examples_and_its_exit_codes(self):
        for words in COMMANDS:
            with self.subTest(words=words):
                text = help_of(*words)
                examples = [line for line in section(text, "Examples")
                            if re.match(r"  \S", line)]
                self.assertGreaterEqual(len(examples), 2, text)
                name = " ".join(("mortise", *words))
                self.assertTrue(any(name in example for example in examples), examples)
                codes = [line.split()[0] for line in section(text, "Exit codes")
                         if re.match(r"  \S", line)]
                self.assertEqual(codes[0], "0")
                self.assertIn("64", codes)

    def test_the_examples_are_command_lines(self):
        """They are accepted up to the cluster or the file that is missing."""
        for words in COMMANDS:
            for line in section(help_of(*words), "Examples"):
                if not line.startswith("  mortise "):
                    continue
                example = line.strip().split(" | ")[0].split(" > ")[0]
                with self.subTest(example=example):
                    # With --help behind it, only the words before "--" are looked at.
                    before = example.replace("'", "").split(" -- ")[0].split()[1:]
                    before = [word for word in before if word not in ("host", "is")]
                    result = run(*before, "--help")
                    self.assertEqual((result.returncode, result.stderr), (OK, ""))

    def test_no_line_is_too_long_for_a_terminal(self):
        for words in COMMANDS:
            for line in help_of(*words).splitlines():
                if not line.startswith("  mortise") and "source <(" not in line:
                    self.assertLessEqual(len(line), 80, line)

    def test_a_flag_takes_no_value(self):
        for words in COMMANDS:
            self.assertRegex(help_of(*words), r"(?m)^  -h, --help  ")
        for words, flag in ((("locks",), "--json"), (("run",), "--shared"), (("break",), "--now"),
                            (("bench",), "--tls"), ((), "-V, --version")):
            self.assertRegex(help_of(*words), rf"(?m)^  {flag}  ")
        shown = [line for words in COMMANDS for line in section(help_of(*words), "Options")
                 if re.match(r"  -.* TEXT\b", line)]
        self.assertEqual({line.split()[0] for line in shown}, {"--reason", "--label", "--cluster"})

    def test_an_option_says_what_it_takes_and_its_default(self):
        text = help_of("locks")
        self.assertIn("--peer HOST:PORT", text)
        self.assertIn("--config FILE", text)
        self.assertRegex(text, r"--timeout DURATION\s+How long to wait for each member\s+"
                               r"\(default: 5s\)")


class Manual(Case):
    def setUp(self):
        super().setUp()
        self.directory = self.directory / "share" / "man1"
        result = run("man", "--directory", self.directory)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (OK, "", ""))

    def page_of(self, words):
        name = "-".join(("mortise", *words[:1]))
        return self.directory / f"{name}.1"

    def rendered(self, page):
        """The page as a reader sees it."""
        result = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-P-cbou", "-rLL=300n", page],
                                capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_every_command_and_option_is_in_a_page_without_warnings(self):
        pages = {self.page_of(words) for words in COMMANDS}
        self.assertEqual(pages, set(self.directory.iterdir()))
        texts = {page: self.rendered(page) for page in pages}
        for words in COMMANDS:
            text = texts[self.page_of(words)]
            self.assertIn(" ".join(("mortise", *words)), text)
            for option in options_of(*words):
                self.assertIn(option, text)
        for words in COMMANDS:
            if words:
                self.assertIn(f"mortise-{words[0]}(1)", texts[self.page_of(())])

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_the_pages_are_clean(self):
        for page in sorted(self.directory.iterdir()):
            result = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page],
                                    capture_output=True, text=True, check=False)
            lines = [line for line in result.stdout.splitlines() if "missing date" not in line]
            self.assertEqual(lines, [])

    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_man_shows_them(self):
        for page in sorted(self.directory.iterdir()):
            result = subprocess.run(["man", "--warnings=w", "-l", page], capture_output=True,
                                    text=True, check=False, env=os.environ | {"MANWIDTH": "100"})
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("EXIT STATUS", result.stdout)

    def test_one_page_is_printed(self):
        for words in ((), ("run",)):
            result = run("man", *words)
            self.assertEqual((result.returncode, result.stderr), (OK, ""))
            self.assertEqual(result.stdout, self.page_of(words).read_text(encoding="utf-8"))
        self.assertEqual(run("man", "nonsense").stderr,
                         "mortise: no command 'nonsense'; see mortise --help\n")


class CompletionInBash(Case):
    def completed(self, line, **variables):
        """What bash would offer at the end of the line."""
        # A part of bash: words are divided at blanks, "=" and ":".
        words = re.findall(r"[=:]+|[^\s=:]+", line)
        if line.endswith(" "):
            words.append("")
        script = f"""source <({PROGRAM} completion bash)
            complete -p mortise > /dev/null || exit 1
            compopt() {{ :; }}
            mortise() {{ {PROGRAM} "$@"; }}
            COMP_LINE=$1 COMP_POINT=${{#1}}; shift
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
            _mortise
            printf '%s\\n' "${{COMPREPLY[@]}}" """
        result = subprocess.run(["bash", "-c", script, "bash", line, *words],
                                env=environment(**variables), cwd=self.directory,
                                capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(result.stderr, "")
        return [word for word in result.stdout.split("\n") if word]

    def test_commands_and_options(self):
        self.assertEqual(self.completed("mortise sess"), ["sessions"])
        self.assertEqual(self.completed("mortise members re"), ["remove"])
        self.assertEqual(self.completed("mortise locks --pe"), ["--peer"])
        self.assertEqual(self.completed("mortise completion "), ["bash", "zsh", "fish"])
        self.assertEqual(self.completed("mortise cert issue --role=ad"), ["admin"])

    def test_a_flag_is_followed_by_another_word(self):
        self.assertEqual(self.completed("mortise locks --json --pe"), ["--peer"])
        self.assertEqual(self.completed("mortise members --json re"), ["remove"])

    def test_files(self):
        for name in ("one.toml", "one.pem"):
            (self.directory / name).touch()
        (self.directory / "one.d").mkdir()
        self.assertEqual(sorted(self.completed("mortise node --config one")),
                         ["one.d", "one.pem", "one.toml"])
        self.assertEqual(self.completed("mortise dump one"), ["one.d"])
        self.assertEqual(self.completed("mortise node --config=one.t"), ["one.toml"])

    def test_the_command_that_runs(self):
        self.assertIn("sleep", self.completed("mortise run --lock x -- slee"))

    def test_what_only_a_cluster_knows(self):
        with Cluster(last=HOLDER, does=["one"]) as cluster:
            cluster.wait_ready()
            peer = f"127.0.0.1:{cluster.ports[0]}"
            self.assertEqual(self.completed(f"mortise inspect --peer {peer} or"), ["orders/42"])
            self.assertEqual(self.completed(f"mortise run --peer={peer} --lock=or"), ["orders/42"])
            self.assertEqual(self.completed("mortise inspect ", MORTISE_PEER_LIST=f"1={peer}"),
                             ["orders/42"])
            self.assertEqual(self.completed(f"mortise transfer-leader --peer {peer} "),
                             ["1", "2", "3"])
            self.assertEqual(self.completed(f"mortise inspect --peer {peer} x"), [])
        self.assertEqual(self.completed(f"mortise inspect --peer {peer} or"), [])


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
class CompletionInZsh(unittest.TestCase):
    def test_it_offers_words_with_what_they_do(self):
        script = f"""autoload -Uz compinit; compinit -D -u
            source <({PROGRAM} completion zsh)
            (( $+_comps[mortise] )) || exit 1
            compadd() {{ print -rl -- "$4:" "${{(@P)4}}" "$2:" "${{(@P)2}}" }}
            words=({PROGRAM} members re) CURRENT=3
            _mortise"""
        result = subprocess.run(["zsh", "-f", "-c", script], env=environment(),
                                capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, "names:\nremove\ntexts:\nremove -- Remove a member\n")


@unittest.skipUnless(shutil.which("fish"), "fish is not installed")
class CompletionInFish(unittest.TestCase):
    def test_it_offers_words_with_what_they_do(self):
        script = f"""{PROGRAM} completion fish | source
            function mortise; {PROGRAM} $argv; end
            complete -C 'mortise members re'; complete -C 'mortise completion '"""
        result = subprocess.run(["fish", "--no-config", "-c", script], env=environment(),
                                capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, "remove\tRemove a member\nbash\nfish\nzsh\n")


class Completion(unittest.TestCase):
    def test_another_shell_is_an_error(self):
        result = run("completion", "tcsh")
        self.assertEqual((result.returncode, result.stdout), (USAGE, ""))

    def test_words_are_taken_as_they_are(self):
        result = run("complete", "--", "members", "[a,b]", "--", "")
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (OK, ":"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
