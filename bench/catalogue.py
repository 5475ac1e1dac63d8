"""Every target, in the order of the report."""

import signal

import events
import loads
from figures import Range
from targets import Line, absolute, cpu, handover, latency, rate, verdict

LOADS = [
    latency("T2 leader", "acquire p50 <= 1.1 x floor", loads.ON_LEADER, 1.1),
    latency("T2 follower", "acquire p50 <= 1.5 x floor", loads.ON_FOLLOWER, 1.5),
    rate("T2 unawaited", ">= 1.3 x floor's cycles/s", loads.UNAWAITED, loads.FLOOR_ONE, 1.3),
    rate("T3a", ">= 1.0 x spread floor's cycles/s, p99 <= 2 x", loads.MANY, loads.FLOOR_SPREAD, 1.0,
         tail=2),
    rate("T3b", ">= 1.5 x spread floor's cycles/s, p99 <= 2 x", loads.MANY_UNAWAITED,
         loads.FLOOR_SPREAD, 1.5, tail=2),
    absolute("T4 one node", ">= 150,000 cycles/s", loads.ASYNC_ONE, 150_000),
    absolute("T4 all nodes", ">= 150,000 cycles/s", loads.ASYNC_ALL, 150_000),
    handover("T5 strict", ">= 0.6 / floor's commit, max/min <= 1.1", loads.HOT),
    absolute("T5 local", ">= 40,000 cycles/s", loads.HOT_LOCAL, 40_000),
    cpu("T11 T3a", "<= 1.0 x spread floor's CPU per cycle", loads.MANY, 1.0, of_floor=True),
    cpu("T11 T4", "<= 8 us of CPU per cycle", loads.ASYNC_ALL, 8),
]


class Events:
    """Targets that one scenario on a cluster of its own answers together."""

    def __init__(self, what, names, measure):
        self.what, self.names, self.measure = what, names, measure


def failover(name, demand, how, p50, most):
    def measure(cluster, options):
        found = Range(events.failovers(cluster, options.failovers, how))
        met = max(found.values) <= most and (p50 is None or found.median <= p50)
        figure = f"p50 {found.median:,.0f} ms, max {max(found.values):,.0f} ms, " \
                 f"{len(found.values)} runs"
        return [Line(name, demand, figure, "", verdict(met), found.values)]
    return Events(name, {name: demand}, measure)


GROWTH = {"T7 replica": "<= 160 B per held lock", "T7 holder": "<= 420 B per held lock"}


def measure_growth(cluster, options):
    found = events.Held(cluster, options).growth()
    return [Line(name, demand, f"{found[role]:,.0f} B per lock, 1,000 to {options.locks:,}",
                 f"heap {found[role + '_heap']:,.0f} B", verdict(found[role] <= most), found)
            for (name, demand), role, most in zip(GROWTH.items(), ("replica", "holder"),
                                                  (160, 420))]


BESIDE = {"T8 locks": ">= 0.9 x cycles/s with 1 M held locks"}


def measure_beside(cluster, options):
    few, many = events.Held(cluster, options).rates()
    line = Line("T8 locks", BESIDE["T8 locks"], f"{many:,.0f} cycles/s beside {options.locks:,}",
                f"{many / few:.2f} x beside 1,000", at_scale(many >= 0.9 * few, options),
                [few, many])
    return [line]


def at_scale(met, options):
    """The target is for a million locks."""
    return "in part" if met and options.locks < 1_000_000 else verdict(met)


QUEUE = {"T8 queue": "with 10,000 waiters >= 1 / 1.2 of those with 10"}


def measure_queues(cluster, options):
    few, many = events.queues(cluster, options)
    return [Line("T8 queue", QUEUE["T8 queue"],
                 f"{many:,.0f} hand-overs/s with {options.waiters:,} waiters",
                 f"{many / few:.2f} x with 10", verdict(1.2 * many >= few), [few, many])]


FIVE = {"T8 five": "of three voters: 1 caller >= 0.85 x, 64 callers >= 0.55 x"}


def measure_five(cluster, options):
    one, many = events.voters(cluster, options)
    return [Line("T8 five", FIVE["T8 five"], "five voters", f"{one:.2f} x, {many:.2f} x",
                 verdict(one >= 0.85 and many >= 0.55), [one, many])]


END = {"T8 end": "no change of leader, no step above 20 ms, session with 1 M holds"}


def measure_end(cluster, options):
    longest, changes = events.Held(cluster, options).end_of_session()
    return [Line("T8 end", END["T8 end"], f"longest step {longest:.1f} ms, {changes} changes",
                 f"session with {options.locks:,} holds",
                 at_scale(longest <= 20 and changes == 0, options), [longest, changes])]


RESTART = {"T9": "<= 3 s with 1 M held locks"}


def measure_restart(cluster, options):
    seconds = events.Held(cluster, options).restart()
    return [Line("T9", RESTART["T9"], f"{seconds:.2f} s with {options.locks:,} held locks", "",
                 at_scale(seconds <= 3, options), [seconds])]


IDLE = {"T10 CPU": "<= 0.4 % of a core per node", "T10 syncs": "<= 2 synced writes/s per node"}


def measure_idle(cluster, options):
    found = events.idle(cluster, options)
    cpu_most, syncs_most = max(found["cpu_percent"]), max(found["syncs"])
    return [Line("T10 CPU", IDLE["T10 CPU"], f"{cpu_most:.2f} % of a core, the busiest node", "",
                 verdict(cpu_most <= 0.4), found["cpu_percent"]),
            Line("T10 syncs", IDLE["T10 syncs"], f"{syncs_most:.2f} a second, the busiest node", "",
                 verdict(syncs_most <= 2), found["syncs"])]


CACHED = {"T1 mutex": "<= 50 ns a pair", "T1 name": ">= 10 M cycles/s by name"}


def measure_cached(cluster, options):
    found = events.cached(cluster, options)
    ratio = found["mutex_ns"] / found["std_mutex_ns"]
    rate_by_name = 1e9 / found["name_ns"]
    return [Line("T1 mutex", CACHED["T1 mutex"], f"{found['mutex_ns']:,.0f} ns a pair",
                 f"{ratio:.1f} x std::mutex", verdict(found["mutex_ns"] <= 50), found),
            Line("T1 name", CACHED["T1 name"], f"{rate_by_name:,.0f} cycles/s",
                 f"{rate_by_name / 10e6:.2f} x target", verdict(rate_by_name >= 10e6), found)]


EVENTS = [
    Events("a cached lock", CACHED, measure_cached),
    failover("T6 kill", "p50 <= 10 ms, max <= 40 ms", signal.SIGKILL, 10, 40),
    failover("T6 stop", "max <= 1,000 ms", signal.SIGSTOP, None, 1000),
    Events("memory of held locks", GROWTH, measure_growth),
    Events("a load beside held locks", BESIDE, measure_beside),
    Events("a long queue", QUEUE, measure_queues),
    Events("five voters", FIVE, measure_five),
    Events("the end of a session with many holds", END, measure_end),
    Events("restart with held locks", RESTART, measure_restart),
    Events("an idle cluster", IDLE, measure_idle),
]

def number_of(name):
    """T3a of T3a, T10 of "T10 CPU"."""
    return name.split()[0]


def is_chosen(name, only):
    """--only T3 also means T3a and T3b, and T1 does not mean T10."""
    number = number_of(name).lower()
    return not only or any(word in (number, number.rstrip("ab")) for word in only)


ALL_NAMES = ([target.name for target in LOADS]
             + [name for event in EVENTS for name in event.names])
