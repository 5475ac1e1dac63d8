"""Executable model of one replicated lock table.

`apply(table, command)` is a pure function: it returns a new table and the list of events that the
command caused.  The same commands give the same table and events on every replica.  Rule numbers
(S26, P1, ...) are those of semantics.md; "Decided:" marks a point that the text leaves open,
"Changed:" a point where an earlier wording of the rule failed (see the tests).

Not modelled: leases, timeouts (a timeout is a cancel), values, priorities, caching, and
the numbers of requests (S17): lock_events.cpp gives them, and sends each request ahead of its turn
and once more, which must change nothing.
"""
from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Optional

# -------------------------------------------------------------------------------------- modes (S26)
IS, IX, S, SIX, U, X = "IS", "IX", "S", "SIX", "U", "X"
MODES = (IS, IX, S, SIX, U, X)
ADMITS = {
    IS: {IS, IX, S, SIX, U},
    IX: {IS, IX},
    S: {IS, S, U},
    SIX: {IS},
    U: {IS, S},
    X: set(),
}


def conflict(a: str, b: str) -> bool:
    return b not in ADMITS[a]


def writer(mode: str) -> bool:
    """S31: a mode that conflicts with itself."""
    return conflict(mode, mode)


def weaker_or_equal(m: str, held: str) -> bool:
    """S27: `m` conflicts with nothing that `held` admits."""
    return ADMITS[held] <= ADMITS[m]


# ----------------------------------------------------------------------------------------- commands
@dataclass(frozen=True)
class Acquire:
    """One name: an ordinary request.  Several names: acquire_all, a barrier in each queue (S32)."""
    session: str
    locker: Optional[str]                 # None: a request without a locker (S33)
    names: tuple                          # ((name, mode), ...)
    wait: bool = True


@dataclass(frozen=True)
class AcquireAny:
    """The first free name of several (S32)."""
    session: str
    locker: Optional[str]
    names: tuple
    wait: bool = True


@dataclass(frozen=True)
class AcquirePermits:
    """So many permits of a semaphore; `limit` is how many it has, if this creates it (S34)."""
    session: str
    name: str
    permits: int
    limit: int
    wait: bool = True


@dataclass(frozen=True)
class Resize:
    session: str
    name: str
    limit: int
    expected: int                         # version; 0: any


@dataclass(frozen=True)
class Remove:
    session: str
    name: str


@dataclass(frozen=True)
class Release:
    grant: int


@dataclass(frozen=True)
class ReleaseAll:
    """All names of an acquire_all are released in one command."""
    grants: tuple


@dataclass(frozen=True)
class Cancel:
    op: int


@dataclass(frozen=True)
class Downgrade:
    grant: int
    mode: str


@dataclass(frozen=True)
class Upgrade:
    grant: int


@dataclass(frozen=True)
class TryUpgrade:
    grant: int


@dataclass(frozen=True)
class EndSession:
    session: str


@dataclass(frozen=True)
class Restrict:
    """S50: from here on the session acquires only names with one of the prefixes."""
    session: str
    prefixes: tuple


@dataclass(frozen=True)
class Event:
    """kind: granted, queued, busy, deadlock, invalid, cancelled, ended, released, downgraded,
    upgraded, not_held, nested, denied, mismatch, stored.  `op` is the log index of the request that
    the event answers."""
    kind: str
    op: int
    grants: tuple = ()
    cycle: tuple = ()


# -------------------------------------------------------------------------------------------- state
@dataclass
class Grant:
    id: int
    session: str
    locker: Optional[str]
    name: str
    mode: str
    token: int
    together: bool = False                # with others, by an acquire_all
    slots: tuple = ()                     # of a semaphore (S15)


@dataclass
class Op:
    """A waiting request; `id` is its log index, so ids order requests by age."""
    id: int
    session: str
    locker: Optional[str]
    kind: str                             # "one", "all", "any", "upgrade", "permits"
    names: tuple
    grant: int = 0                        # for "upgrade"
    permits: int = 0                      # for "permits"


@dataclass
class Record:
    policy: str = "phase_fair"            # or "fifo" (S31)
    holders: list = field(default_factory=list)      # grant ids, oldest first
    conversion: int = 0                   # at most one: only one update holder exists (S27)
    queue: list = field(default_factory=list)        # op ids in log order
    turn: str = "writers"                 # S31: who goes first when the phase turns
    newest_token: int = 0
    newest_mode: str = X                  # mode in which the newest token was taken
    limit: Optional[int] = None           # of a semaphore
    version: int = 1                      # of the limit


@dataclass
class Table:
    policy: str = "phase_fair"
    index: int = 0                        # log index of the last command
    token: int = 0                        # S12: one counter for the cluster
    next_grant: int = 1
    grants: dict = field(default_factory=dict)
    ops: dict = field(default_factory=dict)
    records: dict = field(default_factory=dict)
    events: list = field(default_factory=list)
    order: tuple = ()                     # in which names are looked at
    allowed: dict = field(default_factory=dict)           # S50: prefixes, of some sessions

    def clone(self) -> "Table":
        t = Table(self.policy, self.index, self.token, self.next_grant, order=self.order)
        t.grants = {k: copy.copy(g) for k, g in self.grants.items()}
        t.allowed = dict(self.allowed)
        t.ops = dict(self.ops)            # ops are never changed in place
        for n, r in self.records.items():
            t.records[n] = Record(r.policy, list(r.holders), r.conversion, list(r.queue), r.turn,
                                  r.newest_token, r.newest_mode, r.limit, r.version)
        return t

    # ------------------------------------------------------------------------------------ questions
    def record(self, name: str) -> Record:
        return self.records.setdefault(name, Record(self.policy))

    def mode_of(self, op: int, name: str) -> str:
        o = self.ops[op]
        return X if o.kind == "upgrade" else dict(o.names)[name]

    def barrier(self, op: int) -> bool:
        return self.ops[op].kind == "all"

    def fits_holders(self, name: str, mode: str, but: int = 0) -> bool:
        return all(not conflict(self.grants[g].mode, mode) for g in self.record(name).holders
                   if g != but)

    def taken_slots(self, name: str) -> set:
        return {slot for g in self.record(name).holders for slot in self.grants[g].slots}

    def lowest_free(self, name: str, permits: int) -> tuple:
        """S15."""
        taken = self.taken_slots(name)
        return tuple([s for s in range(len(taken) + permits) if s not in taken][:permits])

    def segment(self, name: str) -> list:
        """The waiters in front of the first barrier: only they can enter (S32)."""
        out = []
        for op in self.record(name).queue:
            if self.barrier(op):
                break
            out.append(op)
        return out

    def writer_holds(self, r: Record) -> bool:
        return any(writer(self.grants[g].mode) for g in r.holders)

    def held_by_locker(self, locker: Optional[str], name: str) -> Optional[Grant]:
        if locker is not None and name in self.records:
            for g in self.records[name].holders:
                if self.grants[g].locker == locker:
                    return self.grants[g]
        return None

    # ---------------------------------------------------------------------------- tokens (S12, S13)
    def take_token(self, r: Record, mode: str) -> int:
        # Changed (S13): joining is legal only while the holders' token is the newest of the name
        # and was taken in this very mode; otherwise a downgraded writer shares its token with a
        # reader, or a reader gets a token smaller than that of an update holder that came in
        # between (P1).
        joins = (not writer(mode) and r.newest_mode == mode
                 and any(self.grants[g].mode == mode and self.grants[g].token == r.newest_token
                         for g in r.holders))
        if not joins:
            self.token += 1
            r.newest_token, r.newest_mode = self.token, mode
        return r.newest_token

    def grant_name(self, o: Op, name: str, mode: str) -> int:
        r = self.record(name)
        g = Grant(self.next_grant, o.session, o.locker, name, mode, self.take_token(r, mode),
                  o.kind == "all", self.lowest_free(name, o.permits))
        self.next_grant += 1
        self.grants[g.id] = g
        r.holders.append(g.id)
        if writer(mode):
            r.turn = "readers"            # S31: after a writer, a batch
        return g.id

    def grant_op(self, op: int, name: str = "") -> None:
        """Completes a queued request; the completion is the only notification (S16)."""
        o = self.ops[op]
        chosen = o.names if o.kind != "any" else tuple((n, m) for n, m in o.names if n == name)
        self.drop_op(op)
        ids = tuple(self.grant_name(o, n, m) for n, m in chosen)
        self.events.append(Event("granted", op, ids))

    def drop_op(self, op: int) -> set:
        """Takes a request out of every queue; returns the names that may now go on."""
        o = self.ops.pop(op)
        if o.kind == "upgrade":
            name = self.grants[o.grant].name
            self.record(name).conversion = 0
            return {name}
        for n, _ in o.names:
            self.record(n).queue.remove(op)
        return {n for n, _ in o.names}

    # ------------------------------------------------------------------------- who enters (S28-S32)
    def step(self, name: str) -> Optional[set]:
        """Lets at most one phase step happen on `name`; returns the names to look at again, None
        when nothing moved."""
        r = self.record(name)
        if r.limit is not None:           # S34: the first, as soon as there are enough permits
            free = r.limit - len(self.taken_slots(name))
            enough = r.queue and self.ops[r.queue[0]].permits <= free
            return self.enter(r.queue[0], name) if enough else None
        if r.conversion:                  # S28: conversions first; nothing else enters meanwhile
            o = self.ops[r.conversion]
            if not self.fits_holders(name, X, but=o.grant):
                return None
            self.drop_op(o.id)
            self.convert(self.grants[o.grant])
            self.events.append(Event("granted", o.id, (o.grant,)))
            return {name}
        seg = self.segment(name)
        if not self.writer_holds(r) and all(writer(self.mode_of(op, name)) for op in seg):
            r.turn = "writers"            # no reader waits for the turn: it passes
        if not r.queue:
            return None
        if not seg:                       # a barrier is at the head
            op = r.queue[0]
            names = self.ops[op].names
            ready = all(self.record(n).queue[0] == op and not self.record(n).conversion
                        and self.fits_holders(n, m)
                        for n, m in names)
            if not ready:
                return None
            self.grant_op(op)
            return {n for n, _ in names}
        mode = {op: self.mode_of(op, name) for op in seg}
        free = [op for op in seg if self.fits_holders(name, mode[op])]
        if r.policy == "phase_fair":
            readers = [op for op in seg if not writer(mode[op])]
            writers = [op for op in seg if writer(mode[op])]
            # Changed (S31), what "drain" means.  To readers the phase turns when no writer holds
            # any more, by release or downgrade (S27), even if other readers still hold.  To writers
            # it turns when the oldest waiter conflicts with no holder: a hold that nobody in front
            # conflicts with (intent_shared) keeps nothing shut.
            if r.turn == "readers":
                leader = 0 if self.writer_holds(r) else readers[0]
            else:
                leader = (writers or readers)[0] if seg[0] in free else 0
            if leader in free:
                moved = self.enter(leader, name)
                if not writer(mode[leader]):
                    # Changed (S31): the batch is led by the oldest waiting reader; the longest set
                    # can starve intent_exclusive against shared for ever.  Writers are no members
                    # of it, or an update request would pass an older exclusive one (S29).
                    for op in readers[1:]:
                        if op in self.ops and self.fits_holders(name, mode[op]):
                            moved |= self.enter(op, name)
                    r.turn = "writers"
                return moved
        # S31 "at once", also for those who came earlier and were held up since
        for i, op in enumerate(seg):
            if op in free and all(not conflict(mode[op], mode[e]) for e in seg[:i]):
                return self.enter(op, name)
        return None

    def enter(self, op: int, name: str) -> set:
        names = {n for n, _ in self.ops[op].names}
        self.grant_op(op, name)
        return names

    def settle(self, names: set) -> None:
        """Applies steps until nothing can enter any more.  Names in an order that is the same
        everywhere: in byte order, unless one is given."""
        todo = set(names)
        while todo:
            name = min(todo, key=self.order.index if self.order else None)
            moved = self.step(name)
            if moved is None:
                todo.discard(name)
            else:
                todo |= moved
                for n in moved:           # a barrier may wait elsewhere for what changed here
                    for op in self.record(n).queue[:1]:
                        todo |= {m for m, _ in self.ops[op].names}

    def forget(self) -> None:
        for n in [n for n, r in self.records.items()
                  if not r.holders and not r.queue and r.version == 1]:
            del self.records[n]           # S37; the token lives in the cluster's counter

    # ------------------------------------------------------------------------------ deadlocks (S33)
    def blockers(self, op: int, name: str) -> set:
        """What `op` waits for on `name`: ("locker", id) for a hold, ("op", id) for a request in
        front of it."""
        o, r, out = self.ops[op], self.record(name), set()
        if o.kind == "permits":
            return out                    # any holder can help it, so it waits for none (S33)
        mode = self.mode_of(op, name)
        out |= self.holds_against(name, mode, but=o.grant)
        if o.kind == "upgrade":
            return out
        ahead = r.queue[:r.queue.index(op)]
        if r.conversion:
            ahead = [r.conversion] + ahead
        for e in ahead:
            other = self.mode_of(e, name)
            clash = conflict(mode, other)
            strict = (self.barrier(op) or self.barrier(e) or self.ops[e].kind == "upgrade"
                      or r.policy == "fifo")
            if not clash and not (self.barrier(op) or self.barrier(e)):
                continue
            if not strict and writer(other) and not writer(mode):
                # Changed (S33): a reader waits for no more than one writer in front of it.  At the
                # readers' turn it waits for the writer that holds, at the writers' turn for the
                # first writer of the queue; both must be granted and let go again, whether the
                # modes conflict or not.  It overtakes the others.
                if r.turn == "readers":
                    out |= {("locker", self.grants[g].locker) for g in r.holders
                            if writer(self.grants[g].mode) and self.grants[g].locker is not None}
                    continue
                e = next(f for f in ahead if writer(self.mode_of(f, name)))
            out.add(("op", e))            # until it was granted,
            if clash and (strict or writer(other)) and self.ops[e].locker not in (None, o.locker):
                out.add(("locker", self.ops[e].locker))         # and until it lets go again
        return out

    def holds_against(self, name: str, mode: str, but: int = 0) -> set:
        """Lockers whose holds conflict with `mode`; a hold without a locker is in nobody's way for
        ever (S33)."""
        return {("locker", self.grants[g].locker) for g in self.record(name).holders
                if g != but and conflict(self.grants[g].mode, mode)
                and self.grants[g].locker is not None}

    def op_names(self, op: int) -> list:
        o = self.ops[op]
        return [self.grants[o.grant].name] if o.kind == "upgrade" else [n for n, _ in o.names]

    def stuck(self) -> set:
        """Requests that cannot be granted unless a member of their own cycle gives up.

        A locker goes on when none of its requests is stuck; a request goes on when all that it
        waits for go on (acquire_any: on one of its names).  What never goes on is stuck.
        """
        alive: set = set()

        def goes_on(node) -> bool:
            if node[0] == "op":
                return node[1] in alive
            return all(op in alive for op, o in self.ops.items() if o.locker == node[1])

        changed = True
        while changed:
            changed = False
            for op, o in self.ops.items():
                if op not in alive:
                    per_name = [all(goes_on(b) for b in self.blockers(op, n))
                                for n in self.op_names(op)]
                    if any(per_name) if o.kind == "any" else all(per_name):
                        alive.add(op)
                        changed = True
        return set(self.ops) - alive

    def refuse_deadlocks(self, asked: int) -> None:
        """The request whose command closed the cycle is refused; if the command was no request of
        the cycle (a release let somebody in), the youngest request in it (Changed, S33)."""
        while True:
            bad = self.stuck()
            if not bad:
                return
            in_cycle = {op for op in bad if self.is_in_last_cycle(op, bad)}
            victim = asked if asked in in_cycle else max(in_cycle)
            self.events.append(Event("deadlock", victim, (), tuple(sorted(bad))))
            self.settle(self.drop_op(victim))

    def reached(self, op: int, bad: set) -> set:
        """The stuck requests that it waits for, and those that these wait for."""
        found, todo = set(), [op]
        while todo:
            op = todo.pop()
            for kind, key in set().union(*(self.blockers(op, n) for n in self.op_names(op))):
                those = {key} if kind == "op" else {o for o in bad if self.ops[o].locker == key}
                todo += (those & bad) - found
                found |= those & bad
        return found

    def is_in_last_cycle(self, op: int, bad: set) -> bool:
        """Every request that it waits for also waits for it. Decided: if cycles have requests in
        common, none is preferred, so it is not examined whether fewer refusals would be enough."""
        return all(op in self.reached(other, bad) for other in self.reached(op, bad))

    # ---------------------------------------------------------------------------------- conversions
    def convert(self, g: Grant) -> None:
        r = self.record(g.name)
        g.mode = X
        g.token = self.take_token(r, X)   # S13: an upgrade takes a new token
        # Changed (S31): a conversion does not turn the phase.  Otherwise readers that are alone and
        # upgrade, one after the other, each let a batch in before a waiting writer, without end
        # (P9).

    def drop_grant(self, gid: int) -> set:
        g = self.grants[gid]
        r = self.record(g.name)
        if r.conversion and self.ops[r.conversion].grant == gid:
            self.events.append(Event("cancelled", r.conversion))
            self.drop_op(r.conversion)
        r.holders.remove(gid)
        del self.grants[gid]
        return {g.name}


# -------------------------------------------------------------------------------------------- apply
def apply(table: Table, command) -> tuple:
    t = table.clone()
    t.index += 1
    handler = {Acquire: _acquire, AcquireAny: _acquire, Release: _release,
               ReleaseAll: _release_all, Cancel: _cancel, Downgrade: _downgrade,
               Upgrade: _upgrade, TryUpgrade: _upgrade, EndSession: _end_session,
               Restrict: _restrict, AcquirePermits: _acquire_permits, Resize: _resize,
               Remove: _remove}[type(command)]
    handler(t, command)
    t.forget()
    events, t.events = t.events, []
    return t, events


def _acquire(t: Table, c) -> None:
    any_of = isinstance(c, AcquireAny)
    names = [n for n, _ in c.names]
    prefixes = t.allowed.get(c.session, ("",))
    if not all(n.startswith(prefixes) for n in names):
        t.events.append(Event("denied", t.index))               # S50: nothing else happens
        return
    if not 1 <= len(names) <= 64 or len(set(names)) != len(names):
        t.events.append(Event("invalid", t.index))              # S32
        return
    if any(n in t.records and t.records[n].limit is not None for n in names):
        t.events.append(Event("mismatch", t.index))             # S34: a semaphore is no lock
        return
    for n, m in c.names:
        held = t.held_by_locker(c.locker, n)
        if held is not None:
            # S22, S27.  Decided: "stronger" is everything not weaker or equal; intent_exclusive and
            # shared are each stronger than the other.  Decided: in acquire_all and acquire_any a
            # name held by the same locker is refused, because the nested part never reaches the
            # cluster.
            nested = len(names) == 1 and weaker_or_equal(m, held.mode)
            t.events.append(Event("nested" if nested else "deadlock", t.index))
            return
        if c.locker is not None and any(t.ops[o].locker == c.locker for o in t.record(n).queue):
            # Decided: the node serialises one locker per name
            t.events.append(Event("invalid", t.index))
            return
    kind = "any" if any_of else "all" if len(names) > 1 else "one"
    op = Op(t.index, c.session, c.locker, kind, tuple(c.names))
    t.ops[op.id] = op
    if any_of:
        # Decided: the names are tried in the order given, before anything is queued.
        for n, m in c.names:
            if t.fits_holders(n, m) and not t.record(n).conversion and not any(
                    t.barrier(e) or conflict(m, t.mode_of(e, n)) for e in t.record(n).queue):
                for k in names:
                    t.record(k).queue.append(op.id)
                t.grant_op(op.id, n)
                t.refuse_deadlocks(0)
                return
    for n in names:
        t.record(n).queue.append(op.id)
    if not any_of:
        t.settle(set(names))
    if op.id not in t.ops:
        t.refuse_deadlocks(0)
    elif not c.wait:                      # S20: leaves nothing behind
        t.settle(t.drop_op(op.id))
        t.events.append(Event("busy", op.id))
    else:
        t.events.append(Event("queued", op.id))
        t.refuse_deadlocks(op.id)


def may_not(t: Table, c) -> bool:
    """S34, S50: not allowed, or the name is a lock."""
    record = t.records.get(c.name)
    denied = not c.name.startswith(t.allowed.get(c.session, ("",)))
    if denied or record is not None and record.limit is None:
        t.events.append(Event("denied" if denied else "mismatch", t.index))
        return True
    return False


def _acquire_permits(t: Table, c: AcquirePermits) -> None:
    if may_not(t, c):
        return
    r = t.record(c.name)
    if r.limit is None:
        r.limit = c.limit
    op = Op(t.index, c.session, None, "permits", ((c.name, X),), permits=c.permits)
    t.ops[op.id] = op
    r.queue.append(op.id)
    t.settle({c.name})
    if op.id in t.ops and not c.wait:     # S20: leaves nothing behind
        t.settle(t.drop_op(op.id))
        t.events.append(Event("busy", op.id))
    elif op.id in t.ops:
        t.events.append(Event("queued", op.id))


def _resize(t: Table, c: Resize) -> None:
    if may_not(t, c):
        return
    version = t.records[c.name].version if c.name in t.records else 1
    if c.expected not in (0, version):
        t.events.append(Event("busy", t.index))
        return
    r = t.record(c.name)
    r.limit, r.version = c.limit, version + 1
    t.events.append(Event("stored", t.index))
    t.settle({c.name})


def _remove(t: Table, c: Remove) -> None:
    r = t.records.get(c.name)
    if not c.name.startswith(t.allowed.get(c.session, ("",))):
        t.events.append(Event("denied", t.index))
    elif r is not None and (r.holders or r.queue):
        t.events.append(Event("busy", t.index))
    else:
        t.records.pop(c.name, None)       # S37
        t.events.append(Event("stored", t.index))


def _release(t: Table, c: Release) -> None:
    if c.grant not in t.grants:
        t.events.append(Event("not_held", t.index))             # S19
        return
    t.events.append(Event("released", t.index, (c.grant,)))
    t.settle(t.drop_grant(c.grant))
    t.refuse_deadlocks(0)


def _release_all(t: Table, c: ReleaseAll) -> None:
    if not c.grants or any(g not in t.grants for g in c.grants):
        t.events.append(Event("not_held", t.index))             # they only ever go together
        return
    t.events.append(Event("released", t.index, c.grants))
    t.settle(set().union(*(t.drop_grant(g) for g in c.grants)))
    t.refuse_deadlocks(0)


def _cancel(t: Table, c: Cancel) -> None:
    if c.op not in t.ops:
        # granted or gone before: the reaper releases it (S18)
        t.events.append(Event("not_held", t.index))
        return
    t.events.append(Event("cancelled", c.op))
    t.settle(t.drop_op(c.op))             # S28, S30
    t.refuse_deadlocks(0)


def _downgrade(t: Table, c: Downgrade) -> None:
    g = t.grants.get(c.grant)
    if g is None:
        t.events.append(Event("not_held", t.index))
        return
    if g.together or g.slots or not weaker_or_equal(c.mode, g.mode) or \
            t.record(g.name).conversion and \
            t.ops[t.record(g.name).conversion].grant == g.id:
        # Decided: not while its upgrade waits, and what is held together is not converted
        t.events.append(Event("invalid", t.index))
        return
    g.mode = c.mode                       # S13: keeps its token
    t.events.append(Event("downgraded", t.index, (g.id,)))
    t.settle({g.name})
    t.refuse_deadlocks(0)


def _upgrade(t: Table, c) -> None:
    g = t.grants.get(c.grant)
    if g is None:
        t.events.append(Event("not_held", t.index))
        return
    r = t.record(g.name)
    if g.together or g.mode not in (S, U) or r.conversion and \
            t.ops[r.conversion].grant == g.id:
        # S27: legal from update and from shared; what is held together is not converted
        t.events.append(Event("invalid", t.index))
        return
    if len(r.holders) == 1:
        t.convert(g)
        t.events.append(Event("upgraded", t.index, (g.id,)))
        t.refuse_deadlocks(0)             # a conversion granted at once makes edges as well
    elif isinstance(c, TryUpgrade):
        t.events.append(Event("busy", t.index))
    elif g.mode == S:
        t.events.append(Event("deadlock", t.index))             # S27
    else:
        op = Op(t.index, g.session, g.locker, "upgrade", (), g.id)
        t.ops[op.id] = op
        r.conversion = op.id
        t.events.append(Event("queued", op.id))
        t.refuse_deadlocks(op.id)


def _restrict(t: Table, c: Restrict) -> None:
    t.allowed[c.session] = c.prefixes


def _end_session(t: Table, c: EndSession) -> None:
    """S11: one entry; grants are free and queue entries removed before any waiter is granted."""
    touched = set()
    for op in [o.id for o in t.ops.values() if o.session == c.session]:
        t.events.append(Event("ended", op))
        touched |= t.drop_op(op)
    for gid in [g.id for g in t.grants.values() if g.session == c.session]:
        touched |= t.drop_grant(gid)
    t.settle(touched)
    t.refuse_deadlocks(0)


def replay(commands, policy: str = "phase_fair") -> tuple:
    t, log = Table(policy), []
    for c in commands:
        t, ev = apply(t, c)
        log.append(ev)
    return t, log
