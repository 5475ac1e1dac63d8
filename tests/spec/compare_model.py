#!/usr/bin/env python3
"""The lock machine and its C++ specification against the Python model of the queue rules.

    compare_model.py LOCK_EVENTS [--seed N] [--runs N]

LOCK_EVENTS is the program of lock_events.cpp. Each run is a function of its seed: acquires of one
name, of all or any of several, of permits, conversions, resizes and removals of semaphores,
releases, cancels and ends of sessions go to both
sides, and after each of them the events, holders, the order of tokens on each name, and queues
must be equal, and who was refused for a wait cycle. Priorities and preferring policies are
left out, and what a locker asks of its node alone: a name that it has or waits for already. The end
of a session is its end and the sweeps after it: those take the names as one leads to the other,
which S11 leaves open, and who waits for any of several gets another for it. So the model may take
the names that such an end frees in any order; with another than its own the history ends there,
for what comes next was written with that in mind. In the end it says how often there was what.
"""
import argparse
import collections
import copy
import itertools
import random
import subprocess
import sys

import lock_model as lm


class Machine:
    """The C++ side."""

    def __init__(self, program, which):
        self.process = subprocess.Popen([program, which], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        lines = []
        while (answer := self.process.stdout.readline().rstrip("\n")) != ".":
            if not answer:
                raise RuntimeError(f"lock_events died at: {line}")
            lines.append(answer)
        events = [line for line in lines if not line.startswith("name ")]
        # The grants, and the other answers, each in their order.
        return ([e for e in events if not e.startswith("granted")],
                [e for e in events if e.startswith("granted")],
                [line for line in lines if line.startswith("name ")])


class Tokens:
    """What is told in the words of tokens by name: the first that a name ever had, the second. Who
    comes first on another name is of no matter to anybody, and where the end of a session lets
    them in together, ours goes from name to name as one leads to the other."""

    def __init__(self):
        self.words = {}
        self.newest = {}
        self.counts = collections.Counter()

    def by_name(self, told, in_any_order):
        answers, granted, names = told
        for line in names:
            name, holders = line.split()[1], line.split("|")[0].split()[2:]
            for token in sorted({int(holder.split(":")[2]) for holder in holders}):
                if str(token) not in self.words:
                    self.counts[name] += 1
                    rises = token > self.newest.get(name, 0)
                    self.words[str(token)] = f"{name}.{self.counts[name]}" + "!" * (not rises)
                    self.newest[name] = token
        granted = [self.renamed(line, 2) for line in granted]
        return ([self.renamed(a, 2) if a.startswith("converted") else a for a in answers],
                sorted(granted) if in_any_order else granted,
                [self.renamed(line, 2) for line in names])

    def renamed(self, line, first):
        """Except for its first words, which are not tokens."""
        words = line.split(" ")
        parts = [":".join([*word.split(":")[:-1], self.words.get(token, token)])
                 for word in words[first:] for token in [word.split(":")[-1]]]
        if line.startswith("name"):  # operations follow the bar
            bar = words.index("|")
            parts[bar - first:] = words[bar:]
        return " ".join([*words[:first], *parts])


class Model:
    """The model, with the same input and output format."""

    def __init__(self, policy):
        self.table = lm.Table(policy)
        self.operation_of = {}            # grant: the line that requested it
        self.grants_of = {}
        self.upgrades = set()             # the lines of upgrades
        self.several = {}                 # requests for all, for any, and for permits: which
        self.counts = collections.Counter()

    def apply(self, line):
        verb, *rest = line.split()
        self.counts[verb] += 1
        if verb == "acquire":
            session, name, mode, wait, locker = rest
            command = lm.Acquire(session, locker_of(session, locker), ((name, mode),),
                                 wait == "wait")
        elif verb in ("all", "any"):
            session, wait, locker, *wanted = rest
            kind = lm.Acquire if verb == "all" else lm.AcquireAny
            command = kind(session, locker_of(session, locker),
                           tuple(zip(wanted[::2], wanted[1::2])), wait == "wait")
            self.several[self.table.index + 1] = verb
        elif verb == "permits":
            session, name, permits, limit, wait = rest
            command = lm.AcquirePermits(session, name, int(permits), int(limit), wait == "wait")
            self.several[self.table.index + 1] = verb
        elif verb == "resize":
            session, name, limit, version = rest
            command = lm.Resize(session, name, int(limit), int(version))
        elif verb == "remove":
            command = lm.Remove(*rest)
        elif verb == "release":
            command = self.release(int(rest[0]))
        elif verb in ("upgrade", "try_upgrade"):
            kind = lm.Upgrade if verb == "upgrade" else lm.TryUpgrade
            command = kind(self.grant_of(int(rest[0])))
            self.upgrades.add(self.table.index + 1)
        elif verb == "downgrade":
            command = lm.Downgrade(self.grant_of(int(rest[0])), rest[1])
        elif verb == "cancel":
            operation = int(rest[0])
            if self.is_held(operation):   # a cancel that came after the grant releases it
                command = self.release(operation)
            else:
                command = lm.Cancel(operation)
        elif verb == "restrict":
            command = lm.Restrict(rest[0], tuple(rest[1:]))
        else:
            command = lm.EndSession(rest[0])
        self.table, events = lm.apply(self.table, command)
        return self.in_words(events, verb)

    def in_words(self, events, verb):
        answers, granted = [], []
        for event in events:
            converted = event.kind in ("upgraded", "downgraded")
            if converted or event.kind == "granted" and event.op in self.upgrades:
                token = self.table.grants[event.grants[0]].token
                answers.append(f"converted {event.op} {token}")
            elif event.kind == "granted":
                granted.append(self.granted(event))
            elif event.kind == "cancelled" and verb == "end":
                pass                      # ours reports the end of the session once
            elif event.kind == "cancelled" and verb == "cancel" and len(events) and \
                    events[0] is event:
                # Ours answers the operation first, and then the cancel.
                answers += [f"cancelled {event.op}", f"cancelled {self.table.index}"]
            elif event.kind != "ended":   # ours reports the end of the session once
                self.counts["denied"] += event.kind == "denied"
                answers.append(f"{event.kind} {event.op}")
        queued = f"queued {self.table.index}"
        if queued in answers:             # ours reports this at the end, if it is still true then
            answers.remove(queued)
            answers += [queued] * (self.table.index in self.table.ops)
        return answers, granted, list(self.names())

    def granted(self, event):
        self.grants_of[event.op] = event.grants
        grants = [self.table.grants[grant] for grant in event.grants]
        for grant in grants:
            self.operation_of[grant.id] = event.op
        if event.op not in self.several:
            return f"granted {event.op} {grants[0].token}"
        at_once = "at once" if event.op == self.table.index else "later"
        self.counts[f"{self.several[event.op]} granted {at_once}"] += 1
        return " ".join([f"granted {event.op}", *(f"{g.name}{slots(g)}:{g.token}" for g in grants)])

    def names(self):
        for name, record in sorted(self.table.records.items()):
            holders = [self.table.grants[grant] for grant in record.holders]
            words = [f"{self.operation_of[g.id]}:{g.mode}{slots(g)}:{g.token}" for g in holders]
            waiting = [record.conversion] * bool(record.conversion) + record.queue
            yield " ".join(["name", name, *words, "|", *map(str, waiting)])

    def release(self, operation):
        grants = self.grants_of.get(operation, ())
        return lm.ReleaseAll(grants) if len(grants) > 1 else lm.Release(self.grant_of(operation))

    def grant_of(self, operation):
        """The first; zero if there is none."""
        return self.grants_of.get(operation, (0,))[0]

    def is_held(self, operation):
        return self.grant_of(operation) in self.table.grants


def slots(grant):
    return "=" + ",".join(map(str, grant.slots)) if grant.slots else ""


def locker_of(session, number):
    return None if number == "0" else f"{session}/{number}"


def has_or_wants(table, locker, name):
    record = table.records.get(name)
    return record is not None and (
        any(table.grants[grant].locker == locker for grant in record.holders)
        or any(table.ops[op].locker == locker for op in record.queue))


def script(seed):
    """Lines that mostly have an effect; the model is run along to know which do."""
    rng = random.Random(seed)
    policy = rng.choice(("phase_fair", "phase_fair", "phase_fair", "fifo"))
    names = "abc"[:rng.randint(1, 3)]
    sessions = ["s1", "s2", "s3", "s4"][:rng.randint(2, 4)]
    modes = rng.choice((lm.MODES, lm.MODES, (lm.S, lm.X), (lm.S, lm.U, lm.X),
                        (lm.IX, lm.S, lm.X), (lm.IS, lm.IX, lm.S, lm.X)))
    weights = rng.choice(((50, 35, 10, 1, 0, 0, 0, 0, 0), (40, 20, 20, 5, 5, 2, 5, 0, 0),
                          (60, 30, 5, 5, 0, 0, 0, 0, 0), (40, 15, 8, 2, 20, 3, 12, 0, 0),
                          (15, 30, 8, 1, 0, 0, 0, 25, 20), (20, 20, 8, 2, 8, 2, 5, 20, 12),
                          (25, 25, 15, 4, 5, 2, 5, 8, 20), (30, 30, 5, 1, 0, 0, 2, 25, 0)))
    lockers = rng.choice(("0", "011", "1", "12"))
    model, lines, asked = Model(policy), restrictions(names, sessions, seed), 0
    pools = random.Random(seed ^ 0x5e3a)  # a separate stream, like that of restrictions()
    for line in lines:
        model.apply(line)
    for number in range(len(lines) + 1, len(lines) + rng.choice((20, 60, 120)) + 1):
        verb = rng.choices(("acquire", "release", "cancel", "end", "upgrade", "try_upgrade",
                            "downgrade", "all", "any"), weights)[0]
        held = [model.operation_of[grant] for grant in model.table.grants]
        semaphore = "" if seed % 3 else some_semaphore(pools, names, sessions)
        if asked and rng.random() < 0.1:
            target = rng.randint(1, asked)
        else:
            target = rng.choice((list(model.table.ops) if verb == "cancel" else held) or [0])
        if semaphore:
            line = semaphore
        elif verb in ("release", "cancel") and lines and asks(lines, target):
            line = f"{verb} {target}"
        elif verb in ("upgrade", "try_upgrade") and lines and asks(lines, target):
            line = f"{verb} {target}"
        elif verb == "downgrade" and lines and asks(lines, target):
            line = f"{verb} {target} {rng.choice(modes)}"
        elif verb == "end":
            line = f"end {rng.choice(sessions)}"
        else:
            wait = "wait" if rng.random() < 0.85 else "try"
            session, locker = rng.choice(sessions), rng.choice(lockers)
            several = verb in ("all", "any") and len(names) > 1
            wanted = some_of(names, verb, rng) if several else [rng.choice(names)]
            if any(has_or_wants(model.table, locker_of(session, locker), one) for one in wanted):
                locker = "0"
            if several:
                modes_too = " ".join(f"{one} {rng.choice(modes)}" for one in wanted)
                line = f"{verb} {session} {wait} {locker} {modes_too}"
            else:
                line = f"acquire {session} {wanted[0]} {rng.choice(modes)} {wait} {locker}"
            asked = number
        if ends_before(lines, line):
            line = f"end {rng.choice(sessions)}"
        model.apply(line)
        lines.append(line)
    return policy, lines


def restrictions(names, sessions, seed):
    """In every fourth history, before anything else: which names sessions may acquire (S50)."""
    rng = random.Random(~seed)            # a separate stream, so that the other draws stay the same
    if seed % 4 or len(names) == 1:
        return []
    return [f"restrict {session} " + " ".join(rng.sample(names, rng.randint(1, len(names) - 1)))
            for session in rng.sample(sessions, rng.randint(1, len(sessions) - 1))]


def some_semaphore(rng, names, sessions):
    """In every third step a line about a semaphore, which is mostly the first name."""
    if rng.random() > 0.35:
        return ""
    name, session = rng.choice((names[0], names[0], rng.choice(names))), rng.choice(sessions)
    verb = rng.choices(("permits", "resize", "remove"), (80, 14, 6))[0]
    if verb == "permits":
        wait = "wait" if rng.random() < 0.85 else "try"
        return f"permits {session} {name} {rng.randint(1, 4)} {rng.randint(1, 4)} {wait}"
    if verb == "resize":
        return f"resize {session} {name} {rng.randint(0, 6)} {rng.choice((0, 0, 1, 2, 3))}"
    return f"remove {session} {name}"


def some_of(names, verb, rng):
    """Two or more names: all in ascending order, any in every order, and sometimes one of them
    twice."""
    some = rng.sample(names, rng.randint(2, len(names)))
    if rng.random() < 0.02:
        some.append(some[0])
    return sorted(some) if verb == "all" else some


def asks(lines, number):
    """Whether the line's operation may be held or may wait."""
    return 1 <= number <= len(lines) and lines[number - 1].startswith(
        ("acquire", "all", "any", "upgrade", "permits"))


def session_of(lines, number):
    line = lines[number - 1].split()
    return session_of(lines, int(line[1])) if line[0] == "upgrade" else line[1]


def ends_before(lines, line):
    """Whether this is about an operation of an ended session: ours reports nothing then."""
    verb, target = line.split()[:2]
    if verb in ("acquire", "all", "any", "end", "restrict", "permits", "resize", "remove"):
        return False
    return f"end {session_of(lines, int(target))}" in lines[int(target):]


def allowed(model, tokens, line):
    """What is visible, and in which order of names; first what the model itself does."""
    ends = line.startswith("end")
    before = copy.deepcopy((model, tokens)) if ends else None
    yield None, tokens.by_name(model.apply(line), ends)
    for order in itertools.permutations("abc") if ends else ():
        other, its_tokens = copy.deepcopy(before)
        other.table.order = order
        yield order, its_tokens.by_name(other.apply(line), ends)


def run(machines, seed):
    policy, lines = script(seed)
    model = Model(policy)
    tokens = {which: Tokens() for which in ("model", *machines)}
    for machine in machines.values():
        machine.ask(f"new {policy}")
    for number, line in enumerate(lines, 1):
        ends = line.startswith("end")
        seen = {which: tokens[which].by_name(machine.ask(line), ends)
                for which, machine in machines.items()}
        wanted = {}
        for order, told in allowed(model, tokens["model"], line):
            wanted.setdefault(order, told)
            if all(each == told for each in seen.values()):
                break
        else:
            print(f"seed {seed}, {policy}: not as the model has it, at line {number}")
            print("  model:", wanted[None])
            print("\n".join(f"  {which}: {each}" for which, each in seen.items()))
            print("\n".join(f"  {i}: {text}" for i, text in enumerate(lines[:number], 1)))
            return None
        if order is not None:
            model.counts["ends in another order"] += 1
            break
    return model.counts


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--runs", type=int, default=300)
    given = arguments.parse_args()
    machines = {which: Machine(given.program, which) for which in ("machine", "spec")}
    counts = collections.Counter()
    for seed in range(given.seed, given.seed + given.runs):
        seen = run(machines, seed)
        if seen is None:
            return 1
        counts += seen
    print(f"{given.runs} histories: no difference in",
          ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
