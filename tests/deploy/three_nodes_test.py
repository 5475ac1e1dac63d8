"""deploy/three-nodes: its script and its files start a cluster with TLS.

    three_nodes_test.py MORTISE
"""

import os
import re
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from program import (OK, PROGRAM, Case, environment, free_ports, run, start,  # noqa: E402
                     wait_until)

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "three-nodes"


class ThreeNodes(Case):
    def setUp(self):
        super().setUp()
        self.ports = free_ports(3)
        (self.directory / "mortise").symlink_to(PROGRAM)  # for the script

    def make_certificates(self):
        path = f"{self.directory}:{os.environ['PATH']}"
        subprocess.run([FOLDER / "certificates.sh"], cwd=self.directory, check=True,
                       env=environment(PATH=path), capture_output=True)

    def config(self, node):
        """The file of a machine, with the addresses and folders of this one."""
        text = (FOLDER / f"mortise-{node}.toml").read_text(encoding="utf-8")
        for number, port in enumerate(self.ports, 1):
            text = text.replace(f"orders-{number}.example.org:7401", f"127.0.0.1:{port}")
        text = text.replace("0.0.0.0:7401", f"127.0.0.1:{self.ports[node - 1]}")
        text = text.replace("/etc/mortise/", f"{self.directory}/pki/")
        text = text.replace("/var/lib/mortise/orders", f"{self.directory}/data-{node}")
        self.assertNotRegex(re.sub("#.*", "", text), "example|/etc|/var")
        path = self.directory / f"mortise-{node}.toml"
        path.write_text(text, encoding="utf-8")
        return path

    def test_they_are_a_cluster_and_the_command_of_the_page_says_so(self):
        self.make_certificates()
        nodes = [self.keep(start("node", "--config", self.config(node),
                                 output=self.directory / f"output-{node}")) for node in (1, 2, 3)]
        page = (FOLDER / "README.md").read_text(encoding="utf-8")
        command, = re.findall(r"^ +(mortise status .*)$", page, re.MULTILINE)
        words = shlex.split(command)[1:]

        def ready():
            return subprocess.run([PROGRAM, *words], cwd=self.directory, env=environment(),
                                  capture_output=True, check=False).returncode == OK
        try:
            wait_until(ready)
        except TimeoutError:
            self.fail("\n".join(node.logged() for node in nodes))

    def test_the_files_differ_where_they_say(self):
        def neutral(node):
            text = (FOLDER / f"mortise-{node}.toml").read_text(encoding="utf-8")
            for part in (f"orders-{node}.example.org. The", f"node_id  = {node}",
                         f"node-{node}.pem", f"node-{node}.key"):
                self.assertEqual(text.count(part), 1, part)
                text = text.replace(part, "")
            return text
        self.assertEqual(neutral(1), neutral(2))
        self.assertEqual(neutral(1), neutral(3))

    def test_a_second_run_of_the_script_overwrites_nothing(self):
        self.make_certificates()
        with self.assertRaises(subprocess.CalledProcessError):
            self.make_certificates()
        self.assertEqual(run("cert", "show", self.directory / "pki" / "node-1.pem", "--ca",
                             self.directory / "pki" / "ca.pem").returncode, OK)


if __name__ == "__main__":
    unittest.main(verbosity=2)
