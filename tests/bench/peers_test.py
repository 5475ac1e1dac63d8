"""./dev bench --peers without any other service: what the client programs print, the page, the
plot, and the end of the servers."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path[:0] = [str(BENCH / "peers"), str(BENCH)]

import main  # noqa: E402
import page  # noqa: E402
import plot  # noqa: E402
from clients import outcome_of  # noqa: E402
from processes import Failed, Programs  # noqa: E402
from results import Outcomes, to_floor, to_mortise  # noqa: E402
from servers import Servers, say  # noqa: E402
from systems import FLOOR, MORTISE, PEERS, REDIS, REPLICATED, SCENARIOS, SYSTEMS  # noqa: E402

ALONE, _, MANY, HOT = SCENARIOS
ETCD = PEERS[0].systems[0]


def printed(cycles, acquire_us=100, failure="", **counters):
    """A line as closed_loop() makes it."""
    return json.dumps({
        "cycles": cycles, "seconds": 2, "failure": failure,
        "counters": {"cpu_ns": 4_000_000, "retries": 0} | counters,
        "acquire": [[acquire_us * 1000, sum(cycles)]] if sum(cycles) else []}) + "\n"


def report_of(outcomes, load=0.1, void=()):
    return {"rows": outcomes.rows(), "failovers": outcomes.failovers, "void": list(void),
            "floor": "sync p50 123 us", "versions": {"etcd": "etcd 3.4.23"},
            "context": {"date": "2026-11-26 12:00 UTC", "commit": "0123456789ab",
                        "machine": "2 x <a> & b", "disk": "/home/a,b/build, ext4",
                        "load_before": load, "rounds": 3}}


def measured_outcomes():
    """Two rounds: etcd has 10, then 20 cycles a second; Mortise 40 each time, the floor 100."""
    outcomes = Outcomes()
    for scenario in (MANY, HOT):
        for cycles in (20, 40):
            outcomes.add(ETCD, scenario, outcome_of(printed([cycles], retries=10)))
            outcomes.add(MORTISE, scenario, outcome_of(printed([30, 50])))
            if scenario is MANY:
                outcomes.add(FLOOR, scenario, outcome_of(printed([200])))
    outcomes.add_failovers(ETCD, [1100.4, 900.0, 1000.0])
    return outcomes


class BesideRedis(unittest.TestCase):
    def judged(self, acquire_us, cycles):
        outcomes = Outcomes()
        for scenario in (ALONE, MANY):
            outcomes.add(REPLICATED, scenario, outcome_of(printed([cycles], acquire_us)))
            outcomes.add(REDIS, scenario, outcome_of(printed([100], 100)))
        return list(page.beside_redis(report_of(outcomes)))

    def test_a_ratio_to_redis_is_met_or_missed(self):
        self.assertEqual([line.rpartition(": ")[2] for line in self.judged(150, 70)],
                         ["met", "met"])
        self.assertEqual([line.rpartition(": ")[2] for line in self.judged(151, 69)],
                         ["missed", "missed"])

    def test_without_redis_nothing_is_judged(self):
        self.assertEqual(list(page.beside_redis(report_of(measured_outcomes()))), [])


class Printed(unittest.TestCase):
    def test_the_last_line_is_the_result(self):
        outcome = outcome_of("a library said something\n" + printed([10, 30], 250, retries=80))
        self.assertEqual((outcome.rate, outcome.callers), (20, [10, 30]))
        self.assertEqual((outcome.quantile(0.5), outcome.cpu()), (250, 100))
        self.assertEqual((outcome.fairness(), outcome.per_cycle("retries")), (3, 2))

    def test_what_is_no_result_fails(self):
        for text in ("", "\n", "no connection", "[]", "{}", printed([1])[:20], "null"):
            with self.assertRaisesRegex(Failed, "printed no result", msg=text):
                outcome_of(text)

    def test_a_failed_call_or_no_cycle_fails(self):
        with self.assertRaisesRegex(Failed, "a call failed: session expired"):
            outcome_of(printed([5], failure="session expired"))
        with self.assertRaisesRegex(Failed, "not a single cycle"):
            outcome_of(printed([0, 0]))


class Ratios(unittest.TestCase):
    def row(self, report, system, scenario):
        return next(row for row in report["rows"]
                    if (row["system"], row["scenario"]) == (system.name, scenario.name))

    def test_are_those_of_the_same_round(self):
        report = report_of(measured_outcomes())
        row = self.row(report, ETCD, MANY)
        self.assertEqual(row["rates"], [10, 20])
        self.assertEqual(to_mortise(report, row), [0.25, 0.5])
        self.assertEqual(to_floor(report, row), [0.1, 0.2])

    def test_the_floor_is_not_compared_where_callers_share_a_lock(self):
        report = report_of(measured_outcomes())
        self.assertEqual(to_floor(report, self.row(report, ETCD, HOT)), [])

    def test_a_failed_round_is_left_out(self):
        outcomes = Outcomes()
        outcomes.add(MORTISE, MANY, outcome_of(printed([10])))
        outcomes.add(MORTISE, MANY, outcome_of(printed([20])))
        outcomes.fail(ETCD, MANY, "no leader")
        outcomes.add(ETCD, MANY, outcome_of(printed([10])))
        report = report_of(outcomes)
        row = self.row(report, ETCD, MANY)
        self.assertEqual(to_mortise(report, row), [0.5])
        words = "failed: etcd, 3 members, 64 callers: no leader"
        self.assertIn(f"- {words}", page.markdown(report, "plot.svg"))
        self.assertIn(words, page.lines(report))

    def test_what_failed_in_every_round_has_no_figures(self):
        outcomes = Outcomes()
        outcomes.fail(ETCD, MANY, "no leader")
        self.assertIn("| etcd, 3 members | three disks | yes | failed | - | - | - | - | - |",
                      page.markdown(report_of(outcomes), "plot.svg"))


class Page(unittest.TestCase):
    def markdown(self, **more):
        return list(page.markdown(report_of(measured_outcomes(), **more), "2026-11-26.svg"))

    def test_has_a_row_for_each_system_and_scenario(self):
        lines = self.markdown()
        self.assertIn("| etcd, 3 members | three disks | yes | 15 [10-20] | 100 [100-100] | "
                      "100 [100-100] | 0.38 [0.25-0.50] | 0.15 [0.10-0.20] | 150.0 [100.0-200.0] |",
                      lines)
        self.assertIn("| etcd, 3 members | three disks | yes | 15 [10-20] | 100 [100-100] | "
                      "100 [100-100] | 0.38 [0.25-0.50] | 1.00 [1.00-1.00] | 0.4 [0.2-0.5] | "
                      "150.0 [100.0-200.0] |", lines)
        self.assertIn("| etcd, 3 members | 1,000 [900-1,100] | 3 |", lines)
        self.assertEqual([line for line in lines if line.startswith("#")],
                         ["# Mortise beside other lock services, 2026-11-26", "## 64 callers",
                          "## 16 callers, one lock", "## Failover"])

    def test_rows_have_as_many_cells_as_their_head(self):
        counts = [line.count("|") for line in self.markdown()]
        for one, two in zip(counts, counts[1:]):
            self.assertTrue(one == two or 0 in (one, two))

    def test_says_on_which_machine_and_what(self):
        lines = self.markdown()
        for words in ("commit: 0123456789ab", "machine: 2 x <a> & b", "etcd: etcd 3.4.23",
                      "disk: ext4"):
            self.assertIn(f"- {words}", lines)
        self.assertIn("![cycles a second](2026-11-26.svg)", lines)

    def test_a_busy_machine_makes_it_provisional(self):
        words = "provisional: the machine was not quiet"
        self.assertNotIn(words, "\n".join(self.markdown(load=0.5)))
        self.assertIn(words, "\n".join(self.markdown(load=0.6)))

    def test_a_void_floor_is_told(self):
        self.assertIn("**The floor is void**: 64 callers are too slow.",
                      self.markdown(void=["64 callers are too slow"]))

    def test_the_terminal_gets_a_line_for_each_system_and_scenario(self):
        lines = list(page.lines(report_of(measured_outcomes())))
        self.assertEqual(len(lines), 1 + 5 + 1)
        found = [line for line in lines if re.match(r"etcd, 3 members +64 callers +15 ", line)]
        self.assertEqual(len(found), 1, lines)
        self.assertIn("0.15 [0.10-0.20]", found[0])
        self.assertEqual(lines[-1], "etcd, 3 members, failover, runs 3: 1,000 [900-1,100] ms")


class Plot(unittest.TestCase):
    def setUp(self):
        self.report = report_of(measured_outcomes())
        self.text = plot.svg(self.report)
        self.tree = ElementTree.fromstring(self.text)

    def found(self, tag):
        return self.tree.findall("{http://www.w3.org/2000/svg}" + tag)

    def bars(self):
        return [rect for rect in self.found("rect") if rect.get("x") == str(plot.LEFT)
                and rect.get("y") != "48"]

    def test_has_a_bar_and_labels_for_each_row(self):
        self.assertEqual(len(self.bars()), len(self.report["rows"]))
        labels = [label.text for label in self.found("text")]
        for row in self.report["rows"]:
            self.assertIn(row["system"], labels)
            self.assertIn(row["scenario"], labels)
        self.assertIn("2 x <a> & b", labels)
        self.assertIn("15", labels)  # the median of etcd

    def test_a_busy_machine_makes_it_provisional(self):
        self.assertNotIn("provisional", self.text)
        self.assertIn("2 x &lt;a&gt; &amp; b; provisional: the machine was not quiet",
                      plot.svg(report_of(measured_outcomes(), load=0.6)))

    def test_the_axis_is_logarithmic(self):
        axis = plot.Axis([16, 3400])
        self.assertEqual(axis.ticks(), [10, 100, 1000, 10_000])
        steps = [axis.x(tick) for tick in axis.ticks()]
        self.assertEqual((steps[0], steps[-1]), (plot.LEFT, plot.WIDTH - plot.RIGHT))
        self.assertAlmostEqual(steps[1] - steps[0], steps[3] - steps[2])

    def test_everything_is_within_the_picture(self):
        height = float(self.tree.get("height"))
        for rect in self.bars():
            self.assertLessEqual(float(rect.get("x")) + float(rect.get("width")), plot.WIDTH)
            self.assertLess(float(rect.get("y")), height)
        for label in self.found("text"):
            self.assertLess(float(label.get("y")), height)

    def test_stands_alone_in_light_and_dark(self):
        self.assertIn("prefers-color-scheme: dark", self.text)
        self.assertIsNone(re.search("href|url\\(|<script|@import", self.text))
        self.assertEqual(self.text.count("http"), 1)  # the name of the form

    def test_a_failed_system_has_no_bar(self):
        outcomes = measured_outcomes()
        outcomes.fail(ETCD, ALONE, "no leader")
        ElementTree.fromstring(plot.svg(report_of(outcomes)))


class Options(unittest.TestCase):
    def test_some_peers_can_be_picked(self):
        given = ["--programs", "build/tests"]
        self.assertEqual(main.understood([*given, "--peers", "redis,etcd"]).peers,
                         ["redis", "etcd"])
        for words in (["--peers"], []):
            self.assertEqual(main.understood([*given, *words]).peers,
                             ["etcd", "mariadb", "redis", "zookeeper"])

    def test_a_peer_that_there_is_not_is_refused(self):
        done = subprocess.run(
            [sys.executable, "-B", BENCH / "peers" / "main.py", "--programs", "x", "--peers",
             "redis,consul"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no peer consul; there are etcd, mariadb, redis, zookeeper", done.stderr)

    def test_a_quick_run_leaves_no_page(self):
        options = main.understood(["--programs", "x", "--peers", "--quick"])
        self.assertEqual((options.rounds, options.seconds, options.results), (1, 1, None))
        options = main.understood(["--programs", "x", "--quick", "--results", "there"])
        self.assertEqual(options.results, Path("there"))

    def test_writes_a_page_beside_its_plot(self):
        with tempfile.TemporaryDirectory() as directory:
            main.write(report_of(measured_outcomes()), Path(directory) / "results")
            names = sorted(path.name for path in (Path(directory) / "results").iterdir())
            self.assertEqual(names, ["2026-11-26.md", "2026-11-26.svg"])

    def test_every_system_has_a_name_of_its_own(self):
        names = [system.name for system in SYSTEMS]
        self.assertEqual(len(set(names)), len(names))


LISTENER = """
import socket, sys, time
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    listener.accept()[0].sendall(b"hello")
"""


class Listener(Servers):
    """Stands in for a service."""

    def command(self, number):
        return [sys.executable, "-c", LISTENER, self.ports[number][0]]

    def is_ready(self, number):
        return say(self.ports[number][0], b"") == b"hello"


class Mute(Listener):
    def command(self, number):
        return [sys.executable, "-c", "import sys; sys.exit('it is broken')"]


def is_alive(pid):
    return Path(f"/proc/{pid}").exists() and not re.search(
        r"^State:\s+Z", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)


class Ends(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="mortise-peers-test-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.programs = Programs("x", self.directory)

    def assert_ended(self, pids):
        end = time.monotonic() + 20
        while any(map(is_alive, pids)) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertFalse(any(map(is_alive, pids)))

    def test_nothing_is_left_of_servers(self):
        with Listener(self.programs, 3) as servers:
            pids = servers.pids()
            self.assertEqual(len(set(servers.addresses())), 3)
            self.assertTrue(all(map(is_alive, pids)))
        self.assert_ended(pids)
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_a_relative_directory_is_not_taken_from_where_the_servers_run(self):
        with Listener(Programs("x", os.path.relpath(self.directory))) as servers:
            self.assertTrue(servers.data(1).is_absolute())

    def test_nothing_is_left_after_a_failure(self):
        with self.assertRaisesRegex(Failed, "in between"):
            with Listener(self.programs, 2) as servers:
                pids = servers.pids()
                raise Failed("in between")
        self.assert_ended(pids)
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_a_server_that_does_not_start_says_why(self):
        with self.assertRaisesRegex(Failed, "a server ended: it is broken"):
            with Mute(self.programs):
                pass
        self.assertEqual(list(self.directory.iterdir()), [])

    def script(self):
        """A process as the benchmark is: it has servers, and waits."""
        script = subprocess.Popen(
            [sys.executable, "-B", __file__, "--as-script", self.directory],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(script.stdout.close)
        return script, [int(word) for word in script.stdout.readline().split()]

    def test_nothing_is_left_after_a_signal(self):
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            script, pids = self.script()
            script.send_signal(number)
            self.assertEqual(script.wait(), code)
            self.assert_ended(pids)
            self.assertEqual(list(self.directory.iterdir()), [])

    def test_servers_die_with_a_killed_script(self):
        script, pids = self.script()
        self.assertEqual(len(pids), 2)
        script.kill()
        script.wait()
        self.assert_ended(pids)


def as_script(directory):
    signal.signal(signal.SIGTERM, main.end_in_order)
    try:
        with Listener(Programs("x", directory), 2) as servers:
            print(*servers.pids(), flush=True)
            time.sleep(60)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as-script"]:
        as_script(sys.argv[2])
    unittest.main(verbosity=2)
