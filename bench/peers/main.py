#!/usr/bin/env python3
"""Measures other lock services beside the floor and Mortise: ./dev bench --peers.

A round measures the floor, a new cluster of Mortise, and each service with new servers, one after
the other. There is a line for each system and scenario; a page and a plot are written.
"""

import argparse
import json
import signal
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import page  # noqa: E402
import plot  # noqa: E402
import report as around  # noqa: E402
from comparison import Comparison  # noqa: E402
from processes import Failed  # noqa: E402
from systems import NAMES  # noqa: E402
from versions import VERSIONS  # noqa: E402

QUICK = {"rounds": 1, "seconds": 1, "warm_up": 0.3, "java_warm_up": 3, "failovers": 1}


def understood(words=None):
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--peers", nargs="?", const=",".join(NAMES), default=",".join(NAMES),
                        metavar="LIST", help=f"some of {','.join(NAMES)}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5, help="of each load")
    parser.add_argument("--warm-up", type=float, default=1, help="seconds before each load")
    parser.add_argument("--java-warm-up", type=float, default=60,
                        help="seconds of load before the first load of a new server in Java")
    parser.add_argument("--failovers", type=int, default=5, help="of each system, or 0")
    parser.add_argument("--quick", action="store_true", help="one round of a second each")
    parser.add_argument("--directory", type=Path, help="on the disk to be measured")
    parser.add_argument("--results", type=Path, metavar="DIRECTORY",
                        help="for the page and the plot; bench/results, but with --quick nowhere")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything there")
    options = parser.parse_args(words)
    if options.quick:
        vars(options).update(QUICK)
    options.peers = [name for name in options.peers.lower().split(",") if name]
    if unknown := set(options.peers) - set(NAMES):
        parser.error(f"no peer {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    if options.rounds < 1 or options.failovers < 0 or options.seconds <= 0:
        parser.error("--rounds and --seconds are greater than 0, --failovers is at least 0")
    options.directory = options.directory or options.programs.parent
    if options.results is None and not options.quick:
        options.results = ROOT / "bench" / "results"
    return options


def end_in_order(number, _):
    """As ^C does: the servers end, and the directories go."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def show(report):
    for line in page.lines(report):
        print(line.rstrip())
    print()
    for key, value in (report["context"] | report["versions"]).items():
        print(f"{key.replace('_', ' ')}: {value}")
    print(f"floor: {report['floor']}" + "".join(f"; VOID: {why}" for why in report["void"]))
    if not page.is_quiet(report):
        print(page.PROVISIONAL)


def write(report, directory):
    """The page and the plot; those of an earlier run of the same day are replaced."""
    directory.mkdir(parents=True, exist_ok=True)
    name = report["context"]["date"][:10]
    (directory / f"{name}.svg").write_text(plot.svg(report))
    (directory / f"{name}.md").write_text("\n".join(page.markdown(report, f"{name}.svg")))
    print(f"written: {directory / name}.md and .svg")


def main():
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_in_order)
    options = understood()
    context = around.context(ROOT, options)
    comparison = Comparison(options)
    try:
        report = comparison.run()
    except Failed as failed:
        sys.exit(f"./dev bench: {failed}")
    report["context"] = context | {"java_warm_up": options.java_warm_up}
    report["versions"] = {name: VERSIONS[name]() for name in comparison.measured_peers()}
    show(report)
    if options.results:
        write(report, options.results)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return int(bool(report["void"]) or any(row["failure"] for row in report["rows"]))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
