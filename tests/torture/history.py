"""Histories of torture: the lines of the workers joined, and judged without looking inside. Whether
grants exclude each other and tokens rise, history_check judges (tests/check); here is the rest.

A worker writes a line before a call and one after it. Joined they are the lines of
tests/check/history_file.hpp, with a few keys more: `bound` (how long the call may take), `error`,
`max_hold`, `min_hold` and `lock_delay` of an acquire, `hold` (the call that asked for it; a reader
may take part in the same token twice) of all that is said of a hold, `why` something was lost; and
besides writes to the store (`value`, outcome accepted or refused), reads and writes of the values
of names. All times are of CLOCK_BOOTTIME.
"""

import bisect
import collections
import json
import subprocess

NEVER = 1 << 62
SLACK = 2_000_000_000  # for a machine that is busy
SELF_COMPATIBLE = {"shared"}
# In these cases the hold is not valid any more before its owner is notified, which may be after
# others were granted the name.
OVER_BEFORE_HEARD = {"broken", "node_stopped"}
CHECKED = {"acquire", "try", "release", "lost", "valid", "died"}


def join(lines, process, node):
    """The calls of one process, in the order in which they began."""
    calls = {}
    for line in lines:
        try:
            part = json.loads(line)
        except ValueError:
            continue  # cut off: the disk was full, or the process was killed
        if not isinstance(part, dict) or "call" not in part:
            continue
        calls.setdefault(part["call"], {"process": process, "node": node}).update(part)
    return sorted((c for c in calls.values() if "invoke" in c), key=lambda c: c["invoke"])


def is_grant(call):
    return call.get("outcome") == "granted"


def conflict(one, other):
    return one["mode"] != other["mode"] or one["mode"] not in SELF_COMPATIBLE


def over_at(lost):
    return "invoke" if lost.get("why") in OVER_BEFORE_HEARD else "return"


def hold_of(call):
    return call["process"], call.get("token"), call["name"], call.get("hold")


class Hold:
    """What is known about one hold: during which time it was certainly valid."""

    def __init__(self, grant):
        self.grant = grant
        self.mode = grant["mode"]
        self.begin = grant["return"]
        self.trusted = grant.get("valid_until", grant["return"])
        self.end = NEVER

    def hear(self, call):
        if call["operation"] == "lost":
            self.end = min(self.end, call[over_at(call)])
        elif call["operation"] == "release":
            self.end = min(self.end, call["invoke"])
        if call["operation"] in ("release", "valid"):
            self.trusted = max(self.trusted, call.get("valid_until", 0))


def holds_of(calls, deaths):
    """Every hold. deaths: process -> when it was killed."""
    holds = {}
    for call in calls:
        key = hold_of(call)
        if is_grant(call):
            # Two holds of one reader without numbers are distinguished only by time.
            holds.setdefault(key, []).append(Hold(call))
        elif call["operation"] in ("lost", "release", "valid") and len(holds.get(key, [])) == 1:
            holds[key][0].hear(call)
    for (process, *_), found in holds.items():
        for hold in found:
            hold.end = min(hold.end, deaths.get(process, NEVER))
            if len(found) > 1:
                hold.end = hold.begin
    return [hold for found in holds.values() for hold in found]


def by_name(things, name_of):
    names = collections.defaultdict(list)
    for thing in things:
        names[name_of(thing)].append(thing)
    return names


def describe(grant):
    return (f"{grant['process']} got {grant['mode']} with token {grant['token']} "
            f"at {grant['return']}")


def store(calls):
    """With lock and token no write is lost, and no older token comes after a newer one."""
    writes = [call for call in calls if call["operation"] == "write"
              and call.get("outcome") in (None, "accepted")]
    for name, found in by_name(writes, lambda call: call["name"]).items():
        seen = {}
        highest = 0
        for write in sorted(found, key=lambda w: (w["value"], "outcome" not in w)):
            sure = "outcome" in write
            value, token = write["value"], int(write["token"])
            if sure and value in seen:
                yield f"{name}: {value} was written with {seen[value]} and with {token}"
            if sure and token < highest:
                yield f"{name}: {value} was written with {token} after {highest}"
            if sure:
                seen[value] = token
                highest = max(highest, token)
        certain = [write["value"] for write in found if "outcome" in write]
        possible = {write["value"] for write in found}
        for value in range(1, max(certain, default=0) + 1):
            if value not in possible:
                yield f"{name}: nobody wrote {value}, but somebody read it"


def may_be_forgotten(write, read, blackouts):
    """Acknowledged from memory only, when a majority lost its power before that read. blackouts:
    (from, to), where what was acknowledged may be forgotten."""
    return any(write["return"] > begin and write["invoke"] < end < read["return"]
               for begin, end in blackouts)


def values(calls, blackouts=()):
    """P2, S36: a holder reads what was last written with the tokens before its own, or what a
    writer with an unknown outcome wrote since. Every write has its own token."""
    for name, found in by_name(calls, lambda call: call["name"]).items():
        writes = [call for call in found
                  if call["operation"] == "write_value" and call.get("outcome") != "refused"]
        sure = sorted((call for call in writes if call.get("outcome") == "accepted"),
                      key=lambda call: int(call["token"]))
        possible = {0, *(int(call["token"]) for call in writes)}
        for read in found:
            if read["operation"] != "read_value" or read.get("outcome") != "accepted":
                continue
            value, token = int(read["value"]), int(read["token"])
            before = bisect.bisect_left(sure, token, key=lambda call: int(call["token"]))
            while before and may_be_forgotten(sure[before - 1], read, blackouts):
                before -= 1
            least = int(sure[before - 1]["token"]) if before else 0
            if value not in possible or not least <= value < token:
                yield f"{name}: {token} read the value of {value}, {least} wrote last"


def terms(calls, blackouts=()):
    """S8, S9: no hold lasts longer, and no name is granted earlier, than was requested, if no era
    began meanwhile."""
    for name, found in by_name(calls, lambda call: call["name"]).items():
        grants = sorted(filter(is_grant, found), key=lambda call: int(call["token"]))
        holders = {}
        for grant in grants:  # of two without numbers the owner is unknown
            key = hold_of(grant)
            holders[key] = None if key in holders else grant
        closed = [(grant, grant["invoke"] + grant["min_hold"], "min_hold") for grant in grants
                  if "min_hold" in grant]
        for call in found:
            grant = holders.get(hold_of(call))
            if grant is None:
                continue
            if (call["operation"] == "valid" and "max_hold" in grant
                    and call["invoke"] > grant["return"] + grant["max_hold"]):
                yield f"{name}: {describe(grant)} had it still at {call['invoke']}"
            if (call["operation"] == "lost" and call.get("why") == "expired"
                    and "lock_delay" in grant):
                closed.append((grant, call["invoke"] + grant["lock_delay"], "lock_delay"))
        for grant, until, why in closed:
            place = bisect.bisect_right(grants, int(grant["token"]), key=lambda g: int(g["token"]))
            for other in grants[place:]:
                if conflict(grant, other):
                    is_forgotten = any(grant["invoke"] < end < other["return"]
                                       for _, end in blackouts)
                    if other["return"] < until and not is_forgotten:
                        yield f"{name}: {describe(other)} within the {why} of {describe(grant)}"
                    break


def unanswered(calls, deaths):
    """P6: calls that never returned, of processes that were not killed."""
    for call in calls:
        if "return" not in call and call["process"] not in deaths:
            yield f"{call['process']}: {call['operation']} of {call['name']} never came back"


def late(calls, slowed):
    """P6, P10: calls that took too long. slowed: (node, from, to) of faults that make a program
    slow whatever it calls."""
    for call in calls:
        if "bound" not in call or "return" not in call:
            continue
        took = call["return"] - call["invoke"]
        allowed = call["bound"] + SLACK
        for node, begin, end in slowed:
            if node == call["node"]:
                allowed += max(0, min(end, call["return"]) - max(begin, call["invoke"]))
        if took > allowed:
            yield (f"{call['process']}: {call['operation']} of {call['name']} took "
                   f"{took / 1e9:.2f} s, {call['bound'] / 1e9:.2f} s were allowed; it came back "
                   f"at {call['return']} with {call.get('outcome')}")


def grant_times(calls):
    return sorted(call["return"] for call in calls if is_grant(call))


def longest_gap(times, begin, end):
    """The longest time between two grants of any name, from begin to end."""
    within = times[bisect.bisect_right(times, begin):bisect.bisect_left(times, end)]
    times = [begin, *within, end]
    return max(after - before for before, after in zip(times, times[1:]))


def orphaned(calls, deaths):
    """P8, seen from outside: how long each lock of a dead process stayed taken, if it was
    granted later."""
    grants = by_name(filter(is_grant, calls), lambda call: call["name"])
    for hold in holds_of(calls, {}):
        died = deaths.get(hold.grant["process"])
        if died is None or hold.end != NEVER:
            continue
        later = [grant["return"] for grant in grants[hold.grant["name"]]
                 if grant["return"] > died and conflict(grant, hold.grant)]
        if later:
            yield min(later) - died


def for_the_search(calls, deaths, restarts):
    """The lines of tests/check. deaths and restarts: process -> when it was killed, when its
    directory had a process again. Its session may be over from then on (S10), or from the end of
    its lease on, whichever comes first."""
    lines = [call for call in calls if call["operation"] in CHECKED]
    for place, call in enumerate(lines):
        if call["operation"] == "lost" and over_at(call) == "invoke":
            lines[place] = {**call, "valid_until": call["invoke"]}
    for process, when in deaths.items():
        lines.append({"process": process, "operation": "died", "invoke": when, "return": when})
    for hold in holds_of(calls, {}):
        restart = restarts.get(hold.grant["process"])
        if hold.end == NEVER and restart is not None:
            told = {key: hold.grant[key] for key in ("process", "name", "token", "hold")
                    if key in hold.grant}
            over = min(restart, hold.trusted)
            lines.append({**told, "operation": "lost", "invoke": over, "return": over})
    return sorted(lines, key=lambda call: call["invoke"])


def search(program, path, calls, deaths, restarts):
    """P1, P3: what history_check says of the calls, which are written to this file."""
    with open(path, "w", encoding="utf-8") as out:
        for call in for_the_search(calls, deaths, restarts):
            out.write(json.dumps(call) + "\n")
    done = subprocess.run([program, path], capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr, end="", flush=True)
    if done.returncode != 0:
        yield "the history cannot be explained"


def judge(calls, deaths, slowed, blackouts=()):
    """Everything else that is wrong, in words."""
    return [*store(calls), *values(calls, blackouts), *terms(calls, blackouts),
            *unanswered(calls, deaths), *late(calls, slowed)]
