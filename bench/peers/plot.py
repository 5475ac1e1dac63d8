"""A plot of the results as SVG: a panel for each scenario, a bar for each system, a log axis."""

from html import escape
from math import ceil, floor, log10
from statistics import median

from page import PROVISIONAL, is_quiet
from results import measured
from systems import MEMORIES, NONE, ONE, SCENARIOS, THREE

WIDTH, LEFT, RIGHT = 800, 230, 75  # the labels are left of the bars, the figures right of them
BAR, STEP = 14, 20
CLASSES = {THREE: "three", MEMORIES: "memories", ONE: "one", NONE: "none"}
# Each colour has a contrast of at least 3 with its background.
STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.page { fill: #ffffff } .grid { stroke: #d0d7de } .range { stroke: #1f2328 }
.strong { font-weight: bold } .end { text-anchor: end } .middle { text-anchor: middle }
.three { fill: #1a7f5a } .memories { fill: #0969da } .one { fill: #b35900 } .none { fill: #6e7781 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .page { fill: #0d1117 } .grid { stroke: #30363d } .range { stroke: #e6edf3 }
.three { fill: #3fb68b } .memories { fill: #4493f8 } .one { fill: #e08e45 } .none { fill: #8b949e }
}
</style>"""


def text(x, y, words, classes=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{classes}">{escape(words)}</text>'


class Axis:
    """Whole powers of ten at both ends; all panels share it."""

    def __init__(self, values):
        self.low = floor(log10(min(values) / 1.5))  # so that each bar has a length
        self.high = max(ceil(log10(max(values))), self.low + 1)

    def x(self, value):
        share = (log10(value) - self.low) / (self.high - self.low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def ticks(self):
        return [10 ** power for power in range(self.low, self.high + 1)]


def bar(axis, row, y):
    values = measured(row["rates"])
    # The range is of interest where it can be seen.
    low, high, middle = axis.x(min(values)), axis.x(max(values)), axis.x(median(values))
    is_ours = "strong" if row["system"].startswith("Mortise") else ""
    yield text(LEFT - 8, y + 11, row["system"], f"end {is_ours}")
    yield (f'<rect x="{LEFT}" y="{y}" width="{middle - LEFT:.1f}" height="{BAR}" '
           f'class="{CLASSES[row["keeps"]]}"/>')
    if high - low >= 2:
        yield f'<path d="M{low:.1f} {y + 7}H{high:.1f}" class="range"/>'
    yield text(high + 6, y + 11, f"{median(values):,.0f}", is_ours)


def panel(axis, scenario, rows, top):
    bottom = top + 22 + STEP * len(rows)
    yield text(LEFT, top + 14, scenario.name, "strong")
    for value in axis.ticks():
        x = f"{axis.x(value):.1f}"
        yield f'<path d="M{x} {top + 20}V{bottom}" class="grid"/>'
        yield text(axis.x(value), bottom + 14, f"{value:,}", "middle")
    for index, row in enumerate(rows):
        yield from bar(axis, row, top + 22 + STEP * index)


def legend(top):
    for index, (keeps, name) in enumerate(CLASSES.items()):
        x = 20 + index * 195
        yield f'<rect x="{x}" y="{top}" width="{BAR}" height="{BAR}" class="{name}"/>'
        yield text(x + 20, top + 11, f"survives on {keeps}" if name != "none" else f"only {keeps}")


def svg(report):
    rows = [row for row in report["rows"] if measured(row["rates"])]
    axis = Axis([value for row in rows for value in measured(row["rates"])])
    date, parts, top = report["context"]["date"][:10], [], 74
    parts.append(text(LEFT, 20, f"Cycles a second (acquire and release), {date}", "strong"))
    note = "" if is_quiet(report) else f"; {PROVISIONAL}"
    parts.append(text(LEFT, 38, report["context"]["machine"] + note))
    parts.extend(legend(48))
    for scenario in SCENARIOS:
        own = [row for row in rows if row["scenario"] == scenario.name]
        if own:
            parts.extend(panel(axis, scenario, own, top))
            top += 50 + STEP * len(own)
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" '
            f'width="{WIDTH}" height="{top}" role="img">')
    return "\n".join([head, "<title>Cycles a second of each lock service</title>", STYLE,
                      f'<rect class="page" width="{WIDTH}" height="{top}"/>', *parts, "</svg>", ""])
