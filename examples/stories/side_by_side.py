"""Six ways to lose a lock, with a real Redis and a real MariaDB beside Mortise.

    ./dev stories

A scene does to both what is known to go wrong with one: a crash, a slow holder, a failover, a
restart. It prints what happened, not what should. Mortise runs as three processes with leases of
two seconds; the servers are those of Debian. The exit code is 0 if all six went wrong there and
none here.
"""

import contextlib
import subprocess
import sys
import tempfile
import time

from members import SESSION_TTL, Cluster
from redlock import Redlock
from servers import Link, MariaDb, Redis, program, run

HOPELESS = 3 * SESSION_TTL  # seconds; a waiter that has waited for this long gives up


class Outcome:
    def __init__(self, title):
        self.title = title
        self.went_wrong = {}

    def record(self, system, went_wrong, words):
        """A line about a system, and whether the failure happened there."""
        if not self.went_wrong:
            print(f"\n{self.title}")
        print(f"  {system:<9}{'FAILED' if went_wrong else 'ok':<8}{words}", flush=True)
        self.went_wrong[system] = went_wrong


def crash_after(words):
    """A process that does this and is killed before it can do anything else."""
    subprocess.run(["sh", "-c", '"$@"; kill -KILL $$', "sh", *words], check=False,
                   stdout=subprocess.DEVNULL)


def attempts_until(succeeds):
    """How often it was tried, for how long, and whether it succeeded."""
    begin, count = time.monotonic(), 0
    while True:
        count += 1
        done, took = succeeds(), time.monotonic() - begin
        if done or took > HOPELESS:
            return done, f"B tried {count} times in {took:.1f} s"
        time.sleep(0.2)


def a_member_dies(outcome, cluster, name):
    """What both scenes with a crash are like here: B waits in the queue while A's process dies."""
    a, b = cluster.members[:2]
    a.call("acquire", name)
    a.kill()
    begin = time.monotonic()
    answer = b.call("acquire", name)
    took = time.monotonic() - begin
    b.call("release", name)
    cluster.restart(a)
    outcome.record("Mortise", took > HOPELESS or answer != "granted after expired",
                   f"A is killed; B waits {took:.1f} s and is {answer}, as previous() says")


def no_expiry(redis, cluster):
    outcome = Outcome("1. SETNX, and the holder is killed before its EXPIRE")
    crash_after(redis.words("SETNX", "lock:1", "A"))
    done, words = attempts_until(lambda: redis.cli("SETNX", "lock:1", "B") == "1")
    outcome.record("Redis", not done, f"{words}; the key's TTL is {redis.cli('TTL', 'lock:1')}")
    a_member_dies(outcome, cluster, "lock:1")
    return outcome


def wrong_release(redis, cluster):
    outcome = Outcome("2. DEL by a holder whose lock has expired")
    redis.cli("SET", "lock:2", "A", "NX", "PX", 300)
    time.sleep(0.5)  # A works for longer than it thought
    b = redis.cli("SET", "lock:2", "B", "NX", "PX", 60000)
    deleted = redis.cli("DEL", "lock:2")  # A has finished
    c = redis.cli("SET", "lock:2", "C", "NX", "PX", 60000)
    outcome.record("Redis", (b, c) == ("OK", "OK"),
                   f"B: {b}; A deletes {deleted} key; C: {c}, while B holds the lock")

    a, b, c = cluster.members
    a.call("acquire", "lock:2", "0.3")
    time.sleep(0.5)
    granted = b.call("acquire", "lock:2")
    answers = a.call("release", "lock:2"), c.call("try", "lock:2")
    outcome.record("Mortise", answers != ("lost", "taken"),
                   f"B: {granted.split()[0]}; A's release: {answers[0]}; C: {answers[1]}")
    b.call("release", "lock:2")
    return outcome


class Counter:
    """A row that A and B increment under a lock: each reads, works and writes."""

    def __init__(self, database):
        self.database = database
        self.database.sql("CREATE OR REPLACE TABLE counter (n INT); INSERT INTO counter VALUES (0)",
                          "story")

    def read(self):
        return int(self.database.sql("SELECT n FROM counter", "story"))

    def write(self, n):
        self.database.sql(f"UPDATE counter SET n = {n}", "story")


def expiry_during_work(redis, database, cluster):
    outcome = Outcome("3. The work takes longer than the lock: A and B each add 1 to a counter")
    counter = Counter(database)
    redis.cli("SET", "lock:3", "A", "NX", "PX", 300)
    seen = counter.read()
    time.sleep(0.5)
    b = redis.cli("SET", "lock:3", "B", "NX", "PX", 300)
    if b == "OK":
        counter.write(counter.read() + 1)
    counter.write(seen + 1)  # A has finished
    outcome.record("Redis", counter.read() != 2,
                   f"B: {b}, while A works; the counter is {counter.read()}")

    counter = Counter(database)
    a, b = cluster.members[:2]
    a.call("acquire", "lock:3")
    seen = counter.read()
    time.sleep(SESSION_TTL + 0.5)  # longer than a lease, which is renewed meanwhile
    answer = b.call("try", "lock:3")
    counter.write(seen + 1)
    a.call("release", "lock:3")
    b.call("acquire", "lock:3")
    counter.write(counter.read() + 1)
    b.call("release", "lock:3")
    outcome.record("Mortise", answer != "taken" or counter.read() != 2,
                   f"B: {answer}, while A works; the counter is {counter.read()}")
    return outcome


def failover(folder, cluster):
    outcome = Outcome("4. The server that granted the lock dies, and the next one takes over")
    with Redis(folder, "--repl-diskless-sync-delay", "0") as primary:
        link = Link(primary.port)
        with Redis(folder, "--replicaof", "127.0.0.1", str(link.port)) as replica:
            primary.cli("SET", "before", "1")
            replicas = primary.cli("WAIT", 1, 20000)
            link.is_cut = True  # the replica lags from here on
            a = primary.cli("SET", "lock:4", "A", "NX", "PX", 60000)
            primary.kill()
            replica.cli("REPLICAOF", "NO", "ONE")
            b = replica.cli("SET", "lock:4", "B", "NX", "PX", 60000)
            outcome.record("Redis", (replicas, a, b) == ("1", "OK", "OK"),
                           f"A: {a} from the primary, which dies; B: {b} from its replica")

    leader, (a, b) = cluster.leader_and_followers()
    a.call("acquire", "lock:4")
    leader.kill()
    answers = b.call("try", "lock:4"), a.call("valid", "lock:4")
    outcome.record("Mortise", answers != ("taken", "valid"),
                   f"the leader dies; B: {answers[0]} from the next one; A: {answers[1]}")
    a.call("release", "lock:4")
    cluster.restart(leader)
    return outcome


def forgotten_row(database, cluster):
    outcome = Outcome("5. A unique row, and its owner is killed before the DELETE")
    database.sql("CREATE TABLE locks (name VARCHAR(64) PRIMARY KEY, owner VARCHAR(64))", "story")
    crash_after(database.words("INSERT INTO locks VALUES ('lock:5', 'A')", "story"))
    insert = "INSERT INTO locks VALUES ('lock:5', 'B')"
    done, words = attempts_until(lambda: database.sql(insert, "story") == "")
    error = database.sql(insert, "story").partition(" at line")[0]
    outcome.record("MariaDB", not done, f"{words}: {error}")
    a_member_dies(outcome, cluster, "lock:5")
    return outcome


def forgetful_restart(folder, cluster):
    outcome = Outcome("6. One of the servers of a Redlock restarts, and has no data on disk")
    with contextlib.ExitStack() as running:
        servers = [running.enter_context(Redis(folder, "--save", "", "--appendonly", "no"))
                   for _ in range(5)]
        ports = [server.port for server in servers]
        broken = [Link(port, is_cut=True).port for port in ports[3:]]
        a, b = Redlock("A", ports[:3] + broken), Redlock("B", ports)
        accepted = a.acquire("lock:6", 60)
        servers[0].restart()
        accepted_again = b.acquire("lock:6", 60)
        holders = [client.owner for client in (a, b) if client.is_holder()]
        outcome.record("Redis", holders == ["A", "B"],
                       f"A: {accepted} of 5, with two out of its reach; the first restarts; "
                       f"B: {accepted_again} of 5; holders: {' and '.join(holders)}")

    a, (voter, late) = cluster.leader_and_followers()
    late.pause()  # so that a majority is the other two
    granted = a.call("acquire", "lock:6").split()[0]
    voter.kill()
    late.resume()
    cluster.restart(voter)
    answers = voter.call("try", "lock:6"), a.call("valid", "lock:6")
    outcome.record("Mortise", (granted, *answers) != ("granted", "taken", "valid"),
                   f"A: {granted} by two of three; the second of them is killed and restarts; "
                   f"B: {answers[0]} from that one; A: {answers[1]}")
    a.call("release", "lock:6")
    return outcome


def main():
    print("Redis", run(program("redis-server"), "--version").split()[2].removeprefix("v="))
    print("MariaDB", run(program("mariadbd"), "--version").split()[2])
    with tempfile.TemporaryDirectory(prefix="mortise-story-") as folder, \
            Redis(folder) as redis, MariaDb(folder) as database, Cluster(folder) as cluster:
        outcomes = [no_expiry(redis, cluster), wrong_release(redis, cluster),
                    expiry_during_work(redis, database, cluster), failover(folder, cluster),
                    forgotten_row(database, cluster), forgetful_restart(folder, cluster)]
    wrong = [system for outcome in outcomes for system, it in outcome.went_wrong.items() if it]
    here = wrong.count("Mortise")
    there = len(wrong) - here
    print(f"\n{there} of {len(outcomes)} went wrong there, {here} here")
    return 0 if (there, here) == (len(outcomes), 0) else 1


if __name__ == "__main__":
    sys.exit(main())
