#!/usr/bin/env python3
"""The dashboard, the alerts and docs/monitoring.md name the metrics that a node really prints.

    monitoring_test.py PRINT_METRICS              what Python alone can check
    monitoring_test.py PRINT_METRICS --promtool   what Prometheus itself says of text and rules
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples/monitoring"
DASHBOARD = FOLDER / "grafana-dashboard.json"
ALERTS = FOLDER / "alerts.yml"
PAGE = ROOT / "docs/monitoring.md"
SKIPPED = 77

METRIC = re.compile(r"\bmortise_[a-z_]+\b")
SELECTOR = re.compile(r"\b(mortise_[a-z_]+)\{([^}]*)\}")
LOGGED = re.compile(r'(?:\b(?:log_?|parts_\.log)\.(?:debug|info|warn|error)|\bwrite)'
                    r'\((?:[^;"]*,\s)?\s*"([a-z_]+)"')
GROUPING = re.compile(r"\b(?:by|on) \(([^)]*)\)")


def text_of_the_nodes(program):
    return subprocess.run([program], stdout=subprocess.PIPE, check=True, text=True).stdout


class Printed:
    """The series that the text has: their names, and the labels of each name."""

    def __init__(self, text):
        self.metrics = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
        self.labels = {}
        for name, labels in re.findall(r"^(mortise_\w+)\{(.*)\}", text, re.MULTILINE):
            known = self.labels.setdefault(name, {})
            for label, value in re.findall(r'(\w+)="([^"]*)"', labels):
                known.setdefault(label, set()).add(value)

    def complaints(self, where, expression):
        for name in METRIC.findall(expression):
            if name not in self.labels:
                yield f"{where}: no node prints {name}"
        for name, labels in SELECTOR.findall(expression):
            for label, operator, value in re.findall(r'(\w+)(=~|=)"([^"]*)"', labels):
                values = self.labels.get(name, {}).get(label)
                if values is None:
                    yield f"{where}: {name} has no label {label}"
                elif operator == "=" and value not in values:
                    yield f"{where}: {name} has no {label} {value}"
        for labels in GROUPING.findall(expression):
            names = METRIC.findall(expression)
            for label in labels.split(", "):
                if not any(label in self.labels.get(name, {}) for name in names):
                    yield f"{where}: nothing there has a label {label}"


def panels():
    return json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]


def expressions():
    """The expressions of the panels, each with its title."""
    for panel in panels():
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]


def alert_expressions():
    rules = ALERTS.read_text(encoding="utf-8")
    for name, body in re.findall(r"- alert: (\w+)\n(.*?)(?=\n\n|\Z)", rules, re.DOTALL):
        text = re.search(r"expr: (.*?)\n\s+(?:for|labels):", body, re.DOTALL).group(1)
        yield name, " ".join(text.removeprefix(">-").split())


class Complaints(unittest.TestCase):
    """The script itself: each mistake is planted once."""

    def setUp(self):
        self.printed = Printed('# TYPE mortise_a_total counter\n'
                               'mortise_a_total{node="1",result="busy"} 2\n')

    def finds(self, expression, *expected):
        found = list(self.printed.complaints("here", expression))
        self.assertEqual(len(found), len(expected), found)
        for complaint, part in zip(found, expected):
            self.assertIn(part, complaint)

    def test_an_expression_as_it_should_be(self):
        self.finds('sum by (node) (rate(mortise_a_total{result="busy",node=~"$node"}[5m]))')

    def test_names_and_labels_that_nobody_prints(self):
        self.finds("mortise_b_total", "prints mortise_b_total")
        self.finds('mortise_a_total{reason="busy"}', "no label reason")
        self.finds('mortise_a_total{result="gone"}', "no result gone")
        self.finds("sum by (member) (mortise_a_total)", "a label member")


class Files(unittest.TestCase):
    printed = None

    def check_all(self, named):
        found = [complaint for where, expression in named
                 for complaint in self.printed.complaints(where, expression)]
        self.assertEqual(found, [])

    def test_the_text_has_many_metrics(self):
        self.assertGreater(len(self.printed.metrics), 50)

    def test_every_expression_of_the_dashboard_has_its_metrics(self):
        named = list(expressions())
        self.assertGreater(len(named), 30)
        self.check_all(named)

    def test_every_alert_has_its_metrics(self):
        named = list(alert_expressions())
        self.assertEqual(len(named), ALERTS.read_text(encoding="utf-8").count("- alert:"))
        self.check_all(named)

    def test_the_page_describes_every_metric_once_and_no_other(self):
        page = PAGE.read_text(encoding="utf-8")
        rows = re.findall(r"^\| `(mortise_\w+)", page[page.index("## All metrics"):], re.MULTILINE)
        self.assertEqual(len(rows), len(set(rows)))
        self.assertEqual(set(rows), self.printed.metrics)

    def test_the_page_describes_every_key_of_the_log_once_and_no_other(self):
        page = PAGE.read_text(encoding="utf-8")
        table = page[page.index("### Keys"):]
        table = table[:table.index("\n## ")]
        rows = re.findall(r"^\| `([a-z_]+)` \|", table, re.MULTILINE)
        self.assertEqual(len(rows), len(set(rows)))
        written = {key for file in (ROOT / "embed").rglob("*.cpp")
                   for key in LOGGED.findall(file.read_text(encoding="utf-8"))}
        self.assertGreater(len(written), 30)
        self.assertEqual(set(rows), written)

    def test_the_page_names_every_event_of_a_node_and_no_other(self):
        page = PAGE.read_text(encoding="utf-8")
        text = page[page.index("## Events"):]
        named = re.findall(r"`([a-z_]+)`", text[:text.index("[event.hpp]")])
        header = (ROOT / "embed/include/mortise/event.hpp").read_text(encoding="utf-8")
        kinds = re.search(r"enum class Kind[^{]*\{(.*?)\};", header, re.DOTALL).group(1)
        kinds = re.findall(r"^ +([a-z_]+),", re.sub(r" *//.*", "", kinds), re.MULTILINE)
        self.assertGreater(len(kinds), 20)
        self.assertEqual(sorted(named), sorted(kinds))

    def test_the_page_says_what_to_do_about_each_alert(self):
        headings = re.findall(r"^### (Mortise\w+)$", PAGE.read_text(encoding="utf-8"),
                              re.MULTILINE)
        self.assertEqual(headings, [name for name, _ in alert_expressions()])
        for name in headings:
            self.assertIn(f"runbook: docs/monitoring.md#{name.lower()}\n",
                          ALERTS.read_text(encoding="utf-8"))


class Dashboard(unittest.TestCase):
    """What Grafana demands of a dashboard that is imported."""

    def test_has_what_an_import_needs(self):
        board = json.loads(DASHBOARD.read_text(encoding="utf-8"))
        for key, kind in {"title": str, "uid": str, "schemaVersion": int, "version": int,
                          "panels": list, "templating": dict, "time": dict, "annotations": dict,
                          "tags": list, "refresh": str, "timezone": str,
                          "editable": bool}.items():
            self.assertIsInstance(board[key], kind, key)
        self.assertRegex(board["uid"], r"^[A-Za-z0-9_-]{1,40}$")
        self.assertEqual(set(board["time"]), {"from", "to"})
        self.assertNotIn("id", board)  # of one installation

    def test_variables_are_defined(self):
        board = json.loads(DASHBOARD.read_text(encoding="utf-8"))
        variables = {variable["name"] for variable in board["templating"]["list"]}
        self.assertEqual(variables, {"datasource", "cluster", "node"})
        used = set(re.findall(r"\$\{?(\w+)", DASHBOARD.read_text(encoding="utf-8")))
        self.assertEqual(used - variables, {"__rate_interval"})

    def test_panels_have_a_type_a_place_and_a_source(self):
        ids = [panel["id"] for panel in panels()]
        self.assertEqual(len(ids), len(set(ids)))
        for panel in panels():
            title = panel["title"]
            self.assertIn(panel["type"], {"row", "stat", "timeseries"}, title)
            self.assertEqual(set(panel["gridPos"]), {"h", "w", "x", "y"}, title)
            if panel["type"] == "row":
                continue
            self.assertTrue(panel["description"], title)
            self.assertTrue(panel["targets"], title)
            for part in [panel, *panel["targets"]]:
                self.assertEqual(part["datasource"],
                                 {"type": "prometheus", "uid": "${datasource}"}, title)
            names = [target["refId"] for target in panel["targets"]]
            self.assertEqual(len(names), len(set(names)), title)
            self.assertIn(panel["fieldConfig"]["defaults"]["unit"],
                          {"short", "s", "ops", "Bps", "bytes"}, title)

    def test_panels_do_not_overlap(self):
        taken = {}
        for panel in panels():
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    self.assertNotIn((x, y), taken, panel["title"])
                    taken[x, y] = panel["title"]


class Promtool(unittest.TestCase):
    printed_text = ""
    program = None

    def run_promtool(self, *arguments, text=None):
        done = subprocess.run([self.program, *arguments], input=text, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_finds_nothing_wrong_with_the_text(self):
        self.assertEqual(self.run_promtool("check", "metrics", text=self.printed_text), "")

    def test_accepts_the_alerts(self):
        self.run_promtool("check", "rules", str(ALERTS))

    def test_alerts_fire_when_they_should(self):
        rules = ROOT / "tests/monitoring/alerts_test.yml"
        for name, _ in alert_expressions():
            self.assertIn(f"- name: {name}\n", rules.read_text(encoding="utf-8"))
        self.run_promtool("test", "rules", str(rules))

    def test_accepts_the_expressions_of_the_dashboard(self):
        rules = [{"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m")}
                 for number, (_, expression) in enumerate(expressions())]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "panels.yml")  # JSON is YAML
            file.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}),
                            encoding="utf-8")
            self.run_promtool("check", "rules", str(file))


def main(program, *options):
    Files.printed = Printed(text_of_the_nodes(program))
    if options == ("--promtool",):
        # ./dev unpacks the package there: to install it would start a service.
        Promtool.program = shutil.which("promtool", path=str(ROOT / "build/peers/usr/bin")) or \
            shutil.which("promtool")
        if Promtool.program is None:
            print("there is no promtool (Debian's package prometheus)")
            return SKIPPED
        Promtool.printed_text = text_of_the_nodes(program)
        cases = [Promtool]
    else:
        cases = [Complaints, Files, Dashboard]
    suite = unittest.TestSuite(
        unittest.defaultTestLoader.loadTestsFromTestCase(case) for case in cases)
    return 0 if unittest.TextTestRunner().run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
