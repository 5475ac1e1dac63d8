"""deploy/systemd/mortise.service: what systemd thinks of it, and that it fits the program.

    systemd_test.py MORTISE

The checks of systemd itself are skipped where it is not installed.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from program import (CONFIG, DATA_ERROR, DENIED, NO_INPUT, OK, PROGRAM, USAGE,  # noqa: E402
                     Case, run, tls_lines)

TREE = Path(__file__).resolve().parents[2]
UNIT = TREE / "deploy" / "systemd" / "mortise.service"
ANALYZE = shutil.which("systemd-analyze")
# What systemd-analyze calls the exposure: from 0, none, to 10. It was 1.5 with systemd 252.
EXPOSURE_MAX = 1.6


def settings():
    found = {}
    for line in UNIT.read_text(encoding="utf-8").splitlines():
        if setting := re.match(r"(\w+)=(.*)", line):
            found.setdefault(setting[1], []).append(setting[2])
    return found


def analyze(*words):
    """With the program in place of the installed one."""
    with tempfile.TemporaryDirectory(prefix="mortise-unit-") as folder:
        path = Path(folder) / UNIT.name
        text = UNIT.read_text(encoding="utf-8").replace("/usr/bin/mortise", PROGRAM)
        path.write_text(re.sub(r"^Documentation=.*\n", "", text, flags=re.MULTILINE),
                        encoding="utf-8")
        return subprocess.run([ANALYZE, *words, path], capture_output=True, text=True,
                              check=False, env={**os.environ, "LC_ALL": "C"})


class Unit(unittest.TestCase):
    @unittest.skipUnless(ANALYZE, "systemd is not installed")
    def test_systemd_finds_nothing_wrong(self):
        done = analyze("verify", "--man=no")
        complaints = [line for line in done.stderr.splitlines() if "mortise" in line]
        self.assertEqual((done.returncode, complaints), (0, []), done.stderr)

    @unittest.skipUnless(ANALYZE, "systemd is not installed")
    def test_it_exposes_little(self):
        done = analyze("security", "--offline=yes", "--no-pager")
        exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
        self.assertIsNotNone(exposure, done.stdout + done.stderr)
        self.assertLessEqual(float(exposure[1]), EXPOSURE_MAX, done.stdout)

    def test_no_setting_is_misspelt(self):
        """verify only warns about an unknown setting; this fails without systemd as well."""
        known = set("""Description Documentation Wants After ConditionPathExists
            StartLimitIntervalSec Type NotifyAccess
            TimeoutStartSec ExecStart ExecReload TimeoutStopSec Restart RestartSec
            RestartPreventExitStatus User Group StateDirectory StateDirectoryMode UMask LimitNOFILE
            NoNewPrivileges CapabilityBoundingSet AmbientCapabilities ProtectSystem ProtectHome
            PrivateTmp PrivateDevices DevicePolicy ProtectClock ProtectControlGroups ProtectHostname
            ProtectKernelLogs ProtectKernelModules ProtectKernelTunables ProtectProc RemoveIPC
            RestrictNamespaces RestrictRealtime RestrictSUIDSGID LockPersonality
            MemoryDenyWriteExecute RestrictAddressFamilies SystemCallArchitectures SystemCallFilter
            SystemCallErrorNumber WantedBy""".split())
        self.assertEqual(set(settings()) - known, set())


class Program(Case):
    def setUp(self):
        super().setUp()
        self.command, = settings()["ExecStart"]
        self.lasting = [int(code) for code in settings()["RestartPreventExitStatus"][0].split()]

    def start(self, text=None):
        """Runs the command of the unit with that configuration, until it ends by itself."""
        config = self.directory / "mortise.toml"
        if text is not None:
            config.write_text(text, encoding="utf-8")
        words = shlex.split(self.command.replace("/etc/mortise/mortise.toml", str(config)))
        self.assertEqual(words[0], "/usr/bin/mortise")
        return run(*words[1:]).returncode

    def test_what_a_restart_does_not_change_is_not_tried_again(self):
        for words in (("init", "--cluster", "mortise"), ("issue", "--node", "1")):
            self.assertEqual(run("cert", *words, "--dir", self.directory).returncode, OK)
        (self.directory / "node-1.key").chmod(0o644)
        tls = "\n".join(tls_lines(self.directory, "node-1"))
        single = f'data_dir = "{self.directory}/data"\nnode_id = 1\nlisten = "127.0.0.1:0"\n'
        self.assertEqual(self.start(), NO_INPUT)
        self.assertEqual(self.start("sheep = 1\n"), CONFIG)
        self.assertEqual(self.start(single + tls), DENIED)
        (self.directory / "node-1.key").chmod(0o600)
        run("cert", "issue", "--node", "2", "--dir", self.directory).check_returncode()
        of_another = tls.replace("node-1", "node-2")
        self.assertEqual(self.start(single + of_another), DATA_ERROR)
        (self.directory / "data").write_text("a file", encoding="utf-8")
        self.assertEqual(self.start(single), CONFIG)
        for code in (USAGE, DATA_ERROR, NO_INPUT, DENIED, CONFIG):
            self.assertIn(code, self.lasting)
        self.assertNotIn(OK, self.lasting)

    def test_its_reload_is_a_signal_that_the_program_knows(self):
        self.assertEqual(settings()["ExecReload"], ["/bin/kill -HUP $MAINPID"])

    def test_the_command_line_is_one(self):
        self.assertEqual(run("node", "--help").returncode, OK)
        self.assertIn("--config", run("node", "--help").stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
